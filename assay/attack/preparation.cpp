#include "assay/attack/preparation.h"

#include <assay/array_math.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include <assay/dataset.h>
#include <assay/error.h>
#include <assay/extend/attack_problem.h>
#include "assay/attack/changes.h"
#include "assay/attack/outputs_of_rows.h"
#include "assay/engine/elements.h"
#include "assay/engine/evaluation/evaluator.h"
#include "assay/model/real_tokens.h"
#include "assay/model/token_decision.h"
#include "assay/support/files/hash.h"

namespace assay::attack {
namespace {

constexpr double tolerance = 1e-4;               // of the range, for elements that rounding puts outside
constexpr double changed = 1e-6;                 // of the range: below is rounding
constexpr std::uint64_t target_stream = 0x7a67;  // random targets, apart from the attack's own streams

// One bound for each element of a record, from one for all or one per channel.
std::vector<float> bounds(const std::vector<float>& values, const Shape& record) {
  const std::size_t elements = element_count(record);
  std::vector<float> all;
  for (const float value : values) all.insert(all.end(), elements / values.size(), value);
  return all;
}

// What is decided of each record; items whose label says that they do not count are of no class.
std::vector<task::Items> decided_items(const task::Task& task, const Array& outputs, const Batch& batch,
                                       const Dataset& dataset) {
  const std::vector<float> scores = floats_of(outputs), labels = floats_of(batch.targets);
  const std::size_t records = batch.indices.size(), out = scores.size() / records,
                    wanted = labels.size() / records;
  std::vector<task::Items> all;
  for (std::size_t r = 0; r < records; ++r) {
    const std::span<const float> output = std::span(scores).subspan(r * out, out);
    task::Items items = task.decide(output);
    if (items.places.empty()) {
      const task::Judgement judged = task::judged_record(
          task, {output, std::span(labels).subspan(r * wanted, wanted)}, dataset, batch.indices[r]);
      for (std::size_t i = 0; i < items.classes.size(); ++i) {
        if (judged.wanted[i] == no_class) items.classes[i] = no_class;
      }
    }
    all.push_back(std::move(items));
  }
  return all;
}

// From the first bounds to the second.
std::vector<float> between(const std::vector<float>& low, std::vector<float> high) {
  for (std::size_t i = 0; i < high.size(); ++i) high[i] -= low[i];
  return high;
}

// The numbers of each record.
std::span<const float> elements_of_row(const Array& records, std::size_t row, std::size_t elements) {
  return {records.elements<float>() + row * elements, elements};
}

bool are_levels(const ValidRange& range) {
  return std::ranges::all_of(range.low, [](float low) { return low == 0; }) &&
         std::ranges::all_of(range.high, [](float high) { return high == 255; });
}

// Numbers of tokens, from 0.
ValidRange range_of_tokens(const Session& session, const Dataset& dataset) {
  if (!takes_tokens(session, dataset))
    fail(Fault::usage,
         "the attack is on texts as numbers of tokens, and records of '{}' are not tokens that network '{}' "
         "looks up; for numbers of words there are edits of the texts themselves (swap, delete, synonym, "
         "...; docs/text.md)",
         dataset.describe(), session.graph().name());
  return {{0}, {static_cast<float>(known_tokens(session.graph()) - 1)}};
}

ValidRange declared_range(const Session& session, const Dataset& dataset, bool tokens) {
  if (tokens) return range_of_tokens(session, dataset);
  const ValueId input = session.first_input(dataset.facts());
  require_attackable(session, input);
  const auto range = dataset.valid_range();
  if (range && takes_levels(session, input) && !are_levels(*range))
    fail(Fault::data,
         "network '{}' takes levels from 0 to 255, but values of '{}' have another valid range; for "
         "pictures, add scale=1 to the data specification",
         session.graph().name(), dataset.describe());
  if (range) return *range;
  fail(Fault::data,
       "data '{}' do not say which values are valid, and attacks must stay within them; add range=LOW:HIGH, "
       "such as range=0:1",
       dataset.describe());
}

InputUnits units_of(const Dataset& dataset, const std::vector<float>& low, const std::vector<float>& span) {
  const auto all_are = [](const std::vector<float>& numbers, float number) {
    return std::ranges::all_of(numbers, [&](float one) { return one == number; });
  };
  if (all_are(low, 0) && all_are(span, 1)) return {{}, {}, dataset.valid_range()};
  return {array::tensor(low), array::tensor(span), dataset.valid_range()};
}

std::optional<std::int64_t> class_number(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Array negated(const Array& scores) {
  const Array result = in_memory(scores, DType::float32).clone();
  for (std::int64_t i = 0; i < result.count(); ++i) result.elements<float>()[i] *= -1;
  return result;
}

std::uint64_t key_of(const std::string& id) { return hash_128(id.data(), id.size())[0]; }

}  // namespace

bool takes_levels(const Session& session, ValueId input) {
  return session.graph().value(input).dtype == DType::uint8;
}

bool takes_tokens(const Session& session, const Dataset& dataset) {
  return dataset.dtype() == DType::int64 && dataset.record_shape().size() == 1 &&
         session.first_input(dataset.facts()) == tokens_input(session.graph()) &&
         known_tokens(session.graph()) > 1;
}

void require_target(const std::string& target) {
  const bool word = target == "none" || target == "next" || target == "random" || target == "least-likely";
  if (!word && !class_number(target))
    fail(Fault::usage, "target={}: a class number, next, random, least-likely or none", target);
}

Preparation::Preparation(const Session& session, const Dataset& dataset, PreparationOptions options)
    : dataset_(dataset),
      options_(std::move(options)),
      low_(bounds(declared_range(session, dataset, options_.tokens).low, dataset.record_shape())),
      span_(between(low_,
                    bounds(declared_range(session, dataset, options_.tokens).high, dataset.record_shape()))),
      network_(session, units_of(dataset, low_, span_), dataset.target_width() > 0,
               session.first_input(dataset.facts())) {
  require_target(options_.target);
}

AttackProblem Preparation::problem(const Batch& batch) const {
  const array::Recording unrecorded(false);
  AttackProblem problem;
  const Tensors given = network_.session().bind(batch);
  const Array shaped = network_.first(given);
  problem.inputs = in_units(batch).reshape(shaped.shape());
  problem.held = network_.held_of(given);
  problem.seed = options_.seed;
  for (std::size_t i = 0; i < batch.indices.size(); ++i) {
    problem.keys.push_back(key_of(dataset_.id(batch.indices[i])));
    problem.places.push_back(i);
  }
  problem.log = std::make_shared<AttackLog>(batch.indices.size());
  const Array outputs = network_.outputs(given);
  problem.change = change(outputs, batch);
  problem.scores = network_.scores_of(problem, outputs);
  problem.labels = array::tensor(decisions(problem.scores));
  return aimed(std::move(problem), options_.target);
}

AttackProblem Preparation::aimed(AttackProblem problem, const std::string& target) const {
  problem.targets = targets(problem, target);
  return problem;
}

Array Preparation::in_units(const Batch& batch) const {
  const Array records = in_memory(batch.inputs, DType::float32);
  const std::size_t elements = low_.size();
  Array units = array::empty(records.shape());
  for (std::size_t row = 0; row < batch.indices.size(); ++row) {
    const std::span<const float> from = elements_of_row(records, row, elements);
    float* const to = units.elements<float>() + row * elements;
    bool outside = false;
    for (std::size_t i = 0; i < elements; ++i) {
      const float unit = (from[i] - low_[i]) / span_[i];
      outside |= unit < -tolerance || unit > 1 + tolerance;
      to[i] = std::clamp(unit, 0.0F, 1.0F);
    }
    if (outside)
      fail(Fault::data,
           "record '{}' has values outside the valid range that the data declare; check range, scale, mean "
           "and std of '{}'",
           dataset_.id(batch.indices[row]), dataset_.describe());
  }
  return units;
}

std::shared_ptr<const OutputChange> Preparation::change(const Array& outputs, const Batch& batch) const {
  if (options_.task && options_.goal.kind == ItemGoal::Kind::appear)
    return items_appear(options_.task, decided_items(*options_.task, outputs, batch, dataset_),
                        options_.goal.of_class, options_.margin);
  if (options_.task) {
    task::RightItems items = task::right_items(*options_.task, outputs, batch, dataset_);
    if (options_.goal.kind == ItemGoal::Kind::change)
      return items_changed(options_.task, std::move(items), options_.margin);
    for (task::Items& of_record : items) task::keep_class(*options_.task, options_.goal.of_class, of_record);
    return items_changed(options_.task, std::move(items), task::all_items);
  }
  return network_.regression() ? moved_away(outputs, batch.targets, options_.margin) : nullptr;
}

Array Preparation::targets(const AttackProblem& problem, const std::string& target) const {
  const std::int64_t classes = problem.scores.size(1);
  if (target == "none") return {};
  const std::vector<std::int64_t> labels = numbers(problem.labels);
  std::vector<std::int64_t> aims;
  if (target == "least-likely") {
    aims = decisions(negated(problem.scores));
  } else if (target == "next" || target == "random") {
    for (std::size_t row = 0; row < labels.size(); ++row) {
      const std::uint64_t others = classes - 1,
                          step = target == "next" ? 0 : problem.rng(row, target_stream).below(others);
      aims.push_back((labels[row] + 1 + static_cast<std::int64_t>(step)) % classes);
    }
  } else {
    const std::int64_t number = *class_number(target);
    if (number < 0 || number >= classes)
      fail(Fault::usage, "target={}: the network has classes 0 to {}", number, classes - 1);
    aims.assign(labels.size(), number);
  }
  return array::tensor(aims);
}

std::vector<std::int64_t> Preparation::attackable(const Batch& batch, const AttackProblem& problem,
                                                  bool right) const {
  const std::vector<std::int64_t> labels = numbers(problem.labels), aims = problem.targeted()
                                                                               ? numbers(problem.targets)
                                                                               : std::vector<std::int64_t>();
  const std::vector<std::uint8_t> finite = finite_rows(problem.scores, labels.size());
  std::vector<std::int64_t> rows;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const bool correct = network_.regression() || batch.labels.empty() || batch.labels[i] == labels[i];
    const bool there = !aims.empty() && aims[i] == labels[i];
    if (finite[i] != 0 && !there && (correct || !right)) rows.push_back(i);
  }
  return rows;
}

std::vector<float> Preparation::to_records(const Array& clean, const AttackProblem& problem,
                                           const Array& points) const {
  const Array before = in_memory(problem.inputs, DType::float32), after = in_memory(points, DType::float32);
  const std::size_t elements = low_.size();
  std::vector<float> records = floats_of(clean);
  for (std::size_t i = 0; i < records.size(); ++i) {
    const float unit = after.elements<float>()[i];
    if (unit != before.elements<float>()[i]) records[i] = unit * span_[i % elements] + low_[i % elements];
  }
  return records;
}

std::vector<std::int64_t> Preparation::to_tokens(const Array& points) const {
  const std::vector<float> units = floats_of(points);
  std::vector<std::int64_t> tokens;
  for (std::size_t i = 0; i < units.size(); ++i)
    tokens.push_back(std::llround(static_cast<double>(units[i]) * span_[i % span_.size()]));
  return tokens;
}

std::vector<std::uint8_t> Preparation::to_levels(const Array& points) {
  std::vector<std::uint8_t> levels;
  for (const float unit : floats_of(points))
    levels.push_back(static_cast<std::uint8_t>(std::clamp(std::nearbyint(unit * 255), 0.0F, 255.0F)));
  return levels;
}

std::vector<float> Preparation::of_levels(const std::vector<std::uint8_t>& levels) const {
  const ValidRange& range = *dataset_.valid_range();
  const std::size_t plane = low_.size() / range.low.size();
  std::vector<float> values(levels.begin(), levels.end());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t channel = i % low_.size() / plane;
    // As spec_of_file() has them: std and, in place of the mean, what is left of it.
    const double low = range.low[channel], deviation = 1 / (range.high[channel] - low);
    values[i] = values[i] * static_cast<float>(1.0 / 255 / deviation) +
                static_cast<float>(low * deviation / deviation);
  }
  return values;
}

