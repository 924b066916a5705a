#include "assay/task/positions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include <assay/error.h>
#include <assay/evaluate.h>
#include "assay/engine/elements.h"
#include "assay/support/text/so_many.h"
#include "assay/task/counts.h"

namespace assay::task {
namespace {

std::int64_t product(std::span<const std::int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
}

constexpr float least_probability = 1e-7F;  // about the distance of a float32 from 1

float log_of(float probability) { return std::log(std::max(probability, least_probability)); }
float log_odds(float probability) { return log_of(probability) - log_of(1 - probability); }

// Scores of one position after the other; NaN among them: no class.
class Scores {
 public:
  Scores(const PositionLayout& layout, std::span<const float> output) : layout_(layout), output_(output) {}

  // Best in ascending order: neighbours are read together.
  void go_to(std::int64_t position) {
    if (position < begin_ || position >= end_) read_from(position);
    here_ = scores_.data() + (position - begin_) * layout_.classes;
    first_ = place_of(position);
  }
  std::int64_t place(std::int64_t c) const { return first_ + c * layout_.inner; }
  float of(std::int64_t c) const { return here_[c]; }

  // Holds where decided_positions() says so.
  Lead lead(std::int64_t c) const {
    Lead lead;
    if (layout_.classes == 1) {
      lead.holds = !std::isnan(of(0)) && (of(0) > layout_.threshold) == (c == 1);
      lead.threshold = layout_.threshold;
      (c == 1 ? lead.own : lead.rival) = place(0);
      compare(lead, of(0), layout_.threshold, log_odds);
      if (c == 0) lead.value = -lead.value;
      return lead;
    }
    std::int64_t rival = c == 0 ? 1 : 0;
    bool missing = false;
    for (std::int64_t other = 0; other < layout_.classes; ++other) {
      missing |= std::isnan(of(other));
      if (other != c && of(other) > of(rival)) rival = other;
    }
    lead.holds = !missing && (of(c) > of(rival) || (of(c) == of(rival) && c < rival));
    lead.own = place(c);
    lead.rival = place(rival);
    compare(lead, of(c), of(rival), log_of);
    if (missing) lead.value = std::numeric_limits<float>::quiet_NaN();
    return lead;
  }

  // -ln of the probability of a class.
  double surprise(std::int64_t wanted) const {
    if (layout_.classes == 1) {
      if (layout_.probabilities) return -std::log(std::max<double>(wanted == 1 ? of(0) : 1 - of(0), least));
      const double z = wanted == 1 ? of(0) : -of(0);
      return z > 0 ? std::log1p(std::exp(-z)) : std::log1p(std::exp(z)) - z;
    }
    double greatest = logit(0), sum = 0;
    for (std::int64_t c = 1; c < layout_.classes; ++c) greatest = std::max(greatest, logit(c));
    for (std::int64_t c = 0; c < layout_.classes; ++c) sum += std::exp(logit(c) - greatest);
    return greatest + std::log(sum) - logit(wanted);
  }

 private:
  // Probabilities as what they are made of: with it leads are those of the network without its last function.
  template <typename Function>
  void compare(Lead& lead, float own, float other, const Function& before) const {
    const float a = layout_.probabilities ? before(own) : own,
                b = layout_.probabilities ? before(other) : other;
    lead.value = a - b;
    lead.scale = std::max({std::abs(a), std::abs(b), layout_.probabilities ? 1.0F : 0.0F});
  }

  // Scores of a class lie far from those of the next one, in the same lines of a cache where sizes are powers
  // of 2.
  static constexpr std::int64_t together = 16;

  std::int64_t place_of(std::int64_t position) const {
    return position / layout_.inner * layout_.inner * layout_.classes + position % layout_.inner;
  }

  void read_from(std::int64_t position) {
    begin_ = position;
    end_ = std::min(position + together, (position / layout_.inner + 1) * layout_.inner);
    scores_.resize((end_ - begin_) * layout_.classes);
    for (std::int64_t c = 0; c < layout_.classes; ++c) {
      const float* const from = output_.data() + place_of(position) + c * layout_.inner;
      for (std::int64_t i = 0; i < end_ - begin_; ++i) scores_[i * layout_.classes + c] = from[i];
    }
  }

