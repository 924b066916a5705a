#include <assay/robustness.h>

#include <algorithm>
#include <utility>

#include <assay/array_math.h>
#include <assay/error.h>
#include <assay/evaluate.h>
#include "assay/attack/attempt.h"
#include "assay/attack/preparation.h"
#include "assay/data/given.h"
#include "assay/engine/elements.h"
#include "assay/engine/shared_walk.h"

namespace assay::attack {
namespace {

// A curve with its attacks, by severity; null where nothing changes.
struct Planned {
  Along along;
  std::string target;
  std::vector<std::shared_ptr<const Attack>> attacks;
  bool drops;                      // who fell is not attacked again
  std::vector<std::size_t> order;  // of the severities, weakest first where records drop out
};

Planned planned(const Along& along, bool nested) {
  Planned plan{
      .along = along, .target = "none", .attacks = {}, .drops = nested && along.nested(), .order = {}};
  for (std::size_t i = 0; i < along.size(); ++i) {
    const Spec spec = along.at(i);
    const Spec whole = whole_spec(spec);
    const auto target = whole.options.find("target");
    if (target != whole.options.end()) plan.target = target->second;
    plan.attacks.push_back(along.changes_nothing(i) ? nullptr : make_attack(spec));
    plan.order.push_back(i);
  }
  require_target(plan.target);
  if (plan.drops && along.severity(0) > along.severity(1)) std::ranges::reverse(plan.order);
  return plan;
}

// What was counted of some records, in a form that travels between ranks.
class Tally {
 public:
  explicit Tally(std::size_t severities) : counts_(1 + 2 * severities) {}
  explicit Tally(std::vector<std::uint64_t> counts) : counts_(std::move(counts)) {}

  std::uint64_t& clean() { return counts_[0]; }
  // Of a severity among those of all curves.
  std::uint64_t& right(std::size_t severity) { return counts_[1 + 2 * severity]; }
  std::uint64_t& flat(std::size_t severity) { return counts_[2 + 2 * severity]; }
  void add(const std::vector<std::uint64_t>& more) {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += more.at(i);
  }
  const std::vector<std::uint64_t>& counts() const { return counts_; }

 private:
  std::vector<std::uint64_t> counts_;
};

class Measurement {
 public:
  Measurement(const Session& session, DatasetPtr dataset, std::span<const Along> along,
              const CurveOptions& options)
      : session_(session),
        dataset_(std::move(dataset)),
        options_(options),
        preparation_(session, *dataset_, {options.seed, options.margin, "none", options.task}),
        levels_(options.levels || takes_levels(session, session.first_input(dataset_->facts()))) {
    for (const Along& one : along) plans_.push_back(planned(one, options.nested));
    for (const Planned& plan : plans_) severities_ += plan.along.size();
  }

  std::vector<DropCurve> run(Progress& progress) const {
    Tally all(severities_);
    const std::size_t batch = options_.batch == 0 ? attack_batch(session_) : options_.batch;
    walk_together<std::vector<std::uint64_t>>(
        session_, dataset_, {.batch = batch, .stage = "drop curves"}, progress,
        [&](const Batch& records, const Tensors&) { return counted(records).counts(); },
        [&](const std::vector<std::uint64_t>& more) { all.add(more); });
    return curves(all);
  }

 private:
  Tally counted(const Batch& batch) const {
    const array::Recording unrecorded(false);
    const AttackProblem clean = preparation_.problem(batch);
    const std::vector<std::int64_t> right = preparation_.attackable(batch, clean, /*right=*/true);
    Tally tally(severities_);
    tally.clean() = right.size();
    std::size_t first = 0;
    for (const Planned& plan : plans_) {
      for (std::size_t i = 0; i < plan.along.size(); ++i) tally.right(first + i) = right.size();
      if (!right.empty()) count(plan, batch, preparation_.aimed(clean, plan.target), first, tally);
      first += plan.along.size();
    }
    return tally;
  }

  // Takes those that fall away from the right ones.
  void count(const Planned& plan, const Batch& batch, const AttackProblem& problem, std::size_t first,
             Tally& tally) const {
    std::vector<std::int64_t> standing = preparation_.attackable(batch, problem, /*right=*/true);
    const std::size_t attacked = standing.size();
    for (const std::size_t i : plan.order) {
      check_interrupt();
      if (plan.attacks[i] == nullptr) continue;
      std::vector<std::int64_t> stayed =
          standing.empty() ? standing
                           : those_that_stay(plan, i, batch, problem, standing, tally.flat(first + i));
      tally.right(first + i) -= attacked - stayed.size();
      if (plan.drops) standing = std::move(stayed);
    }
  }

  std::vector<std::int64_t> those_that_stay(const Planned& plan, std::size_t severity, const Batch& batch,
                                            AttackProblem problem, const std::vector<std::int64_t>& rows,
                                            std::uint64_t& flat) const {
    problem.log = std::make_shared<AttackLog>(problem.places.size());
    auto [chosen, points] =
        attempt(*plan.attacks[severity], plan.along.attack.name, preparation_.network(), problem, rows);
    const Batch changed = preparation_.read_back(batch, rows, chosen, points, levels_);
    const AttackedNetwork& network = preparation_.network();
    const Array scores = network.scores_of(chosen, network.outputs(session_.bind(changed)));
    chosen.targets = {};  // any decision but its own is wrong
    const std::vector<bool> fell = truths_of(AttackedNetwork::won(chosen, scores));
    std::vector<std::int64_t> stayed;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (fell[i]) continue;
      stayed.push_back(rows[i]);
      flat += ending_of(*chosen.log, chosen.places[i]) == no_gradient;
    }
    return stayed;
  }

  std::vector<DropCurve> curves(Tally& all) const {
    std::vector<DropCurve> curves;
    std::vector<Spec> attacks;
    for (const Planned& plan : plans_) attacks.push_back(plan.along.attack);
    const std::vector<std::string> names = names_of(attacks);
    std::size_t at = 0;
    for (const Planned& plan : plans_) {
      DropCurve curve{.name = names[curves.size()],
                      .along = plan.along,
                      .records = dataset_->size(),
                      .clean = all.clean(),
                      .right = {},
                      .flat = 0};
      for (std::size_t i = 0; i < plan.along.size(); ++i, ++at) {
        curve.right.push_back(all.right(at));
        curve.flat = std::max<std::size_t>(curve.flat, all.flat(at));
      }
      curves.push_back(std::move(curve));
    }
    return curves;
  }

  const Session& session_;
  DatasetPtr dataset_;
  const CurveOptions& options_;
  Preparation preparation_;
  bool levels_;
  std::vector<Planned> plans_;
  std::size_t severities_ = 0;  // of all curves
};

}  // namespace

std::vector<DropCurve> drop_curves(const Session& session, DatasetPtr dataset, std::span<const Along> along,
                                   const CurveOptions& options, Progress& progress) {
  return Measurement(session, given_data(dataset), along, options).run(progress);
}

}  // namespace assay::attack
