#include "assay/retraining/additions.h"

#include <fmt/format.h>

#include <algorithm>

#include <assay/error.h>
#include <assay/extend/random.h>
#include <assay/retraining.h>
#include "assay/data/views.h"
#include "assay/support/text/so_many.h"

namespace assay::retraining {
namespace {

namespace fs = std::filesystem;

DatasetPtr with_labels(const DatasetPtr& data, const GivenOptions& options, std::vector<std::string>& notices,
                       Progress& progress) {
  if (options.voters.empty()) {
    if (!data->has_labels() && data->target_width() == 0)
      fail(Fault::data, "{} has no labels; {}", data->describe(),
           About{"have at least three networks vote on them",
                 "give {labels=majority} {voters=A B C} to have networks vote"});
    return data;
  }
  const Vote vote = majority_vote(options.voters, data, options.batch, progress);
  if (vote.dropped > 0)
    notices.push_back(fmt::format("{}: {} of {} records dropped, the networks name no class by majority",
                                  data->describe(), vote.dropped, data->size()));
  if (vote.records.empty()) fail(Fault::data, "{}: the networks agree on no record", data->describe());
  return relabelled(selected(data, vote.records), vote.labels);
}

// Attacked records; what a kill leaves unfinished is continued.
attack::AttackSummary made_by(const Session& session, const DatasetPtr& data, const Spec& spec,
                              const fs::path& file, attack::AttackOptions options, Progress& progress) {
  options.journal = attack::journal_of(file);
  const attack::AttackSummary made = attack::attack_dataset(session, data, spec, file, options, progress);
  fs::remove(options.journal);
  return made;
}

// Says what would give as many: records that the network gets right, a larger pool, more training records.
[[noreturn]] void fail_for_too_few(const attack::AttackSummary& made, const Spec& attack, const Dataset& pool,
                                   const Dataset& training, std::size_t count, bool only_successful) {
  const About additions{"additions by", "{against}"};
  const auto target = made.spec.options.find("target");
  const bool any_target = target == made.spec.options.end() || target->second == "none";
  if (made.attacked == 0 && training.target_width() == 0 && any_target && pool.size() == training.size())
    fail(Fault::data,
         "{} {}: the network gets none of {} of the training data right, and only those are attacked; give "
         "training data of which it gets {} right, or {}",
         additions, attack.text(), so_many(pool.size(), "record"), count,
         About{"additions that are ready", "{add}"});
  const char* const stronger = only_successful ? ", or a stronger attack" : "";
  if (pool.size() < training.size())
    fail(Fault::usage, "{} {}: it made {} out of {}, but {} are to be added; give a larger {}{}", additions,
         attack.text(), so_many(made.stored, "record"), pool.size(), count, About{"pool", "{pool}"},
         stronger);
  fail(Fault::usage,
       "{} {}: it made {} out of all {} training records, but {} are to be added; add fewer{}, give more "
       "training records{}",
       additions, attack.text(), so_many(made.stored, "record"), pool.size(), count, About{"", " ({count})"},
       stronger);
}

}  // namespace

GivenAdditions divide_additions(const std::vector<DatasetPtr>& given, const GivenOptions& options,
                                Progress& progress) {
  GivenAdditions sides;
  std::vector<DatasetPtr> candidates, held;
  for (const DatasetPtr& records : given) {
    const DatasetPtr data = with_labels(records, options, sides.notices, progress);
    if (options.held_out) {
      candidates.push_back(data);
      continue;
    }
    const HoldOut divided = hold_out(*data, options.share, options.seed);
    if (divided.kept.empty() || divided.held.empty())
      fail(Fault::data, "{}: {} cannot be divided; {}, or {}", data->describe(),
           so_many(data->size(), "record"), About{"hold out another share", "give another {hold-out}"},
           About{"give other records to judge by", "{held-out=SPEC}"});
    candidates.push_back(selected(data, divided.kept));
    held.push_back(selected(data, divided.held));
  }
  if (options.held_out) held.push_back(with_labels(options.held_out, options, sides.notices, progress));
  sides.candidates = joined(std::move(candidates));
  sides.held = joined(std::move(held));
  return sides;
}

std::vector<MadeRecords> make_additions(const Session& session, const DatasetPtr& training,
                                        std::span<const Spec> attacks, std::size_t count,
                                        const MadeOptions& options, Progress& progress) {
  std::vector<MadeRecords> all;
  if (attacks.empty()) return all;
  const DatasetPtr pool = selected(
      training, Rng(options.seed, {1}).sample(training->size(), std::min(options.pool, training->size())));
  const std::vector<std::string> names = attack::names_of(attacks);
  for (std::size_t i = 0; i < attacks.size(); ++i) {
    const attack::AttackSummary made =
        made_by(session, pool, attacks[i], options.folder / ("training-" + names[i] + ".npz"),
                {.batch = options.batch,
                 .seed = options.seed,
                 .only_successful = options.only_successful,
                 .task = options.task},
                progress);
    if (made.stored < count)
      fail_for_too_few(made, attacks[i], *pool, *training, count, options.only_successful);
    all.push_back({names[i], made, open_dataset(made.data)});
  }
  return all;
}

std::vector<MadeRecords> make_evaluation_sets(const Session& session, const DatasetPtr& test,
                                              std::span<const Spec> attacks, const MadeOptions& options,
                                              Progress& progress) {
  std::vector<MadeRecords> all;
  const std::vector<std::string> names = attack::names_of(attacks);
  for (std::size_t i = 0; i < attacks.size(); ++i) {
    const std::string name = "test-" + names[i];
    const attack::AttackSummary made =
        made_by(session, test, attacks[i], options.folder / (name + ".npz"),
                {.batch = options.batch, .seed = options.seed, .all = true, .task = options.task}, progress);
    all.push_back({name, made, open_dataset(made.data)});
  }
  return all;
}

}  // namespace assay::retraining