  static constexpr double least = 1e-30;  // so that a probability that was rounded to 0 has a logarithm
  double logit(std::int64_t c) const {
    return layout_.probabilities ? std::log(std::max<double>(of(c), least)) : of(c);
  }

  const PositionLayout& layout_;
  std::span<const float> output_;
  std::int64_t begin_ = 0, end_ = 0, first_ = 0;  // positions that are read; place of the scores of one
  std::vector<float> scores_;                     // [positions, classes]
  const float* here_ = nullptr;
};

std::int64_t label_at(const PositionLayout& layout, float target, const PositionLabels& labels,
                      std::int64_t position) {
  constexpr float greatest = 1e15F;
  const std::int64_t label = std::abs(target) < greatest ? static_cast<std::int64_t>(target) : no_class;
  if (static_cast<float>(label) != target)
    fail(Fault::data, "label {} at position {} is not a whole number; give the number of its class", target,
         position);
  if (labels.ignored && label == *labels.ignored) return no_class;
  if (labels.foreground) {
    if (label == *labels.foreground || label == 0) return label == 0 ? 0 : 1;
    fail(Fault::data,
         "label {} at position {}, but {} is the label of class 1 and 0 that of class 0; if {} means that a "
         "position does not count, name the task pixels[ignore={}]",
         label, position, *labels.foreground, *labels.foreground, *labels.foreground);
  }
  if (label < 0 || label >= static_cast<std::int64_t>(layout.named()))
    fail(Fault::data,
         "label {} at position {}, but the network tells {} classes apart, from 0 on; give the label of what "
         "does not count as ignore={}",
         label, position, layout.named(), label);
  return label;
}

// Positions that are decided together, as many as stay in the first cache: those that lie side by side, so
// that a class is read in order.
constexpr std::size_t side_by_side = 256;

// The first of the greatest scores of each position; no_class where one is NaN. Scores of a class are `step`
// after those of the one before. No branches, so that compilers make vectors of it.
void decide_greatest(const float* scores, std::int64_t classes, std::int64_t step,
                     std::span<std::int64_t> decided) {
  std::array<float, side_by_side> best;
  std::array<std::int32_t, side_by_side> place, missing;
  const std::size_t count = decided.size();
  std::copy_n(scores, count, best.begin());
  std::fill_n(place.begin(), count, 0);
  std::fill_n(missing.begin(), count, 0);
  for (std::int32_t c = 0; c < classes; ++c, scores += step) {
    for (std::size_t i = 0; i < count; ++i) {
      const float score = scores[i];
      const bool greater = score > best[i];
      best[i] = greater ? score : best[i];
      place[i] = greater ? c : place[i];
      missing[i] |= score != score ? 1 : 0;
    }
  }
  for (std::size_t i = 0; i < count; ++i) decided[i] = missing[i] != 0 ? no_class : place[i];
}

void decide_by_threshold(const float* scores, float threshold, std::span<std::int64_t> decided) {
  for (std::size_t i = 0; i < decided.size(); ++i)
    decided[i] = std::isnan(scores[i]) ? no_class : scores[i] > threshold ? 1 : 0;
}

std::vector<std::int64_t> decided_positions(const PositionLayout& layout, std::span<const float> output) {
  std::vector<std::int64_t> decided(layout.positions());
  for (std::int64_t p = 0; p < layout.positions();) {
    const std::int64_t column = p % layout.inner,
                       count = std::min<std::int64_t>(side_by_side, layout.inner - column);
    const float* const scores = output.data() + (p - column) * layout.classes + column;
    const auto here = std::span(decided).subspan(p, count);
    if (layout.classes == 1)
      decide_by_threshold(scores, layout.threshold, here);
    else
      decide_greatest(scores, layout.classes, layout.inner, here);
    p += count;
  }
  return decided;
}

// Whether the axis is a side of the picture that the network is given, and another one holds the classes: a
// mask of another size might have as many positions as the rest.
bool is_side_of_input(const TaskSubject& subject, std::size_t at) {
  const std::span<const std::int64_t> output(subject.output), input(subject.input);
  if (output.size() < 3 || output.size() != input.size()) return false;
  const std::size_t last = output.size() - 1;
  const bool channels_first = std::ranges::equal(output.subspan(1), input.subspan(1)),
             channels_last = std::ranges::equal(output.first(last), input.first(last));
  return channels_first != channels_last && at != (channels_first ? 0 : last);
}

std::optional<PositionLayout> layout_with_classes_along(const TaskSubject& subject, int axis) {
  const auto rank = static_cast<int>(subject.output.size());
  const int at = axis < 0 ? rank + axis : axis - 1;
  if (rank < 2 || at < 0 || at >= rank) return std::nullopt;
  const std::span<const std::int64_t> sizes(subject.output);
  const std::size_t place = at;
  PositionLayout layout{.classes = sizes[place],
                        .outer = product(sizes.first(place)),
                        .inner = product(sizes.subspan(place + 1)),
                        .axis = at + 1,
                        .probabilities = subject.probabilities,
                        .threshold = subject.probabilities ? 0.5F : 0.0F};
  layout.grid = subject.output;
  layout.grid.erase(layout.grid.begin() + at);
  if (layout.classes < 1 || layout.positions() != static_cast<std::int64_t>(subject.targets))
    return std::nullopt;
  return layout;
}

}  // namespace

std::optional<PositionLayout> layout_along(const TaskSubject& subject, int axis) {
  std::optional<PositionLayout> layout = layout_with_classes_along(subject, axis);
  if (layout && is_side_of_input(subject, static_cast<std::size_t>(layout->axis - 1))) layout.reset();
  return layout;
}

PositionLayout layout_of(const SpecOptions& options, const TaskSubject& subject,
                         const std::vector<int>& candidates) {
  const bool given = !options.text("axis").empty();
  const std::vector<int> axes = given ? std::vector{static_cast<int>(options.number("axis"))} : candidates;
  std::optional<PositionLayout> found;
  for (const int axis : axes) {
    const auto layout = given ? layout_with_classes_along(subject, axis) : layout_along(subject, axis);
    if (!layout || (found && found->axis == layout->axis)) continue;
    if (found)
      fail(
          Fault::usage,
          "{}: the output {} a record has one position for each of {} targets with the classes along axis {} "
          "and along axis {}; give axis={} or axis={}",
          options.owner(), to_string(subject.output), subject.targets, found->axis, layout->axis, found->axis,
          layout->axis);
    found = layout;
  }
  if (!found)
    fail(Fault::mismatch,
         "{}: the network gives {} a record, which is not a row of scores for each of {} targets; there must "
         "be one label a position",
         options.owner(), to_string(subject.output), subject.targets);
  if (!options.text("threshold").empty()) {
    if (found->classes != 1)
      fail(Fault::usage, "{}: a threshold is for one score a position, and there are {}", options.owner(),
           found->classes);
    found->threshold = static_cast<float>(options.number("threshold"));
  }
  return *found;
}

Judgement judge_positions(const PositionLayout& layout, const JudgedRecord& record,
                          const PositionLabels& labels, bool surprises) {
  Judgement result{.decided = decided_positions(layout, record.output),
                   .wanted = std::vector<std::int64_t>(layout.positions())};
  double surprise = 0;
  Scores scores(layout, record.output);
  for (std::int64_t p = 0; p < layout.positions(); ++p) {
    const std::size_t i = p;
    result.wanted[i] = label_at(layout, record.targets[i], labels, p);
    if (!surprises || result.wanted[i] < 0 || result.decided[i] < 0) continue;
    scores.go_to(p);
    surprise += scores.surprise(result.wanted[i]);
  }
  result.sums = sums_of(result, layout.named());
  result.sums.surprise = surprise;
  return result;
}

Items PositionsTask::decide(std::span<const float> output) const {
  return {decided_positions(layout_, output)};
}

std::vector<Lead> PositionsTask::leads(std::span<const float> output, const Items& items) const {
  std::vector<Lead> leads(items.classes.size());
  Scores scores(layout_, output);
  for (std::size_t p = 0; p < leads.size(); ++p) {
    if (items.classes[p] < 0) continue;
    scores.go_to(p);
    leads[p] = scores.lead(items.classes[p]);
  }
  return leads;
}

// Of probabilities, of the logarithms that leads compare.
void PositionsTask::differentiate(std::span<const float> output, const Lead& lead, float weight,
                                  std::span<float> gradients) const {
  if (!layout_.probabilities) return Task::differentiate(output, lead, weight, gradients);
  const auto add = [&](std::int64_t number, float by) {
    if (number == Lead::none) return;
    const std::size_t at = number;
    const float p = std::max(output[at], least_probability);
    gradients[at] += by / (layout_.classes == 1 ? p * std::max(1 - p, least_probability) : p);
  };
  add(lead.own, weight);
  add(lead.rival, -weight);
}

ItemRows PositionsTask::rows(const Array& outputs, const Array& targets) const {
  std::vector<std::int64_t> counted, labels;
  const std::vector<float> wanted = floats_of(targets);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::int64_t row = i;
    const std::int64_t label = label_at(layout_, wanted[i], labels_, row % layout_.positions());
    if (label == no_class) continue;
    counted.push_back(row);
    labels.push_back(label);
  }
  Array scores = outputs.reshape({-1, layout_.outer, layout_.classes, layout_.inner})
                     .movedim(2, 3)
                     .reshape({-1, layout_.classes})
                     .index_select(0, array::tensor(counted));
  const bool several = layout_.classes > 1;
  constexpr float least = 1e-30F;  // so that a probability that was rounded to 0 has a logarithm
  if (several && layout_.probabilities) scores = scores.clamp_min(least).log();
  return {
      .scores = scores, .labels = array::tensor(labels), .probabilities = layout_.probabilities && !several};
}

