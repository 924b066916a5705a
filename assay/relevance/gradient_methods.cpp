// Gradient x input, saliency, Grad-CAM and integrated gradients (Sundararajan et al., ICML 2017): by the
// engine's gradients.

#include <assay/array_math.h>
#include <fmt/format.h>

#include <algorithm>

#include <assay/error.h>
#include "assay/model/real_tokens.h"
#include "assay/model/token_decision.h"
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

// The rows of tables that tokens are looked up as, by which networks that read tokens are explained: numbers
// of tokens have no gradient, and nothing lies between two of them.
std::vector<ValueId> rows_of_tokens(const Graph& graph, ValueId tokens) {
  std::vector<ValueId> rows;
  if (tokens == no_value || is_real(graph.value(tokens).dtype)) return rows;
  for (const NodeId lookup : table_lookups(graph, tokens)) rows.push_back(graph.node(lookup).outputs[0]);
  return rows;
}

// Values that are asked for, with rows of tables in place of numbers of tokens if `of_rows`.
class AskedRows {
 public:
  AskedRows(const Session& session, std::span<const ValueId> wanted, bool of_rows) {
    const Graph& graph = session.graph();
    for (const ValueId id : wanted) {
      const bool is_input = std::ranges::find(graph.inputs(), id) != graph.inputs().end();
      std::vector<ValueId> rows = of_rows && is_input ? rows_of_tokens(graph, id) : std::vector<ValueId>();
      if (rows.empty())
        values_.push_back(id);
      else
        rows_.emplace_back(id, std::move(rows));
    }
    for (const auto& [tokens, rows] : rows_)
      for (const ValueId row : rows)
        if (std::ranges::find(values_, row) == values_.end()) values_.push_back(row);
  }

  std::span<const ValueId> values() const { return values_; }
  // Tokens, and the rows that they are looked up as.
  std::span<const std::pair<ValueId, std::vector<ValueId>>> rows() const { return rows_; }
  // The relevance of a token is that of its rows.
  void add_tokens(const Tensors& given, Tensors& found) const {
    for (const auto& [tokens, rows] : rows_) {
      Array sum;
      for (const ValueId row : rows) {
        const Array part = found.at(row).sum(-1).reshape(given.at(tokens).shape());
        sum = sum.defined() ? sum + part : part;
      }
      found.insert_or_assign(tokens, std::move(sum));
    }
  }

 private:
  std::vector<ValueId> values_;
  std::vector<std::pair<ValueId, std::vector<ValueId>>> rows_;
};

// What is made of a value and the gradient there.
class OfGradient final : public Attribution {
 public:
  using Formula = Array (*)(const Array& gradient, const Array& value);

  // `by_element`: the formula is of numbers alone, not of channels, so rows of tokens have it as well.
  OfGradient(const Session& session, const AttributionOptions& options, std::string description,
             Formula formula, bool by_element = true)
      : session_(session),
        start_(session, options.outputs),
        description_(std::move(description)),
        formula_(formula),
        by_element_(by_element) {}

  Relevance attribute(const Tensors& given, const Target& target,
                      std::span<const ValueId> wanted) const override {
    const Tensors inputs = inputs_of(session_, given);
    const AskedRows asked(session_, wanted, by_element_);
    const Tensors values = session_.run(inputs, with(asked.values(), start_.value()));
    Relevance result{.values = explained_gradients(session_, start_, inputs, target, asked.values()),
                     .start = start_.numbers(values.at(start_.value()), target)};
    for (auto& [id, gradient] : result.values) gradient = formula_(gradient, values.at(id));
    asked.add_tokens(inputs, result.values);
    return result;
  }
  std::vector<ValueId> reads(std::span<const ValueId>) const override { return {start_.value()}; }
  std::string describe() const override { return description_; }

