#include "assay/array/tape.h"

#include <atomic>
#include <map>
#include <set>

#include <assay/error.h>

namespace assay::array {
namespace {

thread_local bool recording = true;
std::atomic<std::uint64_t> steps_made{0};

}  // namespace

Arrays GradientStep::record(Arrays results, std::span<const Array> inputs, array::Back back) {
  if (!recording) return results;
  bool any = false;
  for (const Array& input : inputs) any |= input.requires_grad();
  if (!any) return results;
  const auto step = std::make_shared<GradientStep>();
  step->number_ = ++steps_made;
  for (const Array& input : inputs) step->inputs_.push_back({input.step_, input.output_});
  step->outputs_ = results.size();
  step->back_ = std::move(back);
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].defined() || !is_real(results[i].dtype())) continue;
    results[i].step_ = step;
    results[i].output_ = i;
  }
  return results;
}

Array GradientStep::leaf(const Array& array) {
  if (!is_real(array.dtype()))
    fail(Fault::internal, "gradients with respect to elements of {}", to_string(array.dtype()));
  Array point = array;
  point.step_ = std::make_shared<GradientStep>();
  point.step_->number_ = ++steps_made;
  point.output_ = 0;
  return point;
}

Array GradientStep::without(const Array& array) {
  Array plain = array;
  plain.step_.reset();
  plain.output_ = 0;
  return plain;
}

// Long chains end without a call within a call for each step.
GradientStep::~GradientStep() {
  back_ = nullptr;
  std::vector<std::shared_ptr<GradientStep>> ending;
  const auto take = [&](std::vector<Edge>& edges) {
    for (Edge& edge : edges) {
      if (edge.step) ending.push_back(std::move(edge.step));
    }
    edges.clear();
  };
  take(inputs_);
  while (!ending.empty()) {
    const std::shared_ptr<GradientStep> last = std::move(ending.back());
    ending.pop_back();
    if (last.use_count() == 1) {
      const array::Back back = std::move(last->back_);
      take(last->inputs_);
    }
  }
}

// Steps that lead from outputs to points, the latest last, each with the gradients that have arrived.
struct GradientStep::Pending {
  std::map<const GradientStep*, bool> leads;  // to a point
  std::map<std::uint64_t, std::pair<std::shared_ptr<GradientStep>, Arrays>> waiting;

  // Depth first without recursion.
  void look(const std::shared_ptr<GradientStep>& root) {
    std::vector<std::pair<const GradientStep*, std::size_t>> path;
    const auto enter = [&](const GradientStep* step) {
      if (step != nullptr && leads.emplace(step, false).second) path.emplace_back(step, 0);
    };
    enter(root.get());
    while (!path.empty()) {
      auto& [step, next] = path.back();
      if (points.contains(step)) leads[step] = true;
      if (next < step->inputs_.size()) {
        const GradientStep* const input = step->inputs_[next++].step.get();
        enter(input);
      } else {
        for (const Edge& edge : step->inputs_) {
          if (edge.step && leads.at(edge.step.get())) leads[step] = true;
        }
        path.pop_back();
      }
    }
  }

  void arrive(const Edge& at, const Array& gradient) {
    auto& [step, arrived] = waiting[at.step->number_];
    if (!step) {
      step = at.step;
      arrived.resize(step->outputs_);
    }
    Array& sum = arrived[at.output];
    sum = sum.defined() ? sum + gradient : gradient;
  }

  std::set<const GradientStep*> points;
};

Arrays GradientStep::gradients(std::span<const Array> outputs, std::span<const Array> points,
                               std::span<const Array> seeds, bool keep) {
  const array::Recording none(false);
  Pending pending;
  for (const Array& point : points) pending.points.insert(point.step_.get());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].step_) continue;
    pending.look(outputs[i].step_);
    const bool given = i < seeds.size() && seeds[i].defined();
    if (given && (seeds[i].shape() != outputs[i].shape() || seeds[i].dtype() != outputs[i].dtype()))
      fail(Fault::internal, "a gradient of {} of shape {} is given for an output of {} of shape {}",
           to_string(seeds[i].dtype()), to_string(seeds[i].shape()), to_string(outputs[i].dtype()),
           to_string(outputs[i].shape()));
    pending.arrive({outputs[i].step_, outputs[i].output_},
                   given ? seeds[i].detach() : array::ones_like(outputs[i].detach()));
  }
  Arrays found(points.size());
  while (!pending.waiting.empty()) {
    const auto last = std::prev(pending.waiting.end());
    const auto [step, arrived] = std::move(last->second);
    pending.waiting.erase(last);
    if (!pending.leads.at(step.get())) continue;
    for (std::size_t p = 0; p < points.size(); ++p) {
      if (points[p].step_ == step) found[p] = arrived[points[p].output_];
    }
    std::vector<bool> wanted;
    bool any = false;
    for (const Edge& edge : step->inputs_) {
      wanted.push_back(edge.step && pending.leads.at(edge.step.get()));
      any |= wanted.back();
    }
    if (!any) continue;
    if (!step->back_)
      fail(Fault::internal, "gradients are requested again of a computation that was not kept");
    const Arrays of_inputs = step->back_(arrived, wanted);
    if (!keep) step->back_ = nullptr;
    for (std::size_t i = 0; i < step->inputs_.size(); ++i) {
      if (wanted[i] && of_inputs[i].defined()) pending.arrive(step->inputs_[i], of_inputs[i]);
    }
  }
  return found;
}

Array Array::detach() const { return step_ ? GradientStep::without(*this) : *this; }
Array Array::requires_grad_() const { return GradientStep::leaf(*this); }

Recording::Recording(bool records) : before_(std::exchange(recording, records)) {}
Recording::~Recording() { recording = before_; }
bool is_recording() { return recording; }

Arrays gradients(std::span<const Array> outputs, std::span<const Array> points, std::span<const Array> seeds,
                 bool keep) {
  return GradientStep::gradients(outputs, points, seeds, keep);
}

Arrays recorded(Arrays results, std::span<const Array> inputs, Back back) {
  return GradientStep::record(std::move(results), inputs, std::move(back));
}

Array recorded(Array result, std::span<const Array> inputs, Back back) {
  return GradientStep::record({std::move(result)}, inputs, std::move(back))[0];
}

}  // namespace assay::array
