// Attacks and constraints written in Python, as entries of the catalogues.

#include <assay/attack.h>

#include <assay/array_math.h>

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

Array points_of(const AttackView& view, const nb::object& points) {
  const Array tensor = tensor_of(points).to(DType::float32);
  if (tensor.shape() != view.problem->inputs.shape())
    fail(Fault::usage, "points have the shape of the problem's inputs, {}, not {}",
         to_string(view.problem->inputs.shape()), to_string(tensor.shape()));
  return tensor.contiguous();
}

nb::object scores(const AttackView& view, const nb::object& points) {
  view.require();
  const Array at = points_of(view, points);
  const Array found = unlocked([&] { return view.network->scores(*view.problem, at); });
  return numpy_of(found);
}

// Of the sum of weights [n, classes] times scores, each record's own: [n, record...].
nb::object gradients(const AttackView& view, const nb::object& points, const nb::object& weights) {
  view.require();
  const Array at = points_of(view, points), factors = tensor_of(weights).to(DType::float32).contiguous();
  if (factors.shape() != view.problem->scores.shape())
    fail(Fault::usage, "weights have the shape of the scores, {}, not {}",
         to_string(view.problem->scores.shape()), to_string(factors.shape()));
  const Array found = unlocked([&] {
    return view.network->gradient(
        *view.problem, at, [&](std::size_t row, std::span<const float> values, std::span<float> gradients) {
          const float* const from = factors.elements<float>() + row * values.size();
          std::copy_n(from, values.size(), gradients.begin());
        });
  });
  return numpy_of(found);
}

class OwnAttack final : public attack::Attack {
 public:
  OwnAttack(std::string name, PythonObject self) : name_(std::move(name)), self_(std::move(self)) {}

  Array perturb(const attack::AttackedNetwork& network, const attack::AttackProblem& problem) const override {
    return in_python([&] {
      const nb::object view = nb::cast(AttackView{&network, &problem});
      nb::dict facts;
      facts["inputs"] = numpy_of(problem.inputs.clone());
      facts["labels"] = numpy_of(problem.labels.clone());
      facts["scores"] = numpy_of(problem.scores.clone());
      facts["targets"] = problem.targeted() ? numpy_of(problem.targets.clone()) : nb::none();
      facts["keys"] = problem.keys;
      facts["seed"] = problem.seed;
      const nb::object given = nb::module_::import_("assay._own").attr("AttackProblem")(**facts);
      nb::object found;
      try {
        found = self_.get().attr("perturb")(view, given);
      } catch (...) {
        nb::cast<AttackView&>(view) = {};
        throw;
      }
      nb::cast<AttackView&>(view) = {};
      Array changed = tensor_of(found).to(DType::float32).clone();
      if (changed.shape() != problem.inputs.shape())
        fail(Fault::usage, "attack {}: perturb() gives records of the shape {}, not {}", name_,
             to_string(problem.inputs.shape()), to_string(changed.shape()));
      if (!changed.isfinite().all().item<bool>())
        fail(Fault::usage, "attack {}: perturb() gives a NaN or an infinity", name_);
      return changed.clamp(0, 1);
    });
  }

 private:
  std::string name_;
  PythonObject self_;
};

void register_attack(const nb::dict& entry, const nb::object& factory) {
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

  Array direction(const explore::Searches& searches, const Array& points,
                  const Array& wanted) const override {
    return called("direction", searches, {points, wanted}, wanted);
  }
  Array kept(const explore::Searches& searches, const Array& points) const override {
    return called("kept", searches, {points}, points);
  }
  Array shown(const explore::Searches& searches, const Array& points) const override {
    return called("shown", searches, {points}, points);
  }

 private:
  // A method that the class does not have changes nothing.
  Array called(const char* method, const explore::Searches& searches, const std::vector<Array>& tensors,
               const Array& unchanged) const {
    return in_python([&]() -> Array {
      if (!nb::hasattr(self_.get(), method)) return unchanged;
      nb::dict facts;
      facts["seeds"] = numpy_of(searches.seeds.clone());
      facts["iterations"] = searches.iterations;
      facts["keys"] = searches.keys;
      nb::list arguments;
      arguments.append(nb::module_::import_("assay._own").attr("Searches")(**facts));
      for (const Array& tensor : tensors) arguments.append(numpy_of(tensor.clone()));
      const nb::object found = self_.get().attr(method)(*arguments);
      Array result = tensor_of(found).to(DType::float32).clone();
      if (result.shape() != unchanged.shape())
        fail(Fault::usage, "constraint {}: {}() gives the shape {}, not {}", name_, method,
             to_string(result.shape()), to_string(unchanged.shape()));
      return result;
    });
  }

  std::string name_;
  PythonObject self_;
};

void register_constraint(const nb::dict& entry, const nb::object& factory) {
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

void bind_own_searches(nb::module_& module) {
  nb::class_<AttackView>(module, "AttackedNetwork")
      .def("scores", &scores, nb::arg("points").none())
      .def("gradients", &gradients, nb::arg("points").none(), nb::arg("weights").none());
  module.def("register_attack", &register_attack);
  module.def("register_constraint", &register_constraint);
}

}  // namespace assay::python
