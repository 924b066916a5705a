// Saliency maps: pairs of features, one after the other, driven to the end of the range.

#include <ATen/ATen.h>

#include <atomic>
#include <cmath>
#include <limits>

#include <assay/attack.h>
#include <assay/error.h>
#include <assay/extend/attack_problem.h>
#include "assay/attack/attacks/pair_search.h"
#include "assay/attack/objective.h"
#include "assay/engine/threads/team.h"
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

  Tensor perturb(const AttackedNetwork& network, const AttackProblem& problem) const override {
    const Tensor goals = problem.targeted() ? problem.targets : runner_up(problem);
    Tensor result = problem.inputs.clone();
    Search rest{problem, goals, result.clone(),
                movable(result).flatten(1).to(at::kCPU, at::kByte).contiguous(),
                at::arange(problem.size(), problem.labels.options())};
    const auto iterations =
        static_cast<std::size_t>(std::floor(static_cast<double>(rest.admissible.size(1)) * gamma_ / 2));
    if (iterations == 0)
      fail(
          Fault::usage,
          "attack 'jsma': gamma={} of {} features is no pair, so that nothing would change; give at least {}",
          gamma_, rest.admissible.size(1), 2.0 / static_cast<double>(rest.admissible.size(1)));
    for (std::size_t i = 0; i < iterations && rest.problem.size() > 0; ++i) advance(network, rest, result);
    if (rest.problem.size() > 0) {
      for (std::int64_t row = 0; row < rest.problem.size(); ++row)
        rest.problem.end(static_cast<std::size_t>(row), "all features that may change have changed");
      result.index_copy_(0, rest.rows, rest.points);
    }
    return result;
  }

 private:
  // Records still searched.
  struct Search {
    AttackProblem problem;
    Tensor goals;       // [n] class whose score is to grow
    Tensor points;      // [n, record...]
    Tensor admissible;  // [n, features] bytes on the host
    Tensor rows;        // [n] where the record is in the batch
  };

  // Features that are not at the end of the range yet.
  Tensor movable(const Tensor& points) const { return theta_ > 0 ? points.lt(1) : points.gt(0); }

  static Tensor runner_up(const AttackProblem& problem) {
    return problem.scores.scatter(1, problem.labels.unsqueeze(1), -std::numeric_limits<float>::infinity())
        .argmax(1);
  }

  // One pair for every record; those that are done, or can go no further, leave.
  void advance(const AttackedNetwork& network, Search& rest, Tensor& result) const {
    const AttackedNetwork::Objective objectives[] = {
        score_of(rest.goals), [](std::size_t, std::span<const float>, std::span<float> slopes) {
          for (float& slope : slopes) slope += 1;
        }};
    const auto slopes = network.slopes(rest.problem, rest.points, objectives);
    const auto rows_of = [](const Tensor& slope) { return slope.flatten(1).to(at::kCPU).contiguous(); };
    const Tensor won = AttackedNetwork::won(rest.problem, slopes.scores).to(at::kCPU).contiguous();
    const std::vector<Pair> pairs = search(rows_of(slopes.gradients[0]), rows_of(slopes.gradients[1]),
                                           rest.admissible, won, threads_of(network.session()));
    std::vector<std::int64_t> kept, done;
    const Tensor moved = at::zeros(rest.admissible.sizes(), at::kFloat);
    for (std::size_t row = 0; row < pairs.size(); ++row) {
      (pairs[row] ? kept : done).push_back(static_cast<std::int64_t>(row));
      if (!pairs[row] && !won.data_ptr<bool>()[row]) rest.problem.end(row, "no admissible pair of features");
      if (!pairs[row]) continue;
      for (const std::size_t feature : {pairs[row]->first, pairs[row]->second}) {
        const std::size_t at = row * static_cast<std::size_t>(moved.size(1)) + feature;
        moved.data_ptr<float>()[at] = static_cast<float>(theta_);
        rest.admissible.data_ptr<std::uint8_t>()[at] = 0;
      }
    }
    if (!done.empty()) {
      const Tensor leaving = at::tensor(done, at::kLong).to(rest.rows.device());
      result.index_copy_(0, rest.rows.index_select(0, leaving), rest.points.index_select(0, leaving));
    }
    rest.points = (rest.points + moved.to(rest.points.device()).reshape_as(rest.points)).clamp(0, 1);
    if (!done.empty()) keep(rest, at::tensor(kept, at::kLong));
  }

  // The best pair of every record that has not won, by the slopes of the target's score and of all together.
  std::vector<Pair> search(const Tensor& target, const Tensor& all, const Tensor& admissible,
                           const Tensor& won, std::size_t threads) const {
    std::vector<Pair> pairs(static_cast<std::size_t>(target.size(0)));
    const auto features = static_cast<std::size_t>(target.size(1));
    const float sign = theta_ > 0 ? 1.0F : -1.0F;
    const float *const targets = target.data_ptr<float>(), *const sums = all.data_ptr<float>();
    const std::uint8_t* const mask = admissible.data_ptr<std::uint8_t>();
    const bool* const done = won.data_ptr<bool>();
    // Above that a record takes longer than it takes threads to meet: most searches are those of the few
    // records that are left.
    constexpr std::size_t worth_a_team = 1 << 12;
    std::atomic<std::size_t> next{0};
    run_team(pairs.size() * features > worth_a_team ? threads : 1, [&](std::size_t) {
      std::vector<float> a(features), b(features);
      for (std::size_t row; (row = next.fetch_add(1)) < pairs.size();) {
        if (done[row]) continue;
        const std::size_t at = row * features;
        for (std::size_t i = 0; i < features; ++i) {
          a[i] = targets[at + i] * sign;
          b[i] = sums[at + i] * sign - a[i];
        }
        pairs[row] = best_pair(a, b, {mask + at, features});
      }
    });
    return pairs;
  }

  static std::size_t threads_of(const Session& session) {
    return session.options().threads > 0 ? static_cast<std::size_t>(session.options().threads)
                                         : available_threads();
  }

  static void keep(Search& rest, const Tensor& kept) {
    rest.problem = rest.problem.at(kept);
    rest.admissible = rest.admissible.index_select(0, kept);
    const Tensor index = kept.to(rest.rows.device());
    for (Tensor* tensor : {&rest.goals, &rest.points, &rest.rows}) *tensor = tensor->index_select(0, index);
  }

  double theta_, gamma_;
};

}  // namespace

AttackInfo jsma_attack() {
  return {.name = "jsma",
          .summary = "Jacobian-based saliency maps: few features, moved as far as they go",
          .definition =
              "Features that are not at the end of the range may change, each once. As long as the target is "
              "not reached and at most "
              "floor(features * gamma / 2) times: of the pairs with A = sum of dZ_t/dx > 0 and B = sum over "
              "the other classes of dZ_j/dx < 0, the one "
              "with the greatest -A * B moves by theta and is clipped (with theta < 0: the signs the other "
              "way round). Without a target, "
              "the class with the second greatest score is aimed at and any other class will do.",
          .limits =
              "Finds changes that are few but large. A search ends where no pair helps the target and "
              "hinders the others together.",
          .paper = "Papernot et al., The Limitations of Deep Learning in Adversarial Settings, EuroS&P 2016",
          .options = {{"theta", "1",
                       "change of a feature, as a share of the valid range; below 0 features are lowered"},
                      {"gamma", "1", "share of the features that may change"}},
          .target = "random",
          .make = [](const SpecOptions& options) -> std::unique_ptr<Attack> {
            return std::make_unique<Jsma>(options);
          }};
}

}  // namespace assay::attack