Batch Preparation::read_back(const Batch& batch, const std::vector<std::int64_t>& rows,
                             const AttackProblem& problem, const Array& points, bool levels) const {
  Batch read;
  const Array clean = picked(batch.inputs, rows);
  read.inputs = options_.tokens
                    ? Array::of<std::int64_t>(clean.shape(), to_tokens(points))
                    : Array::of<float>(clean.shape(), levels ? of_levels(to_levels(points))
                                                             : to_records(clean, problem, points));
  read.input_name = batch.input_name;
  for (const std::int64_t row : rows) read.indices.push_back(batch.indices[row]);
  for (const NamedArray& other : batch.others)
    read.others.push_back({other.name, picked(other.values, rows)});
  return read;
}

std::vector<Distance> Preparation::distances(const Array& records, const Array& clean) const {
  const std::vector<float> after = floats_of(records.to(DType::float32)),
                           before = floats_of(clean.to(DType::float32));
  const std::size_t elements = low_.size();
  std::vector<Distance> distances(after.size() / elements);
  for (std::size_t i = 0; i < after.size(); ++i) {
    Distance& distance = distances[i / elements];
    double change = std::abs((static_cast<double>(after[i]) - before[i]) / span_[i % elements]);
    if (options_.tokens) change = change > 0 ? 1 : 0;
    distance.l0 += change > changed ? 1 : 0;
    distance.l2 += change * change;
    distance.linf = std::max(distance.linf, change);
  }
  for (Distance& distance : distances) distance.l2 = std::sqrt(distance.l2);
  return distances;
}

}  // namespace assay::attack
