#include "apps/assay/additions.h"

#include <fmt/format.h>

#include <algorithm>

#include "apps/assay/extensions.h"
#include "apps/assay/inputs.h"
#include "assay/attack/run.h"
#include "assay/data/views.h"
#include "assay/model/model.h"
#include "assay/retraining/hold_out.h"
#include "assay/retraining/vote.h"
#include "assay/support/error.h"

namespace assay::app {
namespace {

namespace fs = std::filesystem;

// "fgsm,fgsm[eps=0.3]" -> (fgsm, fgsm), (fgsm-2, fgsm[eps=0.3]). "none" or nothing: no attacks.
std::vector<std::pair<std::string, Spec>> named_specs(const std::string& text) {
  std::vector<std::pair<std::string, Spec>> named;
  if (text.empty() || text == "none") return named;
  for (const std::string& part : split_specs(text)) {
    Spec spec = parse_spec("attack", part);
    make_attack(spec);
    const auto earlier = std::ranges::count(named, spec.name, [](const auto& entry) { return entry.second.name; });
    named.emplace_back(earlier == 0 ? spec.name : fmt::format("{}-{}", spec.name, earlier + 1), std::move(spec));
  }
  return named;
}

// Attacked records; what a kill leaves unfinished is gone on with.
AttackSummary attacked(const Session& session, const DatasetPtr& data, const Spec& spec, const fs::path& file, AttackOptions options, Progress& progress) {
  options.journal = journal_of(file);
  const AttackSummary made = attack_dataset(session, data, spec, file, options, progress);
  fs::remove(options.journal);
  return made;
}

// Positions of `count` random records, ascending.
std::vector<std::size_t> drawn(std::size_t size, std::size_t count, std::uint64_t seed) { return Rng(seed, {1}).sample(size, std::min(count, size)); }

}  // namespace

void GivenAdditions::declare(CLI::App& app) {
  app.add_option("--add", specs_, "records to add to the training data: findings, attacked records, any labelled data set; may be repeated")->type_name("SPEC");
  app.add_option("--held-out", held_out_, "records of the same kind to judge by, instead of holding out a share of --add")->type_name("SPEC");
  app.add_option("--hold-out", share_, "share of --add that is not trained on but judged by; records with one id stay together")->check(CLI::Range(0.0, 1.0))->capture_default_str();
  app.add_option("--labels", labels_, "labels of the additions: given in their file, or the majority of --voters")->check(CLI::IsMember({"given", "majority"}))->capture_default_str();
  app.add_option("--voters", voters_, "at least three networks that vote on labels; records without a majority are dropped")->type_name("FILE");
}

void GivenAdditions::check() const {
  if (specs_.empty()) fail(Fault::usage, "which records should be added? give --add SPEC (records of `assay attack`, say)");
  const bool majority = labels_ == "majority";
  if (majority && voters_.size() < 3) fail(Fault::usage, "--labels majority needs --voters with at least three networks: two either agree or tie");
  if (!majority && !voters_.empty()) fail(Fault::usage, "--voters only vote with --labels majority");
  if (held_out_.empty() && (share_ <= 0 || share_ >= 1)) fail(Fault::usage, "--hold-out {}: a share between 0 and 1, or --held-out SPEC", share_);
}

std::vector<Session> GivenAdditions::open_voters(Context& context, const DatasetPtr& training) const {
  std::vector<Session> voters;
  for (const std::string& file : voters_) voters.emplace_back(read_model(file), session_options(context, training.get()));
  return voters;
}

DatasetPtr GivenAdditions::labelled(const std::string& spec, const std::vector<Session>& voters, Context& context, Document& document) const {
  const DatasetPtr data = open_dataset(spec);
  if (voters.empty()) {
    if (!data->has_labels() && data->target_width() == 0) fail(Fault::data, "{} has no labels; give --labels majority --voters A B C to have networks vote", data->describe());
    return data;
  }
  const Vote vote = majority_vote(voters, data, context.progress);
  if (vote.dropped > 0) document.notices.push_back(fmt::format("{}: {} of {} records dropped, the networks name no class by majority", data->describe(), vote.dropped, data->size()));
  if (vote.records.empty()) fail(Fault::data, "{}: the networks agree on no record", data->describe());
  return relabelled(selected(data, vote.records), vote.labels);
}

GivenAdditions::Sides GivenAdditions::open(Context& context, const DatasetPtr& training, Document& document) const {
  const std::vector<Session> voters = open_voters(context, training);
  std::vector<DatasetPtr> candidates, held;
  for (const std::string& spec : specs_) {
    const DatasetPtr data = labelled(spec, voters, context, document);
    if (!held_out_.empty()) {
      candidates.push_back(data);
      continue;
    }
    const HoldOut sides = hold_out(*data, share_, context.settings.seed);
    if (sides.kept.empty() || sides.held.empty()) {
      fail(Fault::data, "{}: its {} records cannot be divided; give another --hold-out, or --held-out SPEC", data->describe(), data->size());
    }
    candidates.push_back(selected(data, sides.kept));
    held.push_back(selected(data, sides.held));
  }
  if (!held_out_.empty()) held.push_back(labelled(held_out_, voters, context, document));
  return {joined(std::move(candidates)), joined(std::move(held))};
}

void MadeAdditions::declare(CLI::App& app) {
  app.add_option("--against", against_, "attacks on training records whose results are added instead, in as many records; the first is what 'random' means; none")->type_name("SPEC,...")->capture_default_str();
  app.add_option("--evaluate-on", evaluate_on_, "attacks on the test set (against the network as given) on whose results all are judged; none")->type_name("SPEC,...")->capture_default_str();
  app.add_option("--pool", pool_, "training records that each attack changes; additions are drawn from them")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_flag("--only-successful", only_successful_, "add attacked records only where the attack succeeded");
  app.add_option("--made", folder_, "folder for the records that attacks make")->type_name("FOLDER")->capture_default_str();
}

void MadeAdditions::check() const {
  named_specs(against_);
  named_specs(evaluate_on_);
}

std::string MadeAdditions::reference() const {
  const auto named = named_specs(against_);
  return named.empty() ? "" : named.front().first;
}

std::vector<Condition> MadeAdditions::conditions(const Session& session, const DatasetPtr& training, std::size_t count, Context& context, Document& document) const {
  std::vector<Condition> conditions;
  const auto named = named_specs(against_);
  if (named.empty()) return conditions;
  const DatasetPtr pool = selected(training, drawn(training->size(), pool_, context.settings.seed));
  for (const auto& [name, spec] : named) {
    AttackOptions options{.batch = context.settings.batch, .seed = context.settings.seed};
    options.only_successful = only_successful_;
    const AttackSummary made = attacked(session, pool, spec, fs::path(folder_) / ("training-" + name + ".npz"), options, context.progress);
    if (made.stored < count) {
      fail(Fault::usage, "--against {}: it made {} records out of {}, but {} are to be added; give a larger --pool{}", spec.text(), made.stored, pool->size(), count,
           only_successful_ ? ", or a stronger attack" : "");
    }
    conditions.push_back({name, open_dataset(made.data)});
    document.definitions.push_back({name, fmt::format("training records changed by {}; {} of {} are misclassified", made.spec.text(), made.succeeded, made.attacked),
                                    find_attack(spec.name).paper});
  }
  return conditions;
}

std::vector<EvaluationSet> MadeAdditions::sets(const Session& session, const DatasetPtr& test, Context& context, Document& document) const {
  std::vector<EvaluationSet> sets;
  for (const auto& [name, spec] : named_specs(evaluate_on_)) {
    AttackOptions options{.batch = context.settings.batch, .seed = context.settings.seed};
    options.all = true;
    const AttackSummary made = attacked(session, test, spec, fs::path(folder_) / ("test-" + name + ".npz"), options, context.progress);
    sets.push_back({"test-" + name, open_dataset(made.data)});
    document.definitions.push_back({sets.back().name, fmt::format("all {} test records changed by {} against the network as given", made.stored, made.spec.text()),
                                    find_attack(spec.name).paper});
  }
  return sets;
}

}  // namespace assay::app
