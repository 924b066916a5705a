// Square attack: random search with squares that shrink, by scores alone.

#include <assay/array_math.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include <assay/attack.h>
#include <assay/extend/attack_problem.h>
#include <assay/extend/random.h>
#include "assay/attack/objective.h"
#include "assay/engine/elements.h"

namespace assay::attack {
namespace {

// A record as planes of rows and columns; one axis is a row.
struct Planes {
  std::int64_t channels = 1, rows = 1, columns = 1;
  explicit Planes(const Array& records) {
    const std::int64_t axes = records.rank() - 1;
    if (axes >= 1) columns = records.size(-1);
    if (axes >= 2) rows = records.size(-2);
    for (std::int64_t axis = 1; axis + 2 <= axes; ++axis) channels *= records.size(axis);
  }
  std::size_t at(std::int64_t c, std::int64_t y, std::int64_t x) const {
    return (c * rows + y) * columns + x;
  }
  std::int64_t size() const { return channels * rows * columns; }
};

// The share of a plane that a square covers after so many queries of all.
double share_of(double first, std::size_t query, std::size_t queries) {
  constexpr std::array<double, 9> until{10, 50, 200, 500, 1000, 2000, 4000, 6000, 8000};
  const double scaled = static_cast<double>(query) / queries * 10'000;
  double share = first;
  for (const double bound : until)
    if (scaled > bound) share /= 2;
  return share;
}

class Square final : public Attack {
 public:
  explicit Square(const SpecOptions& options)
      : eps_(options.number("eps", 0)),
        queries_(options.count("queries", 1)),
        first_share_(options.number("first", 0)) {}

  // Records that are adversarial leave.
  Array perturb(const AttackedNetwork& network, const AttackProblem& problem) const override {
    const Array result = problem.inputs.clone();
    Search at{.problem = problem,
              .rows = std::vector<std::int64_t>(problem.keys.size()),
              .best = striped(problem),
              .distance = {}};
    std::iota(at.rows.begin(), at.rows.end(), 0);
    at.distance = distances(network, problem, at.best);
    for (std::size_t query = 1; query < queries_; ++query) {
      let_fooled_go(at, result);
      if (at.rows.empty()) return result;
      const Array tried = with_squares(at.problem, at.best, query);
      const std::vector<double> found = distances(network, at.problem, tried);
      std::vector<std::int64_t> better;
      for (std::size_t i = 0; i < found.size(); ++i) {
        if (!(found[i] < at.distance[i])) continue;
        better.push_back(i);
        at.distance[i] = found[i];
      }
      if (!better.empty()) put(at.best, better, picked(tried, better));
    }
    put(result, at.rows, at.best);
    return result;
  }

 private:
  // The records that still stand.
  struct Search {
    AttackProblem problem;
    std::vector<std::int64_t> rows;  // among all
    Array best;
    std::vector<double> distance;
  };

  static void let_fooled_go(Search& at, const Array& result) {
    std::vector<std::int64_t> fooled, rows, kept, still_open;
    std::vector<double> left;
    for (std::size_t i = 0; i < at.rows.size(); ++i) {
      const bool gone = at.distance[i] < 0;
      (gone ? fooled : kept).push_back(i);
      (gone ? rows : still_open).push_back(at.rows[i]);
      if (!gone) left.push_back(at.distance[i]);
    }
    if (fooled.empty()) return;
    put(result, rows, picked(at.best, fooled));
    at = {at.problem.at(array::tensor(kept)), std::move(still_open), picked(at.best, kept), std::move(left)};
  }

  // How far each record is from being adversarial.
  static std::vector<double> distances(const AttackedNetwork& network, const AttackProblem& problem,
                                       const Array& point) {
    return doubles_of(margin(problem, network.scores(problem, point)));
  }