 private:
  const Session& session_;
  Start start_;
  std::string description_;
  Formula formula_;
  bool by_element_;
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
// Where all inputs are whole numbers, the line is that of the rows that tokens are looked up as.
class IntegratedGradients final : public Attribution {
 public:
  IntegratedGradients(const Session& session, const AttributionOptions& options, std::size_t steps)
      : session_(session), start_(session, options.outputs), options_(options), steps_(steps) {}

  Relevance attribute(const Tensors& given, const Target& target,
                      std::span<const ValueId> wanted) const override {
    const array::Recording unrecorded(false);
    Tensors inputs = inputs_of(session_, given);
    Tensors baseline = baseline_of(inputs, options_);
    if (baseline.empty()) baseline = begin_at_rows(inputs);
    const AskedRows asked(session_, wanted, true);
    require_moving(asked, baseline);
    const auto along = [&](double position) {
      Tensors point = inputs;
      for (const auto& [id, start] : baseline) point[id] = start + (inputs.at(id) - start) * position;
      return point;
    };
    const std::vector<ValueId> ids = with(asked.values(), start_.value());
    // The class of the record itself, to be kept along the way.
    const Target fixed = start_.settled(session_.run(inputs, ids).at(start_.value()), target);

    Tensors before = session_.run(along(0), ids);
    Relevance result{.values = {}, .start = start_.numbers(before.at(start_.value()), fixed)};
    for (std::size_t step = 0; step < steps_; ++step) {
      const double done = step, all = steps_;
      Tensors after = session_.run(along((done + 1) / all), ids);
      const Tensors gradients =
          explained_gradients(session_, start_, along((done + 0.5) / all), fixed, asked.values());
      for (const auto& [value, gradient] : gradients) {
        const Array part = gradient * (after.at(value) - before.at(value));
        Array& sum = result.values[value];
        sum = sum.defined() ? sum + part : part;
      }
      before = std::move(after);
    }
    const std::vector<double> reached = start_.numbers(before.at(start_.value()), fixed);
    for (std::size_t i = 0; i < reached.size(); ++i) result.start[i] = reached[i] - result.start[i];
    asked.add_tokens(inputs, result.values);
    return result;
  }
  std::vector<ValueId> reads(std::span<const ValueId>) const override { return {start_.value()}; }
  std::string describe() const override {
    return fmt::format("integrated gradients, {} steps, midpoint rule", steps_);
  }

 private:
  // What the line leaves as it is would have no relevance.
  void require_moving(const AskedRows& asked, const Tensors& baseline) const {
    for (const auto& [tokens, rows] : asked.rows()) {
      if (baseline.contains(rows.front())) continue;
      const Graph& graph = session_.graph();
      const bool of_rows = graph.producer(baseline.begin()->first) != no_node;
      fail(Fault::unsupported,
           "integrated gradients of network '{}' change {} alone, so '{}' would have no relevance; use "
           "'gradient-x-input' or 'epsilon'",
           graph.name(), of_rows ? "the rows of its tokens" : "its inputs of real numbers",
           graph.value(tokens).name);
    }
  }

  // Rows of the record's tokens join the inputs; the line begins at rows of zeros.
  Tensors begin_at_rows(Tensors& inputs) const {
    const Graph& graph = session_.graph();
    const std::vector<ValueId> rows = rows_of_tokens(graph, tokens_input(graph));
    if (rows.empty())
      fail(Fault::unsupported,
           "integrated gradients need an input of real numbers, or one of tokens (input_ids, or the only "
           "one of whole numbers) that is looked up in a table; use 'gradient-x-input' or 'epsilon'");
    if (options_.baseline)
      fail(Fault::usage,
           "a baseline is a record of real numbers, and tokens begin at rows of zeros; leave it out");
    Tensors baseline;
    for (const auto& [id, values] : session_.run(inputs, rows)) {
      baseline.emplace(id, array::zeros_like(values));
      inputs.emplace(id, values);
    }
    return baseline;
  }

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
                                                channel_mean_times_value, false);
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
