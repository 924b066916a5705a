// Fast adaptive boundary attack: the nearest point at which a record is adversarial, by projections onto
// linearised boundaries within the range.

#include <assay/array_math.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include <assay/attack.h>
#include <assay/extend/attack_problem.h>
#include "assay/attack/norms.h"
#include "assay/attack/objective.h"
#include "assay/engine/elements.h"
#include "assay/support/thread_pool.h"

namespace assay::attack {
namespace {

const std::vector<std::string> fab_norms{"linf", "l2"};
constexpr double infinity = std::numeric_limits<double>::infinity();
// How far beyond the boundary the last search ends, as a share of the clean record's lead: farther than
// rounding, which would make the record right again in another program.
constexpr double clearance = 1e-4;

// The sum of term(0), term(1), ...; four at a time, so that none waits for the one before it.
template <typename Term>
double sum_of(std::size_t count, const Term& term) {
  constexpr std::size_t lanes = 4;
  std::array<double, lanes> sums{};
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += term(i + lane);
  for (; i < count; ++i) sums[0] += term(i);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// Of a change, whose elements change(i) gives.
template <typename Change>
double length_of(std::size_t count, Norm norm, const Change& change) {
  if (norm == Norm::l2) return std::sqrt(sum_of(count, [&](std::size_t i) { return change(i) * change(i); }));
  constexpr std::size_t lanes = 4;
  std::array<double, lanes> most{};
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    for (std::size_t lane = 0; lane < lanes; ++lane)
      most[lane] = std::max(most[lane], std::abs(change(i + lane)));
  for (; i < count; ++i) most[0] = std::max(most[0], std::abs(change(i)));
  return *std::ranges::max_element(most);
}

double distance_of(std::span<const float> from, std::span<const float> to, Norm norm) {
  return length_of(from.size(), norm, [&](std::size_t i) { return static_cast<double>(to[i]) - from[i]; });
}

// The shortest change of a point within [0, 1] that brings `gap` + gradient . change to 0, or as near as the
// range allows. An element moves by min(t * rate, what the range leaves it), rate 1 (linf) or its own
// gradient (l2); how much the gap closes is concave in t and of straight pieces, so Newton's steps from 0
// meet it in finitely many. O(elements) each.
class Projection {
 public:
  Projection(std::span<const float> point, std::span<const float> gradient, double gap, Norm norm)
      : gradient_(gradient),
        norm_(norm),
        sign_(gap < 0 ? 1.0 : -1.0),
        size_(point.size()),
        left_(point.size()) {
    for (std::size_t i = 0; i < point.size(); ++i) {
      const double derivative = sign_ * gradient[i];
      size_[i] = std::abs(derivative);
      left_[i] = derivative > 0 ? 1.0 - point[i] : derivative < 0 ? static_cast<double>(point[i]) : 0;
    }
    if (norm == Norm::linf)
      close(std::abs(gap), [](std::size_t) { return 1.0; });
    else
      close(std::abs(gap), [this](std::size_t i) { return size_[i]; });
  }
  double change(std::size_t i) const {
    const double moved = std::min(t_ * (norm_ == Norm::linf ? 1 : size_[i]), left_[i]);
    return sign_ * gradient_[i] > 0 ? moved : -moved;
  }
  double length() const {
    return length_of(size_.size(), norm_, [this](std::size_t i) { return change(i); });
  }

 private:
  static constexpr int most_steps = 100;

  template <typename Rate>
  void close(double wanted, const Rate& rate) {
    for (int step = 0; step < most_steps; ++step) {
      const double t = t_;
      const double closed = sum_of(size_.size(),
                                   [&](std::size_t i) { return size_[i] * std::min(t * rate(i), left_[i]); }),
                   derivative = sum_of(size_.size(), [&](std::size_t i) {
                     return t * rate(i) < left_[i] ? size_[i] * rate(i) : 0.0;
                   });
      if (!(derivative > 0) || !(wanted - closed > 1e-12 * wanted)) break;
      t_ += (wanted - closed) / derivative;
    }
  }

  std::span<const float> gradient_;
  Norm norm_;
  double sign_, t_ = 0;
  std::vector<double> size_, left_;  // of the gradient; how far each element can move
};

constexpr std::string_view anywhere = "any";

class Fab final : public Attack {
 public:
  explicit Fab(const SpecOptions& options)
      : within_(options.text("within") == anywhere ? infinity : options.number("within", 0)),
        norm_(norm_named(options.word("norm", fab_norms))),
        steps_(options.count("steps", 1)),
        targets_(options.count("targets", 1)),
        most_pull_(options.number("alpha", 0)),
        overshoot_(options.number("eta", 0)),
        back_(options.number("beta", 0)) {}

  Array perturb(const AttackedNetwork& network, const AttackProblem& problem) const override {
    Best best{problem.inputs.clone(), std::vector<double>(problem.keys.size(), infinity)};
    const std::int64_t aims = rivals_of(problem, targets_).size(1);
    for (std::int64_t aim = 0; aim < aims; ++aim) {
      std::vector<std::int64_t> open;
      for (std::size_t r = 0; r < best.length.size(); ++r)
        if (within_ == infinity || best.length[r] > within_) open.push_back(r);
      if (open.empty()) break;
      const AttackProblem rest = problem.at(array::tensor(open));
      const Best found = towards(network, rest, rivals_of(rest, targets_).select(1, aim));
      std::vector<std::int64_t> from, to;
      for (std::size_t i = 0; i < open.size(); ++i) {
        const std::size_t r = open[i];
        if (!(found.length[i] < best.length[r])) continue;
        best.length[r] = found.length[i];
        from.push_back(i);
        to.push_back(open[i]);
      }
      if (!to.empty()) put(best.point, to, picked(found.point, from));
    }
    forget_those_beyond(problem, best);
    return best.point;
  }

 private:
  struct Best {
    Array point;
    std::vector<double> length;  // infinity: none was found, the point is the record
  };

  // Of a radius, records that need a longer change are not adversarial yet.
  void forget_those_beyond(const AttackProblem& problem, const Best& best) const {
    std::vector<std::int64_t> beyond;
    for (std::size_t r = 0; r < best.length.size(); ++r) {
      if (best.length[r] > within_) beyond.push_back(r);
    }
    if (!beyond.empty()) put(best.point, beyond, picked(problem.inputs, beyond));
  }

  // [n] how far the class aimed at leads.
  static std::vector<double> leads(const Array& scores, const Array& aims, const Array& labels) {
    const std::vector<float> all = floats_of(scores);
    const std::vector<std::int64_t> aim = numbers(aims), label = numbers(labels);
    const std::int64_t classes = scores.size(1);
    std::vector<double> found;
    for (std::int64_t r = 0; r < scores.size(0); ++r) {
      const auto of = [&](std::int64_t one) { return all[r * classes + one]; };
      const std::size_t place = r;
      found.push_back(of(aim[place]) - of(label[place]));
    }
    return found;
  }

  Best towards(const AttackedNetwork& network, const AttackProblem& problem, const Array& aims) const {
    const Array clean = problem.inputs.to(DType::float32).clone();
    Best best{clean.clone(), std::vector<double>(problem.keys.size(), infinity)};
    const std::array objectives{lead_of(aims, problem.labels)};
    const std::size_t size = clean.count() / std::max<std::int64_t>(1, clean.size(0));
    Array point = clean.clone();
    for (std::size_t step = 0; step < steps_; ++step) {
      const auto found = network.gradients(problem, point, objectives);
      const Array gradient = in_memory(found.gradients[0], DType::float32);
      const std::vector<double> gaps = leads(found.scores, aims, problem.labels);
      split_loop(gaps.size(), 1, [&](std::size_t begin, std::size_t end) {
        for (std::size_t r = begin; r < end; ++r)
          move(row(clean, r, size), row(gradient, r, size), gaps[r], row(point, r, size));
      });
      keep_turned(network, problem, clean, size, point, best);
    }
    search_between(network, problem, aims, clean, size, best);
    return best;
  }

  static std::span<float> row(const Array& records, std::size_t r, std::size_t size) {
    return {records.elements<float>() + r * size, size};
  }

  // Over the boundary from the point and from the record, the record's share bounded.
  void move(std::span<const float> clean, std::span<const float> gradient, double gap,
            std::span<float> point) const {
    const double gap_of_record = gap + sum_of(point.size(), [&](std::size_t i) {
                                   return gradient[i] * (static_cast<double>(clean[i]) - point[i]);
                                 });
    const std::vector<float> here(point.begin(), point.end());
    const Projection from_point(here, gradient, gap, norm_),
        from_record(clean, gradient, gap_of_record, norm_);
    const double near = from_point.length(), far = from_record.length();
    const double pull = near + far > 0 ? std::min(near / (near + far), most_pull_) : 0;
    for (std::size_t i = 0; i < point.size(); ++i) {
      const double next = (1 - pull) * (here[i] + overshoot_ * from_point.change(i)) +
                          pull * (clean[i] + overshoot_ * from_record.change(i));
      point[i] = static_cast<float>(std::clamp(next, 0.0, 1.0));
    }
  }

  // Adversarial points are kept where they are nearer, and go back towards it.
  void keep_turned(const AttackedNetwork& network, const AttackProblem& problem, const Array& clean,
                   std::size_t size, const Array& point, Best& best) const {
    const std::vector<bool> won = clearly_turned(problem, network.scores(problem, point));
    for (std::size_t r = 0; r < won.size(); ++r) {
      if (!won[r]) continue;
      const auto at = row(point, r, size);
      const std::span<const float> from = row(clean, r, size);
      if (const double length = distance_of(from, at, norm_); length < best.length[r]) {
        best.length[r] = length;
        std::ranges::copy(at, row(best.point, r, size).begin());
      }
      for (std::size_t i = 0; i < size; ++i)
        at[i] = static_cast<float>((1 - back_) * from[i] + back_ * at[i]);
    }
  }

  static std::vector<bool> clearly_turned(const AttackProblem& problem, const Array& scores) {
    std::vector<bool> won = truths_of(AttackedNetwork::won(problem, scores));
    const std::vector<double> clean = doubles_of(margin(problem, problem.scores)),
                              found = doubles_of(margin(problem, scores));
    for (std::size_t r = 0; r < won.size(); ++r) won[r] = won[r] && found[r] <= -clearance / 2 * clean[r];
    return won;
  }

  // Three times along the line from the record, where a straight lead would be just above 0.
  void search_between(const AttackedNetwork& network, const AttackProblem& problem, const Array& aims,
                      const Array& clean, std::size_t size, Best& best) const {
    Array low = clean.clone();
    const std::vector<double> lead_clean = leads(problem.scores, aims, problem.labels);
    std::vector<double> lead_low = lead_clean;
    std::vector<double> lead_best = leads(network.scores(problem, best.point), aims, problem.labels);
    for (int round = 0; round < 3; ++round) {
      Array tried = best.point.clone();
      for (std::size_t r = 0; r < lead_best.size(); ++r) {
        const double share = (lead_best[r] + clearance * lead_clean[r]) / (lead_best[r] - lead_low[r]);
        if (!(best.length[r] < infinity) || !(share > 0) || !(share < 1)) continue;
        const auto to = row(tried, r, size), from = row(low, r, size);
        for (std::size_t i = 0; i < size; ++i) to[i] -= static_cast<float>(share) * (to[i] - from[i]);
      }
      const Array scores = network.scores(problem, tried);
      const std::vector<bool> won = clearly_turned(problem, scores);
      const std::vector<double> found = leads(scores, aims, problem.labels);
      for (std::size_t r = 0; r < won.size(); ++r) {
        const auto at = row(tried, r, size);
        const double length = distance_of(row(clean, r, size), at, norm_);
        if (won[r] && length < best.length[r]) {
          best.length[r] = length;
          lead_best[r] = found[r];
          std::ranges::copy(at, row(best.point, r, size).begin());
        } else if (!won[r]) {
          lead_low[r] = found[r];
          std::ranges::copy(at, row(low, r, size).begin());
        }
      }
    }
  }

  double within_;
  Norm norm_;
  std::size_t steps_, targets_;
  double most_pull_, overshoot_, back_;
};

}  // namespace

AttackInfo fab_attack() {
  return {.name = "fab",
          .summary = "fast adaptive boundary attack: the nearest adversarial point",
          .definition =
              "For each of the `targets` classes t of greatest clean score, from x = the record: the "
              "boundary Z_t = Z_y is taken to be straight, and d, d0 are the shortest ways to it within the "
              "range from x and from the record x0. x' = clip((1 - a)(x + eta d) + a (x0 + eta d0)), a = "
              "min(|d| / (|d| + |d0|), alpha). Where x' is adversarial it is kept if it is the nearest so "
              "far, and the search goes on from x0 + beta (x' - x0). At the end three secant steps along the "
              "line to the nearest, to a ten-thousandth of the record's lead beyond the boundary. Records "
              "that need more than `within` stay as they are.",
          .limits = "Lengths are upper bounds of the smallest change. Needs gradients.",
          .paper =
              "Croce, Hein, Minimally Distorted Adversarial Examples with a Fast Adaptive Boundary Attack, "
              "ICML 2020",
          .options = {{"within", std::string(anywhere),
                       "radius beyond which a change is not a success; any: none is"},
                      {"norm", "linf", "linf or l2: what is to be small"},
                      {"steps", "100", "steps for each target"},
                      {"targets", "9", "classes aimed at, one after the other"},
                      {"alpha", "0.1", "greatest share of the way from the record"},
                      {"eta", "1.05", "how far beyond the boundary"},
                      {"beta", "0.9", "share of the way that is left when a search goes back"}},
          .severities = {{"within", 0, true}},
          .make = [](const SpecOptions& options) -> std::unique_ptr<Attack> {
            return std::make_unique<Fab>(options);
          }};
}

}  // namespace assay::attack
