// Gradient x input, saliency, Grad-CAM and integrated gradients (Sundararajan et al., ICML 2017): by the
// engine's gradients.

#include <assay/array_math.h>
#include <fmt/format.h>

#include <algorithm>

#include <assay/error.h>
#include "assay/relevance/methods.h"
#include "assay/relevance/start.h"

namespace assay::relevance {
namespace {

// Sum of what is explained, whose gradient with respect to one record is that of its own score.
Tensors explained_gradients(const Session& session, const Start& start, const Tensors& given,
                            const Target& target, std::span<const ValueId> wanted) {
  const ValueId read = start.value();
  const Session::RecordAxis at = session.record_axis(read);
  const auto objective = [&](const Tensors& values) {
    Array scores = values.at(read);
    if (at.axis >= 0) scores = scores.movedim(at.axis, 0);
    scores = scores.reshape({scores.size(0) / std::max<std::int64_t>(1, at.rows), -1});
    return start.explained(scores, start.weights(scores.detach(), target), target).sum();
  };
  return session.gradients(given, std::span(&read, 1), objective, wanted);
}

// `options.baseline` (zeros when absent), one row per record of `input`.
Array baseline_like(const Array& input, const AttributionOptions& options) {
  if (!options.baseline) return array::zeros_like(input);
  const Array& record = *options.baseline;
  const Shape shape(input.shape().begin() + 1, input.shape().end());
  if (!is_real(record.dtype()) || record.count() * input.size(0) != input.count()) {
    fail(Fault::usage, "the baseline is {} and does not fit records of {}", to_string(record.shape()),
         to_string(shape));
  }
  return record.to(input.dtype()).reshape(shape).unsqueeze(0).expand(input.shape()).contiguous();
}

// What is made of a value and the gradient there.
class OfGradient final : public Attribution {
 public:
  using Formula = Array (*)(const Array& gradient, const Array& value);

  OfGradient(const Session& session, const AttributionOptions& options, std::string description,
             Formula formula)
      : session_(session),
        start_(session, options.outputs),
        description_(std::move(description)),
        formula_(formula) {}

  Relevance attribute(const Tensors& given, const Target& target,
                      std::span<const ValueId> wanted) const override {
    const Tensors inputs = inputs_of(session_, given);
    const Tensors values = session_.run(inputs, with(wanted, start_.value()));
    Relevance result{.values = explained_gradients(session_, start_, inputs, target, wanted),
                     .start = start_.numbers(values.at(start_.value()), target)};
    for (auto& [id, gradient] : result.values) gradient = formula_(gradient, values.at(id));
    return result;
  }
  std::vector<ValueId> reads(std::span<const ValueId>) const override { return {start_.value()}; }
  std::string describe() const override { return description_; }

 private:
  const Session& session_;
  Start start_;
  std::string description_;
  Formula formula_;
};

// Selvaraju et al., ICCV 2017: a channel's value at each position times the channel's mean gradient. Their
// map is the sum over the channels, floored at zero.
Array channel_mean_times_value(const Array& gradient, const Array& value) {
  Shape positions;
  for (std::size_t axis = 2; axis < gradient.shape().size(); ++axis) positions.push_back(axis);
  return (positions.empty() ? gradient : gradient.mean(positions, true)) * value;
}

// Along the straight line from the baseline to the record, in steps of equal length: the gradient at the
// middle of a step times the change of the value over the step. For inner values that is their conductance.
class IntegratedGradients final : public Attribution {
 public:
  IntegratedGradients(const Session& session, const AttributionOptions& options, std::size_t steps)
      : session_(session), start_(session, options.outputs), options_(options), steps_(steps) {}

