#include "assay/mutation/operators/neuron_mask.h"

#include <assay/extend/mutation_edit.h>
#include <assay/model.h>

namespace assay::mutation {
namespace {

std::string name_of(const GraphBuilder& builder, const SubjectLayer& layer, const std::string& suffix) {
  return builder.unused_name(layer.name() + "/" + suffix);
}

}  // namespace

void multiply_neurons(Edit& edit, const SubjectLayer& layer, ValueId value,
                      const std::vector<std::int64_t>& neurons, float factor, const std::string& suffix) {
  std::vector<float> factors(layer.layer.neurons, 1);
  for (const std::int64_t neuron : neurons) factors[neuron] = factor;
  const Array array = Array::of<float>(per_neuron_shape(edit.subject(), layer, value), factors);
  edit.restructure([=, &layer](GraphBuilder& builder) {
    const std::string name = name_of(builder, layer, suffix);
    const ValueId constant = builder.constant(builder.unused_name(name + "/factors"), array);
    builder.wrap(value,
                 {.name = name, .op = "Mul", .inputs = {value, constant}, .outputs = {}, .attributes = {}});
  });
}

void replace_neurons(Edit& edit, const SubjectLayer& layer, ValueId value,
                     const std::vector<std::int64_t>& neurons, float number, const std::string& suffix) {
  std::vector<std::uint8_t> keep(layer.layer.neurons, 1);
  for (const std::int64_t neuron : neurons) keep[neuron] = 0;
  const auto* begin = reinterpret_cast<const std::byte*>(keep.data());
  const Array mask(DType::boolean, per_neuron_shape(edit.subject(), layer, value),
                   {begin, begin + keep.size()});
  edit.restructure([=, &layer](GraphBuilder& builder) {
    const std::string name = name_of(builder, layer, suffix);
    const ValueId kept = builder.constant(builder.unused_name(name + "/kept"), mask);
    const ValueId other = builder.constant(builder.unused_name(name + "/value"),
                                           Array::of<float>({}, std::vector<float>{number}));
    builder.wrap(
        value,
        {.name = name, .op = "Where", .inputs = {kept, value, other}, .outputs = {}, .attributes = {}});
  });
}

}  // namespace assay::mutation
