// Saliency maps: pairs of features, one after the other, driven to the end of the range.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include <assay/attack.h>
#include <assay/error.h>
#include <assay/extend/attack_problem.h>
#include "assay/attack/attacks/pair_search.h"
#include "assay/attack/objective.h"
#include "assay/attack/outputs_of_rows.h"
#include "assay/engine/elements.h"
#include "assay/engine/threads/workers.h"
#include "assay/support/threads.h"

namespace assay::attack {
namespace {

using Pair = std::optional<std::pair<std::size_t, std::size_t>>;

class Jsma final : public Attack {
 public:
  explicit Jsma(const SpecOptions& options)
      : theta_(options.number("theta")), gamma_(options.number("gamma", 0)) {
    if (theta_ == 0) fail(Fault::usage, "attack 'jsma': theta=0 would change nothing");
    if (gamma_ > 1)
      fail(Fault::usage, "attack 'jsma': gamma={} is the share of features that may change, at most 1",
           gamma_);
  }

  Array perturb(const AttackedNetwork& network, const AttackProblem& problem) const override {
    Search rest{problem,
                problem.targeted() ? numbers(problem.targets) : runners_up(problem),
                in_memory(problem.inputs, DType::float32).clone(),
                movable(problem.inputs),
                {}};
    rest.rows.resize(problem.keys.size());
    std::iota(rest.rows.begin(), rest.rows.end(), 0);
    const Array result = rest.points.clone();
    const std::size_t features = rest.features();
    const auto iterations = static_cast<std::size_t>(std::floor(features * gamma_ / 2));
    if (iterations == 0)
      fail(Fault::usage,
           "attack 'jsma': gamma={} of {} features is less than a pair, so nothing would change; give at "
           "least {}",
           gamma_, features, 2.0 / features);
    for (std::size_t i = 0; i < iterations && !rest.rows.empty(); ++i) advance(network, rest, result);
    for (std::size_t row = 0; row < rest.rows.size(); ++row)
      rest.problem.end(row, "all features that may change have changed");
    put(result, rest.rows, rest.points);
    return result;
  }

 private:
  // Records still searched.
  struct Search {
    AttackProblem problem;
    std::vector<std::int64_t> goals;       // [n] class whose score is to grow
    Array points;                          // [n, record...], one after the other
    std::vector<std::uint8_t> admissible;  // [n, features]
    std::vector<std::int64_t> rows;        // [n] where the record is in the batch

    std::size_t features() const { return admissible.size() / std::max<std::size_t>(1, goals.size()); }
  };

  // Features that are not at the end of the range yet.
  std::vector<std::uint8_t> movable(const Array& points) const {
    std::vector<std::uint8_t> can_move;
    for (const float unit : floats_of(points)) can_move.push_back(theta_ > 0 ? unit < 1 : unit > 0);
    return can_move;
  }

  static std::vector<std::int64_t> runners_up(const AttackProblem& problem) {
    const Array others = in_memory(problem.scores, DType::float32).clone();
    const std::vector<std::int64_t> labels = numbers(problem.labels);
    for (std::size_t row = 0; row < labels.size(); ++row) {
      others.elements<float>()[static_cast<std::int64_t>(row) * others.size(1) + labels[row]] =
          -std::numeric_limits<float>::infinity();
    }
    return decisions(others);
  }

  // One pair for every record; those that are done, or can go no further, leave.
  void advance(const AttackedNetwork& network, Search& rest, const Array& result) const {
    const AttackedNetwork::Objective objectives[] = {
        score_of(array::tensor(rest.goals)),
        [](std::size_t, std::span<const float>, std::span<float> gradients) {
          for (float& gradient : gradients) gradient += 1;
        }};
    const auto found = network.gradients(rest.problem, rest.points, objectives);
    const std::vector<bool> won = truths_of(AttackedNetwork::won(rest.problem, found.scores));
    const std::vector<Pair> pairs =
        search(in_memory(found.gradients[0], DType::float32), in_memory(found.gradients[1], DType::float32),
               rest.admissible, won, threads_of(network.session()));
    std::vector<std::int64_t> kept;
    const std::size_t features = rest.features();
    for (std::size_t row = 0; row < pairs.size(); ++row) {
      if (!pairs[row] && !won[row]) rest.problem.end(row, "no admissible pair of features");
      if (!pairs[row]) continue;
      kept.push_back(row);
      for (const std::size_t feature : {pairs[row]->first, pairs[row]->second}) {
        float& unit = rest.points.elements<float>()[row * features + feature];
        unit = std::clamp(unit + static_cast<float>(theta_), 0.0F, 1.0F);
        rest.admissible[row * features + feature] = 0;
      }
    }
    if (kept.size() == pairs.size()) return;
    put(result, rest.rows, rest.points);
    keep(rest, kept);
  }