// Of two axes that are longer than 1.
Marks PositionsTask::marks(const Items& items) const {
  Shape sides = layout_.grid;
  std::erase(sides, 1);
  if (sides.size() != 2) return {};
  return {.cells = items.classes, .rows = sides[0], .columns = sides[1]};
}

Positions PositionsTask::positions(const Items& items) const {
  Positions where{.grid = layout_.grid, .cells = std::vector<std::int64_t>(items.classes.size())};
  std::iota(where.cells.begin(), where.cells.end(), std::int64_t{0});
  return where;
}

std::optional<std::int64_t> ignored_label(const SpecOptions& options) {
  const std::string& text = options.text("ignore");
  if (text.empty() || text == "none") return std::nullopt;
  const double number = options.number("ignore");
  const std::int64_t label = std::llround(number);
  if (label != number)
    fail(Fault::usage, "{}: ignore={} is not a whole number, nor none", options.owner(), text);
  return label;
}

std::vector<std::string> names_of_classes(const SpecOptions& options, std::size_t classes) {
  std::vector<std::string> names = options.words("names");
  if (names.empty()) {
    for (std::size_t c = 0; c < classes; ++c) names.push_back(std::to_string(c));
  }
  if (names.size() != classes)
    fail(Fault::usage, "{}: {} names for {} classes", options.owner(), names.size(), classes);
  return names;
}

std::string describe(const PositionLayout& layout, const PositionLabels& labels) {
  std::string text = layout.classes == 1
                         ? fmt::format("yes or no at {}, above {:.3g}",
                                       so_many(layout.positions(), "position"), layout.threshold)
                         : fmt::format("{} classes along axis {}, {}", layout.classes, layout.axis,
                                       so_many(layout.positions(), "position"));
  if (labels.foreground) text += fmt::format(", label {} is class 1", *labels.foreground);
  if (labels.ignored) text += fmt::format(", label {} does not count", *labels.ignored);
  return text;
}

}  // namespace assay::task
