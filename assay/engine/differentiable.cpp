#include "assay/engine/differentiable.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

namespace assay {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Keeps the stretch for as long as autograd may go back through it.
struct Holder : torch::CustomClassHolder {
  explicit Holder(std::shared_ptr<const Stretch> held) : stretch(std::move(held)) {}
  std::shared_ptr<const Stretch> stretch;
};

Tensors by_id(const Stretch& stretch, at::TensorList tensors) {
  Tensors given;
  for (std::size_t i = 0; i < tensors.size(); ++i) given.emplace(stretch.inputs()[i], tensors[i]);
  return given;
}

class StretchFunction : public torch::autograd::Function<StretchFunction> {
 public:
  static variable_list forward(AutogradContext* context, const std::shared_ptr<const Stretch>& stretch,
                               at::TensorList inputs) {
    Tensors results;
    stretch->run(by_id(*stretch, inputs), results, {});
    context->save_for_backward(inputs.vec());
    context->saved_data["stretch"] = c10::IValue::make_capsule(c10::make_intrusive<Holder>(stretch));
    context->set_materialize_grads(false);
    variable_list outputs;
    for (const ValueId id : stretch->outputs()) outputs.push_back(results.at(id));
    return outputs;
  }

  static variable_list backward(AutogradContext* context, const variable_list& of_outputs) {
    const auto holder =
        c10::static_intrusive_pointer_cast<Holder>(context->saved_data["stretch"].toCapsule());
    const Stretch& stretch = *holder->stretch;
    const variable_list inputs = context->get_saved_variables();
    std::vector<ValueId> wanted;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].requires_grad()) wanted.push_back(stretch.inputs()[i]);
    }
    const std::vector<Tensor> found = stretch.gradients(by_id(stretch, inputs), of_outputs, wanted);
    variable_list results(1 + inputs.size());  // the stretch itself has none
    for (std::size_t i = 0, next = 0; i < inputs.size(); ++i) {
      if (inputs[i].requires_grad()) results[1 + i] = found[next++];
    }
    return results;
  }
};

}  // namespace

Tensors run_differentiably(const std::shared_ptr<const Stretch>& stretch, const Tensors& inputs) {
  std::vector<Tensor> list;
  for (const ValueId id : stretch->inputs()) list.push_back(inputs.at(id));
  const variable_list outputs = StretchFunction::apply(stretch, at::TensorList(list));
  Tensors results;
  for (std::size_t o = 0; o < outputs.size(); ++o) results.emplace(stretch->outputs()[o], outputs[o]);
  return results;
}

}  // namespace assay
