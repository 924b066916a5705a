#include <assay/extend/attack_problem.h>

#include <assay/array_math.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <assay/adapt.h>
#include <assay/error.h>
#include <assay/evaluate.h>
#include "assay/attack/norms.h"
#include "assay/attack/outputs_of_rows.h"
#include "assay/attack/preparation.h"
#include "assay/engine/elements.h"
#include "assay/engine/evaluation/evaluator.h"
#include "assay/engine/evaluation/scores.h"
#include "assay/engine/preparation/input_form.h"

namespace assay::attack {
namespace {

// The output that attacks change: for regression the decision value itself.
DecisionScores climbed(const Session& session, bool regression) {
  return regression ? DecisionScores{.value = session.logits()} : scores_of(session);
}

// Functions that bend scores make them equal where they saturate, and the first class is then named: it gets
// the greatest score.
void settle_ties(const Array& scores, const std::vector<std::int64_t>& named) {
  const std::vector<std::int64_t> first = decisions(scores);
  for (std::size_t row = 0; row < named.size(); ++row) {
    if (named[row] < 0 || first[row] == named[row]) continue;
    float* const of_row = scores.elements<float>() + static_cast<std::int64_t>(row) * scores.size(1);
    of_row[named[row]] = std::nextafter(of_row[first[row]], std::numeric_limits<float>::infinity());
  }
}

int axis_of(const Session& session, ValueId input) {
  return input_form(session.graph(), input, {session.options().record_shape, session.options().record_shapes})
      .batch_axis;
}

// What body gives for each number and its place in the record, of floats in order.
template <typename Body>
Array by_element(const Array& records, const Body& body) {
  Array result = array::empty(records.shape());
  const float* from = records.elements<float>();
  float* to = result.elements<float>();
  const std::int64_t rows = records.size(0), elements = rows == 0 ? 0 : records.count() / rows;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t i = 0; i < elements; ++i) *to++ = body(*from++, i);
  }
  return result;
}

// Numbers that are not finite become 0.
void clean(Array& gradients) {
  if (!floats_in_order(gradients)) {
    gradients = array::nan_to_num(gradients, 0, 0, 0);
    return;
  }
  const std::span<float> elements(gradients.elements<float>(), gradients.count());
  for (float& gradient : elements) gradient = std::isfinite(gradient) ? gradient : 0;
}

// Records for which a gradient is not 0 everywhere.
std::vector<bool> sloping_rows(const Array& gradient) {
  if (!floats_in_order(gradient)) return truths_of(gradient.flatten(1).ne(0).any(1));
  const std::size_t rows = gradient.size(0), size = rows == 0 ? 0 : gradient.count() / rows;
  std::vector<bool> sloping;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::span<const float> elements(gradient.elements<float>() + row * size, size);
    sloping.push_back(std::ranges::any_of(elements, [](float one) { return one != 0; }));
  }
  return sloping;
}

// Notes which records of the problem have a gradient. One of 0 for all records shows no way; in a network of
// steps it is 0 everywhere.
void note_sloping(const Session& session, const AttackProblem& problem, std::span<const Array> gradients) {
  bool any = problem.places.empty();
  for (const Array& gradient : gradients) {
    const std::vector<bool> sloping = sloping_rows(gradient);
    for (std::size_t row = 0; row < problem.places.size(); ++row) {
      problem.log->sloping[problem.places[row]] += sloping[row];
      any = any || sloping[row];
    }
  }
  if (any) return;
  for (const ValueId input : session.graph().inputs()) {
    const Node* step = first_step(session.graph(), input, session.logits());
    if (step == nullptr) continue;
    const bool can_pass = straight_through(session.graph()).hash() != session.graph().hash();
    fail(Fault::unsupported,
         "the gradient is 0 for every record, so an attack that follows it cannot succeed: {} has a "
         "derivative of 0 wherever it has one; {}attack without gradients, such as by square",
         step->describe(),
         can_pass ? message("{} steps, or ", About{"have gradients pass straight through",
                                                   "use {straight-through} to have gradients pass"})
                  : "");
  }
}

}  // namespace

void require_attackable(const Session& session, ValueId input) {
  const Graph& graph = session.graph();
  const DType type = graph.value(input).dtype;
  if (is_real(type) || becomes_real(graph, input)) return;
  fail(
      Fault::unsupported,
      "network '{}' takes {} numbers (such as tokens), which cannot be changed slightly; attacks are for "
      "inputs of real numbers, hotflip, gcg and embedding-pgd for tokens, and edits of the texts themselves "
      "for tokens and numbers of words (assay.texts.attack and explore in Python, or python3 -m assay.texts; "
      "docs/text.md)",
      graph.name(), to_string(type));
}

AttackedNetwork::AttackedNetwork(const Session& session, InputUnits units, bool regression, ValueId input)
    : session_(session),
      units_(std::move(units)),
      regression_(regression),
      input_(input == no_value ? session.graph().inputs()[0] : input),
      batch_axis_(axis_of(session, input_)),
      type_(takes_levels(session, input_) ? DType::float32 : session.graph().value(input_).dtype),
      threshold_(0) {
  const DecisionScores scores = climbed(session, regression);
  decision_ = scores.value;
  threshold_ = static_cast<float>(scores.threshold);
}

