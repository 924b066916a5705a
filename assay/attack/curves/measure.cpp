#include <assay/robustness.h>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

#include <assay/array_math.h>
#include <assay/error.h>
#include <assay/evaluate.h>
#include <assay/extend/task.h>
#include "assay/attack/attempt.h"
#include "assay/attack/preparation.h"
#include "assay/data/given.h"
#include "assay/engine/elements.h"
#include "assay/engine/shared_walk.h"
#include "assay/support/conditions.h"
#include "assay/support/files/binary.h"
#include "assay/support/files/journal.h"
#include "assay/support/text/so_many.h"
#include "assay/support/text/text.h"

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

Planned planned(const Along& along, bool independent) {
  Planned plan{
      .along = along, .target = "none", .attacks = {}, .drops = !independent && along.nested(), .order = {}};
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

std::size_t severities_of(std::span<const Along> along) {
  return std::accumulate(along.begin(), along.end(), std::size_t{0},
                         [](std::size_t sum, const Along& one) { return sum + one.size(); });
}

using Counts = std::vector<std::uint64_t>;

// What was counted of some records, in a form that travels between ranks.
class Tally {
 public:
  explicit Tally(std::size_t severities) : counts_(2 + 2 * severities) {}

  std::uint64_t& walked() { return counts_[0]; }
  std::uint64_t& clean() { return counts_[1]; }
  // Of a severity among those of all curves.
  std::uint64_t& right(std::size_t severity) { return counts_[2 + 2 * severity]; }
  std::uint64_t& flat(std::size_t severity) { return counts_[3 + 2 * severity]; }
  // Throws std::exception for counts of something else.
  void add(const Counts& more) {
    if (more.size() != counts_.size()) throw std::runtime_error("it counts other severities");
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += more[i];
  }
  const Counts& counts() const { return counts_; }

 private:
  Counts counts_;
};

class Measurement {
 public:
  Measurement(const Session& session, DatasetPtr dataset, std::span<const Along> along,
              const CurveOptions& options)
      : session_(session),
        dataset_(std::move(dataset)),
        options_(options),
        preparation_(session, *dataset_, {options.seed, options.margin, "none", options.task}),
        levels_(options.levels || takes_levels(session, session.first_input(dataset_->facts()))),
        severities_(severities_of(along)),
        all_(severities_) {
    for (const Along& one : along) plans_.push_back(planned(one, options.independent));
  }

  std::vector<DropCurve> run(Progress& progress) {
    if (!options_.journal.empty() && ranks().first()) go_on(progress);
    std::uint64_t walked = all_.walked();
    broadcast(walked);
    std::vector<std::size_t> rest(dataset_->size() - walked);
    std::iota(rest.begin(), rest.end(), walked);
    try {
      count_all(std::move(rest), progress);
    } catch (const Error& error) {
      if (error.fault() != Fault::interrupted || !journal_) throw;
      fail(Fault::interrupted, "{}; the same command goes on from {}", error.message(),
           options_.journal.string());
    }
    return curves();
  }

 private:
  JournalKey journal_key() const {
    JournalKey key("set of drop curves");
    key.add("network", session_.graph().hash())
        .add("data set", dataset_->hash())
        .add("seed", options_.seed)
        .add("storage", levels_ ? "levels" : "float32")
        .add("fate of broken records", options_.independent ? "attacked again" : "nested")
        .add("margin", options_.margin)
        .add("task", options_.task ? options_.task->describe() : "");
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      const Along& along = plans_[i].along;
      key.add(fmt::format("curve {}", i + 1), fmt::format("{} {}={}", whole_spec(along.attack).text(),
                                                          along.option, joined(along.severities, "/")));
    }
    return key;
  }

  // Takes what an earlier run has finished.
  void go_on(Progress& progress) {
    journal_.emplace(options_.journal, journal_key());
    for (const Journal::Entry& entry : journal_->found()) {
      try {
        all_.add(assay::from_bytes(entry.bytes).get<Counts>());
      } catch (const std::exception& error) {
        pass_on_condition();
        journal_->refuse(error.what());
      }
    }
    if (all_.walked() > dataset_->size()) journal_->refuse("it has more records than the data set");
    if (all_.walked() > 0)
      progress.notice(fmt::format("drop curves: going on from {}, {} done", options_.journal.string(),
                                  so_many(all_.walked(), "record")));
  }

  void count_all(std::vector<std::size_t> records, Progress& progress) {
    const std::size_t batch = options_.batch == 0 ? attack_batch(session_) : options_.batch;
    walk_together<Counts>(
        session_, dataset_, {.batch = batch, .stage = "drop curves", .records = std::move(records)}, progress,
        [&](const Batch& some, const Tensors&) { return counted(some).counts(); },
        [&](const Counts& counts) { note(counts); });
  }

  void note(const Counts& counts) {
    if (journal_) {
      journal_->append(fmt::format("after {}", all_.walked()), assay::to_bytes(nlohmann::json(counts)));
      journal_->sync();
    }
    all_.add(counts);
  }

  Tally counted(const Batch& batch) const {
    const array::Recording unrecorded(false);
    const AttackProblem clean = preparation_.problem(batch);
    const std::vector<std::int64_t> right = preparation_.attackable(batch, clean, /*right=*/true);
    Tally tally(severities_);
    tally.walked() = batch.indices.size();
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

  std::vector<DropCurve> curves() {
    std::vector<DropCurve> curves;
    std::vector<Spec> attacks;
    for (const Planned& plan : plans_) attacks.push_back(plan.along.attack);
    const std::vector<std::string> names = names_of(attacks);
    std::size_t at = 0;
    for (const Planned& plan : plans_) {
      DropCurve curve{.name = names[curves.size()],
                      .along = plan.along,
                      .records = dataset_->size(),
                      .clean = all_.clean(),
                      .right = {},
                      .flat = 0};
      for (std::size_t i = 0; i < plan.along.size(); ++i, ++at) {
        curve.right.push_back(all_.right(at));
        curve.flat = std::max<std::size_t>(curve.flat, all_.flat(at));
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
  std::size_t severities_;  // of all curves
  Tally all_;
  std::optional<Journal> journal_;
};

}  // namespace

std::vector<DropCurve> drop_curves(const Session& session, DatasetPtr dataset, std::span<const Along> along,
                                   const CurveOptions& options, Progress& progress) {
  return Measurement(session, given_data(dataset), along, options).run(progress);
}

}  // namespace assay::attack