  Relevance attribute(const Tensors& given, const Target& target,
                      std::span<const ValueId> wanted) const override {
    const array::Recording unrecorded(false);
    const Tensors inputs = inputs_of(session_, given);
    const Tensors baseline = baseline_of(inputs, options_);
    if (baseline.empty()) {
      fail(Fault::unsupported,
           "integrated gradients need an input of real numbers; use 'epsilon' or 'gradient-x-input' at the "
           "embedding");
    }
    const auto along = [&](double position) {
      Tensors point = inputs;
      for (const auto& [id, start] : baseline) point[id] = start + (inputs.at(id) - start) * position;
      return point;
    };
    const std::vector<ValueId> ids = with(wanted, start_.value());
    // The class of the record itself, to be kept along the way.
    const Target fixed = start_.settled(session_.run(inputs, ids).at(start_.value()), target);

    Tensors before = session_.run(along(0), ids);
    Relevance result{.values = {}, .start = start_.numbers(before.at(start_.value()), fixed)};
    for (std::size_t step = 0; step < steps_; ++step) {
      const double done = step, all = steps_;
      Tensors after = session_.run(along((done + 1) / all), ids);
      const Tensors gradients =
          explained_gradients(session_, start_, along((done + 0.5) / all), fixed, wanted);
      for (const auto& [value, gradient] : gradients) {
        const Array part = gradient * (after.at(value) - before.at(value));
        Array& sum = result.values[value];
        sum = sum.defined() ? sum + part : part;
      }
      before = std::move(after);
    }
    const std::vector<double> reached = start_.numbers(before.at(start_.value()), fixed);
    for (std::size_t i = 0; i < reached.size(); ++i) result.start[i] = reached[i] - result.start[i];
    return result;
  }
  std::vector<ValueId> reads(std::span<const ValueId>) const override { return {start_.value()}; }
  std::string describe() const override {
    return fmt::format("integrated gradients, {} steps, midpoint rule", steps_);
  }

 private:
  const Session& session_;
  Start start_;
  AttributionOptions options_;
  std::size_t steps_;
};

}  // namespace

std::vector<ValueId> with(std::span<const ValueId> wanted, ValueId more) {
  std::vector<ValueId> ids(wanted.begin(), wanted.end());
  ids.push_back(more);
  return ids;
}

Tensors inputs_of(const Session& session, const Tensors& given) {
  Tensors inputs;
  for (const ValueId id : session.graph().inputs()) {
    if (const auto found = given.find(id); found != given.end()) inputs.insert(*found);
  }
  return inputs;
}

Tensors baseline_of(const Tensors& inputs, const AttributionOptions& options) {
  if (options.baseline && inputs.size() != 1)
    fail(Fault::unsupported, "a baseline is for networks with one input, this one has {}", inputs.size());
  Tensors baseline;
  for (const auto& [id, records] : inputs) {
    if (is_real(records.dtype())) baseline.emplace(id, baseline_like(records, options));
  }
  return baseline;
}

Tensors gradients_of(const Session& session, const Tensors& given, const Target& target,
                     std::span<const ValueId> with_respect_to, bool outputs) {
  return explained_gradients(session, Start(session, outputs), given, target, with_respect_to);
}

AttributionInfo gradient_x_input_method() {
  return {"gradient-x-input", "gradient times value", "Shrikumar et al., 2016",
          [](const Session& session, const AttributionOptions& options, const SpecOptions&) {
            return std::make_unique<OfGradient>(
                session, options, "gradient x input",
                [](const Array& gradient, const Array& value) -> Array { return gradient * value; });
          },
          false};
}

AttributionInfo saliency_method() {
  return {"saliency", "absolute gradient", "Simonyan et al., ICLR 2014",
          [](const Session& session, const AttributionOptions& options, const SpecOptions&) {
            return std::make_unique<OfGradient>(
                session, options, "absolute gradient",
                [](const Array& gradient, const Array&) -> Array { return gradient.abs(); });
          },
          false};
}

AttributionInfo grad_cam_method() {
  return {"grad-cam", "a channel's value times its mean gradient", "Selvaraju et al., ICCV 2017",
          [](const Session& session, const AttributionOptions& options, const SpecOptions&) {
            return std::make_unique<OfGradient>(session, options, "Grad-CAM, by channel",
                                                channel_mean_times_value);
          },
          false};
}

AttributionInfo integrated_gradients_method() {
  return {"integrated-gradients",
          "gradients along the line from a baseline",
          "Sundararajan et al., ICML 2017",
          [](const Session& session, const AttributionOptions& options, const SpecOptions& own) {
            return std::make_unique<IntegratedGradients>(session, options, own.count("steps", 1));
          },
          false,
          {{"steps", "32", "steps of equal length along the line"}}};
}

}  // namespace assay::relevance