Tensors AttackedNetwork::bind(const Array& points, const HeldInputs& held) const {
  Array values = points;
  if (units_.low.defined() && floats_in_order(values)) {
    const float *const low = units_.low.elements<float>(), *const span = units_.span.elements<float>();
    values = by_element(values, [&](float unit, std::int64_t i) { return unit * span[i] + low[i]; });
  } else if (units_.low.defined()) {
    values = (values.flatten(1) * units_.span + units_.low).reshape(points.shape());
  }
  if (!is_real(type_)) values = array::round(values);
  values = values.to(type_);
  if (batch_axis_ > 0) values = values.movedim(0, batch_axis_);
  Tensors bound;
  bound.emplace(input_, values);
  for (const auto& [id, records] : held) {
    const int axis = axis_of(session_, id);
    bound.emplace(id, axis > 0 ? records.movedim(0, axis) : records);
  }
  return bound;
}

HeldInputs AttackedNetwork::held_of(const Tensors& given) const {
  HeldInputs held;
  for (const auto& [id, values] : given) {
    if (id == input_) continue;
    const int axis = axis_of(session_, id);
    held.emplace(id, axis > 0 ? values.movedim(axis, 0) : values);
  }
  return held;
}

Array AttackedNetwork::first(const Tensors& given) const {
  const Array& values = given.at(input_);
  return batch_axis_ > 0 ? values.movedim(batch_axis_, 0) : values;
}

Array AttackedNetwork::outputs(const Tensors& given) const {
  const ValueId both[] = {decision_, session_.logits()};
  const Tensors values = session_.run(given, std::span(both).first(both[0] == both[1] ? 1 : 2));
  const std::size_t records = first(given).size(0);
  const Array scores = as_rows(values.at(decision_)).to(DType::float32);
  if (regression_) {
    require_rows(session_, values.at(decision_), records);
    return scores;
  }
  const auto named = predicted_classes(session_, values.at(session_.logits()), records);
  if (decision_ == session_.logits() || scores.size(1) == 1) return scores;
  const Array host = in_memory(scores, DType::float32).clone();
  settle_ties(host, named);
  return host;
}

Array AttackedNetwork::scores_of(const AttackProblem& problem, const Array& outputs) const {
  const OutputsOfRows rows(*this, problem);
  const std::size_t size = outputs.size(1);
  if (!rows.of_two_classes(size)) return outputs;
  const Array host = in_memory(outputs, DType::float32), scores = array::empty({outputs.size(0), 2});
  for (std::size_t row = 0; row < static_cast<std::size_t>(outputs.size(0)); ++row) {
    std::ranges::copy(rows.scores(row, {host.elements<float>() + row * size, size}),
                      scores.elements<float>() + 2 * row);
  }
  return scores;
}

Array AttackedNetwork::scores(const AttackProblem& problem, const Array& points) const {
  for (const std::size_t place : problem.places) ++problem.log->forward[place];
  return scores_of(problem, outputs(bind(points, problem.held)));
}

AttackedNetwork::ScoreGradients AttackedNetwork::gradients(const AttackProblem& problem, const Array& points,
                                                           std::span<const Objective> objectives) const {
  for (const std::size_t place : problem.places) {
    ++problem.log->forward[place];
    problem.log->backward[place] += objectives.size();
  }
  const OutputsOfRows outputs_of_rows(*this, problem);
  const auto ask = [&](std::size_t row, std::span<const float> outputs, std::span<float> gradients) {
    if (row < problem.places.size()) outputs_of_rows.differentiate(objectives, row, outputs, gradients);
  };
  ScoreGradients result =
      gradients(points, problem.held, {.read = {decision_}, .numbers = objectives.size(), .gradients = ask});
  result.scores = scores_of(problem, result.scores);
  note_sloping(session_, problem, result.gradients);
  return result;
}

AttackedNetwork::ScoreGradients AttackedNetwork::gradients(const Array& points, const HeldInputs& held,
                                                           const RecordObjective& objective) const {
  RecordGradients found = session_.gradients(bind(points, held), objective, std::span(&input_, 1));
  require_rows(session_, found.value, points.size(0));
  ScoreGradients result{.scores = as_rows(found.value).to(DType::float32), .gradients = {}};
  for (const Tensors& of_number : found.gradients) {
    Array gradient = of_number.at(input_);
    if (batch_axis_ > 0) gradient = gradient.movedim(batch_axis_, 0);
    gradient = gradient.to(DType::float32);
    if (units_.low.defined() && floats_in_order(gradient)) {
      const float* const span = units_.span.elements<float>();
      gradient = by_element(gradient, [&](float one, std::int64_t i) { return one * span[i]; });
    } else if (units_.low.defined()) {
      gradient = (gradient.flatten(1) * units_.span).reshape(points.shape());
    }
    clean(gradient);
    result.gradients.push_back(gradient);
  }
  return result;
}

Array AttackedNetwork::gradient(const AttackProblem& problem, const Array& points,
                                const Objective& objective) const {
  return gradients(problem, points, std::span(&objective, 1)).gradients[0];
}

Array AttackedNetwork::won(const AttackProblem& problem, const Array& scores) {
  const std::vector<std::int64_t> decided = decisions(scores),
                                  classes = numbers(problem.targeted() ? problem.targets : problem.labels);
  const std::vector<std::uint8_t> finite = finite_rows(scores, decided.size());
  const Array reached = array::empty({std::ssize(decided)}, DType::boolean);
  for (std::size_t row = 0; row < decided.size(); ++row)
    reached.elements<bool>()[row] = finite[row] != 0 && (decided[row] == classes[row]) == problem.targeted();
  return reached;
}

}  // namespace assay::attack