  // The best pair of every record that has not won, by the gradients of the target's score and of all
  // together.
  std::vector<Pair> search(const Array& target, const Array& all, const std::vector<std::uint8_t>& admissible,
                           const std::vector<bool>& done, std::size_t threads) const {
    std::vector<Pair> pairs(done.size());
    const std::size_t features = admissible.size() / done.size();
    const float sign = theta_ > 0 ? 1.0F : -1.0F;
    const float *const targets = target.elements<float>(), *const sums = all.elements<float>();
    // Above that a record takes longer than it takes threads to meet: most searches are those of the few
    // records that are left.
    constexpr std::size_t worth_workers = 1 << 12;
    std::atomic<std::size_t> next{0};
    run_workers(pairs.size() * features > worth_workers ? threads : 1, [&](std::size_t) {
      std::vector<float> a(features), b(features);
      for (std::size_t row; (row = next.fetch_add(1)) < pairs.size();) {
        if (done[row]) continue;
        const std::size_t at = row * features;
        for (std::size_t i = 0; i < features; ++i) {
          a[i] = targets[at + i] * sign;
          b[i] = sums[at + i] * sign - a[i];
        }
        pairs[row] = best_pair(a, b, std::span(admissible).subspan(at, features));
      }
    });
    return pairs;
  }

  static std::size_t threads_of(const Session& session) {
    return session.options().threads > 0 ? static_cast<std::size_t>(session.options().threads)
                                         : available_threads();
  }

  static void keep(Search& rest, const std::vector<std::int64_t>& kept) {
    const std::size_t features = rest.features();
    std::vector<std::uint8_t> admissible;
    std::vector<std::int64_t> goals, rows;
    for (const std::int64_t row : kept) {
      const auto begin = rest.admissible.begin() + row * static_cast<std::ptrdiff_t>(features);
      admissible.insert(admissible.end(), begin, begin + features);
      goals.push_back(rest.goals[row]);
      rows.push_back(rest.rows[row]);
    }
    rest.problem = rest.problem.at(array::tensor(kept));
    rest.points = picked(rest.points, kept);
    rest.admissible = std::move(admissible);
    rest.goals = std::move(goals);
    rest.rows = std::move(rows);
  }

  double theta_, gamma_;
};

}  // namespace

AttackInfo jsma_attack() {
  return {
      .name = "jsma",
      .summary = "Jacobian-based saliency maps: few features, moved as far as they go",
      .definition =
          "Features that are not at the end of the range may change, each once. As long as the target is not "
          "reached and at most floor(features * gamma / 2) times: of the pairs with A = sum of dZ_t/dx > 0 "
          "and B = sum over the other classes of dZ_j/dx < 0, the one with the greatest -A * B moves by "
          "theta and is clipped (with theta < 0: the signs the other way round). Without a target, "
          "the class with the second greatest score is aimed at and any other class will do.",
      .limits =
          "Finds changes that are few but large. A search ends where no pair helps the target and hinders "
          "the others together.",
      .paper = "Papernot et al., The Limitations of Deep Learning in Adversarial Settings, EuroS&P 2016",
      .options = {{"theta", "1",
                   "change of a feature, as a share of the valid range; below 0 features are lowered"},
                  {"gamma", "1", "share of the features that may change"}},
      .severities = {{"gamma"}},
      .target = "random",
      .make = [](const SpecOptions& options) -> std::unique_ptr<Attack> {
        return std::make_unique<Jsma>(options);
      }};
}

}  // namespace assay::attack
