// Auto-PGD: ascent with momentum whose steps are halved where they stop to pay, and the losses it is used
// with.

#include <assay/array_math.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include <assay/attack.h>
#include <assay/extend/attack_problem.h>
#include "assay/attack/attacks/iterate.h"
#include "assay/attack/objective.h"
#include "assay/engine/elements.h"

namespace assay::attack {
namespace {

const std::vector<std::string> losses{"ce", "dlr"};

// The positions of the greatest scores, in order; no more than there are.
std::vector<std::size_t> greatest(std::span<const float> scores, std::size_t most) {
  std::vector<std::size_t> order(scores.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const std::size_t count = std::min(most, order.size());
  std::partial_sort(order.begin(), order.begin() + count, order.end(), [&](std::size_t a, std::size_t b) {
    return scores[a] > scores[b] || (scores[a] == scores[b] && a < b);
  });
  order.resize(count);
  return order;
}

// The difference of logits ratio of one record: (Z_r - Z_y) / scale, r the greatest other score or the one
// aimed at. The scale takes the third score, aimed the mean of third and fourth, from the greatest; where
// there are fewer classes it is 1.
struct LogitRatio {
  double value = 0;
  std::vector<std::pair<std::size_t, double>> gradients;  // class, and what it adds; a class may occur twice
};
LogitRatio logit_ratio(std::span<const float> scores, std::size_t label, std::optional<std::size_t> aim) {
  const std::vector<std::size_t> order = greatest(scores, 4);
  const std::size_t rival = aim ? *aim : order[0] != label ? order[0] : order[1];
  const double lead = static_cast<double>(scores[rival]) - scores[label];
  std::vector<std::pair<std::size_t, double>> parts;  // of the scale
  if (order.size() >= 4 && aim)
    parts = {{order[0], 1}, {order[2], -0.5}, {order[3], -0.5}};
  else if (order.size() >= 3)
    parts = {{order[0], 1}, {order[2], -1}};
  double scale = 0;
  for (const auto& [one, factor] : parts) scale += factor * scores[one];
  if (!(scale > 1e-12)) return {lead, {{rival, 1}, {label, -1}}};
  LogitRatio ratio{lead / scale, {{rival, 1 / scale}, {label, -1 / scale}}};
  for (const auto& [one, factor] : parts) ratio.gradients.emplace_back(one, -lead / (scale * scale) * factor);
  return ratio;
}

// The objective of one run: its value, and its direction for the network.
class Climbed {
 public:
  // `aims`: a class for each record, or none.
  Climbed(const AttackProblem& problem, bool ratio, std::vector<std::int64_t> aims)
      : labels_(numbers(problem.labels)), aims_(std::move(aims)), ratio_(ratio), problem_(problem) {
    if (!ratio_ && !aims_.empty()) problem_.targets = array::tensor(aims_);
  }

  AttackedNetwork::Objective objective() const {
    if (!ratio_) return loss(problem_);
    return [this](std::size_t row, std::span<const float> scores, std::span<float> gradients) {
      for (const auto& [one, gradient] : logit_ratio(scores, label(row), aim(row)).gradients)
        gradients[one] += static_cast<float>(gradient);
    };
  }
  // The same for some of the records, whose problem this is.
  Climbed of(const AttackProblem& problem, const std::vector<std::int64_t>& rows) const {
    std::vector<std::int64_t> aims;
    if (!aims_.empty())
      for (const std::int64_t row : rows) aims.push_back(aims_[row]);
    return {problem, ratio_, std::move(aims)};
  }
  // [n] in float64.
  std::vector<double> values(const Array& scores) const {
    const std::vector<float> all = floats_of(scores);
    const std::size_t classes = scores.size(1);
    std::vector<double> values;
    for (std::size_t row = 0; row < labels_.size(); ++row)
      values.push_back(value_of(std::span(all).subspan(row * classes, classes), row));
    return values;
  }

 private:
  std::size_t label(std::size_t row) const { return labels_[row]; }
  std::optional<std::size_t> aim(std::size_t row) const {
    return aims_.empty() ? std::nullopt : std::optional(static_cast<std::size_t>(aims_[row]));
  }
  double value_of(std::span<const float> scores, std::size_t row) const {
    if (ratio_) return logit_ratio(scores, label(row), aim(row)).value;
    const double most = *std::ranges::max_element(scores);
    double sum = 0;
    for (const float score : scores) sum += std::exp(score - most);
    const std::size_t own = aim(row).value_or(label(row));
    const double entropy = most + std::log(sum) - scores[own];
    return aims_.empty() ? entropy : -entropy;
  }

  std::vector<std::int64_t> labels_, aims_;
  bool ratio_;
  AttackProblem problem_;
};

// The steps after which a search looks back.
std::vector<std::size_t> looks_back(std::size_t steps) {
  std::vector<std::size_t> looks;
  double before = 0, now = 0.22;
  while (now <= 1) {
    const auto at = static_cast<std::size_t>(std::ceil(now * steps));
    if (looks.empty() || at > looks.back()) looks.push_back(at);
    const double next = now + std::max(now - before - 0.03, 0.06);
    before = now;
    now = next;
  }
  return looks;
}

class Apgd final : public Attack {
 public:
  explicit Apgd(const SpecOptions& options)
      : ball_(options),
        steps_(options.count("steps", 1)),
        starts_(options.count("starts", 1)),
        targets_(options.count("targets", 0)),
        rising_(options.number("rho", 0)),
        ratio_(options.word("loss", losses) == "dlr") {}

  // Records that one run made adversarial leave.
  Array perturb(const AttackedNetwork& network, const AttackProblem& problem) const override {
    const bool aims = targets_ > 0 || problem.targeted();
    const std::size_t each =
        aims ? static_cast<std::size_t>(rivals_of(problem, std::max<std::size_t>(1, targets_)).size(1)) : 1;
    return in_runs(network, problem, each * starts_, [&](const AttackProblem& records, std::size_t run) {
      std::vector<std::int64_t> aim;
      if (aims)
        aim = numbers(rivals_of(records, std::max<std::size_t>(1, targets_))
                          .select(1, static_cast<std::int64_t>(run % each)));
      return search(network, records, Climbed(records, ratio_, std::move(aim)), run);
    });
  }

 private:
  // Values at a point.
  struct Known {
    Array point, gradient;
    std::vector<double> value;
  };
  // The records that still stand, and what their searches know.
  struct Search {
    AttackProblem problem;
    Climbed climbed;
    std::vector<std::int64_t> rows;  // among all records of the run
    Known now, best;
    Array before;
    std::vector<double> step, best_then;
    std::vector<std::size_t> rises;
    std::vector<bool> halved;
    std::vector<bool> won;  // at the last point
  };

  Array search(const AttackedNetwork& network, const AttackProblem& problem, const Climbed& climbed,
               std::size_t run) const {
    const std::size_t records = problem.size();
    Search at{.problem = problem,
              .climbed = climbed,
              .rows = std::vector<std::int64_t>(records),
              .now = {},
              .best = {},
              .before = {},
              .step = std::vector<double>(records, 2 * ball_.eps),
              .best_then = {},
              .rises = std::vector<std::size_t>(records),
              // So that the first look asks for rises alone.
              .halved = std::vector<bool>(records, true),
              .won = {}};
    std::iota(at.rows.begin(), at.rows.end(), 0);
    at.now = at_point(network, at, random_point(problem, ball_, run));
    at.best = at.now;
    at.before = at.now.point;
    at.best_then = at.best.value;
    Array result = at.now.point.clone();
    let_fooled_go(at, result);
    const std::vector<std::size_t> looks = looks_back(steps_);
    std::size_t look = 0, since = 0;
    for (std::size_t i = 1; i <= steps_ && !at.rows.empty(); ++i) {
      step_on(network, at, i > 1);
      let_fooled_go(at, result);
      if (look == looks.size() || i != looks[look]) continue;
      look_back(at, i - since);
      since = i;
      ++look;
    }
    if (!at.rows.empty()) put(result, at.rows, at.best.point);
    return result;
  }

  static Known at_point(const AttackedNetwork& network, Search& at, const Array& point) {
    const std::array objectives{at.climbed.objective()};
    auto found = network.gradients(at.problem, point, objectives);
    at.won = truths_of(AttackedNetwork::won(at.problem, found.scores));
    return {point, std::move(found.gradients[0]), at.climbed.values(found.scores)};
  }

  void step_on(const AttackedNetwork& network, Search& at, bool momentum) const {
    const std::vector<float> lengths(at.step.begin(), at.step.end());
    const Array next = Region(ball_, at.problem.inputs)
                           .advanced(at.now.point, at.now.gradient, lengths, momentum ? &at.before : nullptr);
    at.before = at.now.point;
    const std::vector<double> last = at.now.value;
    at.now = at_point(network, at, next);
    std::vector<std::int64_t> better;
    for (std::size_t r = 0; r < last.size(); ++r) {
      at.rises[r] += at.now.value[r] > last[r] ? 1 : 0;
      if (at.now.value[r] > at.best.value[r]) better.push_back(r);
    }
    take(at.now, better, at.best);
  }

  // Where steps do not pay they are halved, and the search goes on from its best point.
  void look_back(Search& at, std::size_t steps) const {
    std::vector<std::int64_t> back;
    for (std::size_t r = 0; r < at.rows.size(); ++r) {
      const bool few = at.rises[r] < rising_ * steps;
      const bool stuck = !at.halved[r] && at.best_then[r] == at.best.value[r];
      at.halved[r] = few || stuck;
      if (!at.halved[r]) continue;
      at.step[r] /= 2;
      back.push_back(r);
    }
    take(at.best, back, at.now);
    at.best_then = at.best.value;
    std::ranges::fill(at.rises, 0);
  }

  // The first point that is adversarial is a record's result.
  static void let_fooled_go(Search& at, const Array& result) {
    std::vector<std::int64_t> fooled, rows, kept;
    for (std::size_t r = 0; r < at.won.size(); ++r) {
      (at.won[r] ? fooled : kept).push_back(static_cast<std::int64_t>(r));
      if (at.won[r]) rows.push_back(at.rows[r]);
    }
    if (rows.empty()) return;
    put(result, rows, picked(at.now.point, fooled));
    keep(at, kept);
  }

  static void keep(Search& at, const std::vector<std::int64_t>& kept) {
    const auto chosen = [&]<typename T>(std::vector<T>& all) {
      std::vector<T> some;
      for (const std::int64_t row : kept) some.push_back(all[row]);
      all = std::move(some);
    };
    at.problem = at.problem.at(array::tensor(kept));
    at.climbed = at.climbed.of(at.problem, kept);
    for (Known* known : {&at.now, &at.best}) {
      known->point = picked(known->point, kept);
      known->gradient = picked(known->gradient, kept);
      chosen(known->value);
    }
    at.before = picked(at.before, kept);
    chosen(at.rows), chosen(at.step), chosen(at.best_then), chosen(at.rises), chosen(at.halved);
  }

  static void take(const Known& from, const std::vector<std::int64_t>& rows, Known& into) {
    if (rows.empty()) return;
    into.point = into.point.clone();
    into.gradient = into.gradient.clone();
    put(into.point, rows, picked(from.point, rows));
    put(into.gradient, rows, picked(from.gradient, rows));
    for (const std::int64_t row : rows) {
      const std::size_t r = row;
      into.value[r] = from.value[r];
    }
  }

  Ball ball_;
  std::size_t steps_, starts_, targets_;
  double rising_;
  bool ratio_;
};

}  // namespace

AttackInfo apgd_attack() {
  return {.name = "apgd",
          .summary = "Auto-PGD: projected ascent with momentum that chooses its steps itself",
          .definition =
              "From a point uniform in the ball, with steps of 2 eps at first: z = P(x + step d), x' = P(x + "
              "0.75 (z "
              "- x) + 0.25 (x - x before)), d the steepest direction of the loss, P the projection to ball "
              "and range. "
              "After 0.22, 0.41, 0.57, ... of the steps, where fewer than rho of those since raised the "
              "loss, or the "
              "step was not halved last time and the greatest loss is the same, the step is halved and the "
              "search goes "
              "on from the point of greatest loss. Loss: ce, the cross-entropy; dlr, (max of the other Z - "
              "Z_y) / "
              "(greatest Z - third Z). With `targets` k, one run for each of the k classes t of greatest "
              "clean score: "
              "ce of the target, or dlr (Z_t - Z_y) / (greatest Z - mean of third and fourth). A record that "
              "is adversarial "
              "is done.",
          .limits =
              "A lower bound of what an adversary can do. With fewer classes than the ratio names, dlr is "
              "the plain "
              "difference.",
          .paper =
              "Croce, Hein, Reliable Evaluation of Adversarial Robustness with an Ensemble of Diverse "
              "Parameter-free Attacks, ICML 2020",
          .options = {{"eps", "0.3", "radius of the ball, as a share of the valid range"},
                      {"norm", "linf", "linf or l2"},
                      {"steps", "100", "number of steps"},
                      {"starts", "1", "random points to begin from, for each target"},
                      {"loss", "ce", "ce: cross-entropy; dlr: difference of logits ratio"},
                      {"targets", "0", "classes aimed at, one after the other; 0: any other class"},
                      {"rho", "0.75", "share of steps that must raise the loss"}},
          .severities = {{"eps", 0, true}},
          .make = [](const SpecOptions& options) -> std::unique_ptr<Attack> {
            return std::make_unique<Apgd>(options);
          }};
}

}  // namespace assay::attack
