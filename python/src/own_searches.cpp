// Attacks and constraints written in Python, as entries of the catalogues.

#include <assay/attack.h>

#include <ATen/ATen.h>

#include <algorithm>
#include <map>

#include <assay/extend/constraint.h>
#include "python/src/bindings.h"
#include "python/src/own.h"

namespace assay::python {
namespace {

// The network as an attack in Python sees it, as long as perturb() lasts.
struct AttackView {
  const attack::AttackedNetwork* network = nullptr;
  const attack::AttackProblem* problem = nullptr;

  void require() const {
    if (network == nullptr)
      fail(Fault::usage, "the network of an attack can be asked while perturb() runs, not afterwards");
  }
};

Tensor points_of(const AttackView& view, const py::object& points) {
  const Tensor tensor = tensor_of(points).to(view.problem->inputs.device(), at::kFloat);
  if (tensor.sizes() != view.problem->inputs.sizes())
    fail(Fault::usage, "points have the shape of the problem's inputs, {}, not {}",
         to_string(view.problem->inputs.sizes().vec()), to_string(tensor.sizes().vec()));
  return tensor.contiguous();
}

py::array scores(const AttackView& view, const py::object& points) {
  view.require();
  const Tensor at = points_of(view, points);
  const Tensor found = unlocked([&] { return view.network->scores(*view.problem, at); });
  return numpy_of(found);
}

// Of the sum of weights [n, classes] times scores, each record's own: [n, record...].
py::array gradients(const AttackView& view, const py::object& points, const py::object& weights) {
  view.require();
  const Tensor at = points_of(view, points),
               factors = tensor_of(weights).to(at::kCPU, at::kFloat).contiguous();
  if (factors.sizes() != view.problem->scores.sizes())
    fail(Fault::usage, "weights have the shape of the scores, {}, not {}",
         to_string(view.problem->scores.sizes().vec()), to_string(factors.sizes().vec()));
  const Tensor found = unlocked([&] {
    return view.network->slope(*view.problem, at,
                               [&](std::size_t row, std::span<const float> values, std::span<float> slopes) {
                                 const float* const from = factors.data_ptr<float>() + row * values.size();
                                 std::copy_n(from, values.size(), slopes.begin());
                               });
  });
  return numpy_of(found);
}

class OwnAttack final : public attack::Attack {
 public:
  OwnAttack(std::string name, PythonObject self) : name_(std::move(name)), self_(std::move(self)) {}

  Tensor perturb(const attack::AttackedNetwork& network,
                 const attack::AttackProblem& problem) const override {
    return in_python([&] {
      const auto view = std::make_shared<AttackView>(AttackView{&network, &problem});
      py::dict facts;
      facts["inputs"] = numpy_of(problem.inputs.clone());
      facts["labels"] = numpy_of(problem.labels.clone());
      facts["scores"] = numpy_of(problem.scores.clone());
      facts["targets"] = problem.targeted() ? py::object(numpy_of(problem.targets.clone())) : py::none();
      facts["keys"] = problem.keys;
      facts["seed"] = problem.seed;
      const py::object given = py::module_::import("assay._own").attr("AttackProblem")(**facts);
      py::object found;
      try {
        found = self_.get().attr("perturb")(py::cast(view), given);
      } catch (...) {
        *view = {};
        throw;
      }
      *view = {};
      Tensor changed = tensor_of(found).to(at::kCPU, at::kFloat).clone().contiguous();
      if (changed.sizes() != problem.inputs.sizes())
        fail(Fault::usage, "attack {}: perturb() gives records of the shape {}, not {}", name_,
             to_string(problem.inputs.sizes().vec()), to_string(changed.sizes().vec()));
      if (!changed.isfinite().all().item<bool>())
        fail(Fault::usage, "attack {}: perturb() gives a NaN or an infinity", name_);
      return changed.clamp(0, 1).to(problem.inputs.device());
    });
  }

 private:
  std::string name_;
  PythonObject self_;
};

void register_attack(const py::dict& entry, const py::object& factory) {
  const Entry given(entry);
  attack::AttackInfo info;
  info.name = given.name;
  info.summary = given.summary;
  info.definition = given.definition;
  info.options = given.options;
  info.target = "";
  info.make = [name = given.name](const SpecOptions& options) {
    return std::make_unique<OwnAttack>(
        name, in_python([&] {
          const auto& declared = attack::attacks().find(name).options;
          return PythonObject(registered("attack", name)(**options_of(options, declared)));
        }));
  };
  add_or_replace(attack::attacks(), std::move(info), given.known);
  remember("attack", given.name, factory);
}

class OwnConstraint final : public explore::Constraint {
 public:
  OwnConstraint(std::string name, PythonObject self) : name_(std::move(name)), self_(std::move(self)) {}

  Tensor direction(const explore::Searches& searches, const Tensor& points,
                   const Tensor& wanted) const override {
    return called("direction", searches, {points, wanted}, wanted);
  }
  Tensor kept(const explore::Searches& searches, const Tensor& points) const override {
    return called("kept", searches, {points}, points);
  }
  Tensor shown(const explore::Searches& searches, const Tensor& points) const override {
    return called("shown", searches, {points}, points);
  }

 private:
  // A method that the class does not have changes nothing.
  Tensor called(const char* method, const explore::Searches& searches, const std::vector<Tensor>& tensors,
                const Tensor& unchanged) const {
    return in_python([&]() -> Tensor {
      if (!py::hasattr(self_.get(), method)) return unchanged;
      py::dict facts;
      facts["seeds"] = numpy_of(searches.seeds.clone());
      facts["iterations"] = searches.iterations;
      facts["keys"] = searches.keys;
      py::list arguments;
      arguments.append(py::module_::import("assay._own").attr("Searches")(**facts));
      for (const Tensor& tensor : tensors) arguments.append(numpy_of(tensor.clone()));
      const py::object found = self_.get().attr(method)(*arguments);
      Tensor result = tensor_of(found).to(at::kCPU, at::kFloat).clone().contiguous();
      if (result.sizes() != unchanged.sizes())
        fail(Fault::usage, "constraint {}: {}() gives the shape {}, not {}", name_, method,
             to_string(result.sizes().vec()), to_string(unchanged.sizes().vec()));
      return result.to(unchanged.device());
    });
  }

  std::string name_;
  PythonObject self_;
};

void register_constraint(const py::dict& entry, const py::object& factory) {
  const Entry given(entry);
  explore::ConstraintInfo info;
  info.name = given.name;
  info.summary = given.summary;
  info.definition = given.definition;
  info.options = given.options;
  info.make = [name = given.name](const SpecOptions& options) {
    return std::make_unique<OwnConstraint>(
        name, in_python([&] {
          const auto& declared = explore::constraints().find(name).options;
          return PythonObject(registered("constraint", name)(**options_of(options, declared)));
        }));
  };
  add_or_replace(explore::constraints(), std::move(info), given.known);
  remember("constraint", given.name, factory);
}

}  // namespace

void bind_own_searches(py::module_& module) {
  py::class_<AttackView, std::shared_ptr<AttackView>>(module, "AttackedNetwork")
      .def("scores", &scores, py::arg("points"))
      .def("gradients", &gradients, py::arg("points"), py::arg("weights"));
  module.def("register_attack", &register_attack);
  module.def("register_constraint", &register_constraint);
}

}  // namespace assay::python