  // Calls visit(record, its elements, its clean ones, its random stream) on copies in memory.
  template <typename Visit>
  static Array changed(const AttackProblem& problem, const Array& from, std::size_t query, Visit visit) {
    const Planes planes(problem.inputs);
    const Array point = from.to(DType::float32).clone(), clean = in_memory(problem.inputs, DType::float32);
    const std::size_t size = planes.size();
    for (std::size_t row = 0; row < problem.keys.size(); ++row) {
      Rng rng = problem.rng(row, query);
      visit(planes, std::span(point.elements<float>() + row * size, size),
            std::span<const float>(clean.elements<float>() + row * size, size), rng);
    }
    return point;
  }

  float within(float value, float clean) const {
    const auto eps = static_cast<float>(eps_);
    return std::clamp(std::clamp(value, clean - eps, clean + eps), 0.0F, 1.0F);
  }
  float either_way(Rng& rng) const { return static_cast<float>(rng.below(2) == 0 ? -eps_ : eps_); }

  // Every column of every channel at one end of the ball.
  Array striped(const AttackProblem& problem) const {
    return changed(problem, problem.inputs, 0,
                   [&](const Planes& planes, std::span<float> to, std::span<const float> clean, Rng& rng) {
                     for (std::int64_t c = 0; c < planes.channels; ++c) {
                       for (std::int64_t x = 0; x < planes.columns; ++x) {
                         const float change = either_way(rng);
                         for (std::int64_t y = 0; y < planes.rows; ++y) {
                           const std::size_t i = planes.at(c, y, x);
                           to[i] = within(clean[i] + change, clean[i]);
                         }
                       }
                     }
                   });
  }

  // One square of each record, per channel, moved by the ball's width.
  Array with_squares(const AttackProblem& problem, const Array& best, std::size_t query) const {
    const double share = share_of(first_share_, query, queries_);
    return changed(
        problem, best, query,
        [&](const Planes& planes, std::span<float> to, std::span<const float> clean, Rng& rng) {
          const auto side = static_cast<std::int64_t>(std::max(
              1.0, std::round(planes.rows == 1
                                  ? share * planes.columns
                                  : std::sqrt(share * static_cast<double>(planes.rows * planes.columns)))));
          const std::int64_t high = std::min(side, planes.rows), wide = std::min(side, planes.columns);
          const std::int64_t top = rng.below(planes.rows - high + 1),
                             left = rng.below(planes.columns - wide + 1);
          for (std::int64_t c = 0; c < planes.channels; ++c) {
            const float change = 2 * either_way(rng);
            for (std::int64_t y = top; y < top + high; ++y) {
              for (std::int64_t x = left; x < left + wide; ++x) {
                const std::size_t i = planes.at(c, y, x);
                to[i] = within(to[i] + change, clean[i]);
              }
            }
          }
        });
  }

  double eps_;
  std::size_t queries_;
  double first_share_;
};

}  // namespace

AttackInfo square_attack() {
  return {.name = "square",
          .summary = "random search with squares, by scores alone",
          .definition =
              "Begins with columns of +eps or -eps of each channel. A query moves one square of each channel "
              "by +2 eps or -2 eps, clipped to ball and range, and is kept where it lowers Z_y - max of the "
              "other Z. The square covers `first` of a plane to begin with, and half as much after 0.1, 0.5, "
              "2, 5, 10, 20, 40, "
              "60 and 80 % of the queries. A record that is adversarial is done.",
          .limits =
              "Uses no gradients, so masking them does not help; needs many queries. Records with one axis "
              "have windows instead of squares.",
          .paper = "Andriushchenko, Croce, Flammarion, Hein, Square Attack, ECCV 2020",
          .options = {{"eps", "0.3", "radius of the ball (linf), as a share of the valid range"},
                      {"queries", "5000", "most forward passes"},
                      {"first", "0.8", "share of a plane that the first squares cover"}},
          .severities = {{"eps", 0, true}},
          .make = [](const SpecOptions& options) -> std::unique_ptr<Attack> {
            return std::make_unique<Square>(options);
          }};
}

}  // namespace assay::attack
