#include "assay/answers/testing/attack.h"

#include <algorithm>
#include <filesystem>

#include <assay/error.h>
#include <assay/groups.h>
#include <assay/message.h>
#include "assay/answers/task.h"
#include "assay/attack/changes.h"
#include "assay/attack/presets.h"
#include "assay/engine/shared_walk.h"
#include "assay/results/document.h"
#include "assay/results/kept_pairs.h"
#include "assay/results/networks/text_map.h"
#include "assay/results/testing/attack.h"
#include "assay/results/testing/attacked_texts.h"
#include "assay/support/ranks/ranks.h"
#include "assay/task/standing.h"

namespace assay::answers {
namespace {

namespace fs = std::filesystem;

// To attacks that may have one and name none.
void give_tokenizer(Spec& spec, const std::string& tokenizer) {
  if (tokenizer.empty() || spec.options.contains("tokenizer")) return;
  const std::vector<SpecOption>& options = attack::attacks().find(spec.name).options;
  if (std::ranges::find(options, "tokenizer", &SpecOption::name) != options.end())
    spec.options["tokenizer"] = tokenizer;
}

std::vector<Spec> asked_attacks(const AttackQuestion& question) {
  std::vector<Spec> specs;
  if (!question.preset.empty()) {
    for (const std::string& text : attack::presets().find(question.preset).specs)
      specs.push_back(parse_spec("attack", text));
  }
  for (const std::string& text : question.attacks) specs.push_back(parse_spec("attack", text));
  for (Spec& spec : specs) give_tokenizer(spec, question.tokenizer);
  for (const Spec& spec : specs) attack::make_attack(spec);  // wrong options show before any work
  return specs;
}

// Of each attack.
std::vector<fs::path> files_of(const std::vector<Spec>& attacks, const fs::path& folder) {
  std::vector<fs::path> files;
  for (const std::string& name : attack::names_of(attacks)) files.push_back(folder / (name + ".npz"));
  return files;
}

std::vector<Output> outputs_of(const std::vector<Spec>& attacks, const std::string& folder,
                               const std::string& name) {
  Output pictures{name, folder, Output::Kind::folder};
  pictures.members = {"*-[0-9]*.png"};
  std::vector<Output> all{pictures};
  for (const fs::path& file : files_of(attacks, folder)) {
    all.push_back({name, file.string()});
    all.push_back({"the journal of " + name, attack::journal_of(file).string(), Output::Kind::journal});
  }
  return all;
}

attack::ItemGoal goal_of(const AttackQuestion& question, const Decided& decision) {
  using Kind = attack::ItemGoal::Kind;
  if (question.hide.empty() && question.appear.empty()) return {};
  if (!question.hide.empty() && !question.appear.empty())
    fail(Fault::usage, "an attack hides a class or makes one appear; give {} or {}", About{"one", "{hide}"},
         About{"the other", "{appear}"});
  if (!decision.task)
    fail(Fault::usage, "{} is for records with many items; of one class a record give target= of the attack",
         question.hide.empty() ? About{"a class that appears", "{appear}"}
                               : About{"a class that is hidden", "{hide}"});
  const bool hides = !question.hide.empty();
  return {hides ? Kind::hide : Kind::appear,
          task::class_of(*decision.task, hides ? question.hide : question.appear)};
}

// Records on which an attack fooled the network and, where it attacks all that are worth it, those that are
// not; for all ranks.
void leave_out_what_fell(std::set<std::size_t>& fallen, const attack::AttackSummary& summary,
                         const attack::AttackOptions& options, std::size_t records) {
  std::set<std::size_t> standing;
  for (const attack::AttackedRecord& record : summary.records) {
    if (record.success)
      fallen.insert(record.original);
    else
      standing.insert(record.original);
  }
  const auto target = summary.spec.options.find("target");
  const bool any = target == summary.spec.options.end() || target->second == "none";
  for (std::size_t record = 0; any && !options.only_successful && record < records; ++record)
    if (!standing.contains(record)) fallen.insert(record);
  broadcast(fallen);
}

}  // namespace

std::vector<Output> outputs_of(const AttackQuestion& question, const std::string& name) {
  return outputs_of(asked_attacks(question), question.folder, name);
}

std::vector<Output> outputs_of(const std::string& attacks, const std::string& folder,
                               const std::string& name) {
  return outputs_of(attack::parse_attacks(attacks), folder, name);
}

AttackAnswer attack(const Session& session, const DatasetPtr& given, const AttackQuestion& question,
                    const Setting& setting, Progress& progress) {
  const Decided decision = decided(question.task, session, given, question.accuracy, setting.batch);
  const DatasetPtr& data = decision.data;
  results::check_pairs(question.pairs, *data);
  if (question.options.all && data->target_width() > 0)
    fail(Fault::usage,
         "{} has no effect on numbers and items: a record is attacked if there is something to change; leave "
         "it out",
         About{"attacking records that are wrong", "{all}"});
  const std::vector<Spec> attacks = asked_attacks(question);
  const bool together = attack::judges_together(question.preset);
  if (question.standing && together)
    fail(Fault::usage,
         "{} has no effect: the attacks of preset {} always see only what still stands; leave it out",
         About{"attacking what still stands", "{standing}"}, question.preset);
  if (question.standing && attacks.size() < 2)
    fail(Fault::usage, "{} has no effect: there is one attack, and none before it; leave it out",
         About{"attacking what still stands", "{standing}"});
  const std::vector<fs::path> files = files_of(attacks, question.folder);
  attack::AttackOptions options = question.options;
  options.batch = setting.batch;
  options.seed = setting.seed;
  options.task = decision.task;
  require_share(options.margin, decision);
  options.goal = goal_of(question, decision);
  report::Document document;
  add_accuracy(document, question.accuracy, session, data, setting, progress);
  std::vector<attack::AttackSummary> summaries;
  for (std::size_t i = 0; i < attacks.size(); ++i) {
    options.journal = attack::journal_of(files[i]);
    summaries.push_back(attack::attack_dataset(session, data, attacks[i], files[i], options, progress));
    if (question.standing || together)
      leave_out_what_fell(options.left_out, summaries.back(), options, data->size());
  }
  ranks().leave_to_first();
  for (const attack::AttackSummary& summary : summaries) fs::remove(attack::journal_of(summary.file));
  results::append(document, results::document_of(summaries, options, session.graph(), *data));
  if (question.standing || together)
    document.definitions.push_back(
        {"records that still stand",
         "each attack sees those that no earlier attack fooled, so its rate is of these",
         "docs/algorithms/attacks.md"});
  add_task(document, decision);
  if (decision.task)
    document.facts.push_back(
        {"goal", "an attack succeeds where", attack::goal_in_words(options, *decision.task)});
  const std::vector<groups::Group> groups = groups::groups_of(*data);
  const results::KeptGroups kept =
      results::kept_groups(groups, results::by_group(summaries, options, *data, groups), question.pairs);
  results::add_groups(document, *data, kept.groups, kept.figures);
  if (!kept.figures.empty()) results::tell_left_out(document, groups, question.pairs);
  if (!groups.empty() && options.only_successful)
    document.notices.emplace_back(
        message("nothing is said by characteristic: which records an attack failed on is not stored{}",
                About{"", "; leave out {only-successful}"}));
  const bool texts = results::is_text(*data);
  for (const attack::AttackSummary& summary : summaries) {
    if (texts && !question.tokenizer.empty())
      results::add_attacked_texts(document, summary, *data, question.tokenizer, question.texts);
    else
      results::show_attacked(document, summary, session, *data, options,
                             texts ? question.texts : question.pictures, question.folder);
  }
  results::add_provenance(document, session, {{"data", data}});
  return {std::move(document), summaries.front().levels};
}

}  // namespace assay::answers
