#include "assay/answers/testing/retraining.h"

#include <optional>
#include <utility>

#include <assay/error.h>
#include <assay/message.h>
#include "assay/answers/networks/network.h"
#include "assay/answers/task.h"
#include "assay/results/document.h"
#include "assay/results/testing/retraining.h"
#include "assay/results/warnings.h"
#include "assay/retraining/study.h"
#include "assay/task/threshold.h"

namespace assay::answers {
namespace {

std::vector<Spec> attacks_or_none(const std::string& text) {
  return text.empty() || text == "none" ? std::vector<Spec>() : attack::parse_attacks(text);
}

retraining::GivenAdditions given_additions(const RetrainingQuestion& question, const Setting& setting,
                                           Progress& progress, report::Document& document) {
  std::vector<Session> voters;
  std::size_t batch = setting.batch;
  for (const std::string& file : question.voters) {
    voters.push_back(open_network(file, {.adaptation = {.threshold = task::threshold_of(question.task)}},
                                  setting, question.training.get(), progress));
    std::vector<report::Warning> influences =
        results::influence_warnings(voters.back(), question.training.get());
    if (influences.empty()) continue;
    if (setting.batch == 0) {
      batch = 1;
      document.notices.push_back(fmt::format(
          "'{}': records change each other's results, so networks vote on one record at a time", file));
      continue;
    }
    results::add_warnings(document, std::move(influences));
  }
  std::vector<DatasetPtr> given;
  for (const std::string& spec : question.added)
    given.push_back(task::prepared_for(question.task, open_dataset(spec)));
  const DatasetPtr held = question.held_out.empty()
                              ? nullptr
                              : task::prepared_for(question.task, open_dataset(question.held_out));
  constexpr const char* doubt = "networks are judged by what they were trained on";
  for (const DatasetPtr& added : given) {
    if (held && held->hash() == added->hash())
      document.notices.push_back(fmt::format("'{}' is both added and held out: {}", held->describe(), doubt));
    if (question.test->hash() == added->hash())
      document.notices.push_back(
          fmt::format("'{}' is both added and the test set: {}", added->describe(), doubt));
  }
  return retraining::divide_additions(given, {held, question.share, voters, batch, setting.seed}, progress);
}

void add_preparation(report::Document& document, const retraining::Study& study,
                     const retraining::Preparation& prepared) {
  document.notices.insert(document.notices.end(), prepared.notices.begin(), prepared.notices.end());
  if (prepared.raising) results::append(document, results::document_of(*prepared.raising, *study.raising));
  for (const retraining::MadeRecords& records : prepared.additions)
    document.definitions.push_back(results::definition_of(records, true));
  for (const retraining::MadeRecords& records : prepared.evaluation_sets)
    document.definitions.push_back(results::definition_of(records, false));
}

void add_outcome(report::Document& document, const retraining::Preparation& prepared,
                 const retraining::Retraining& result, const report::Conditions& conditions) {
  constexpr const char* control = retraining::control_condition;
  const std::vector<retraining::ConditionScore> scores =
      retraining::compare(prepared.plan, result, control, prepared.reference);
  report::Document found = results::document_of(prepared.plan, result, scores, control, prepared.reference);
  std::swap(document.definitions, found.definitions);  // those of the method before those of this run
  results::append(document, std::move(found));
  report::apply(conditions, document, results::measurements_of(result, scores));
  if (prepared.plan.repeats < 2)
    document.notices.push_back(message("one repeat gives no interval{}", About{"", "; use {repeats}"}));
}

}  // namespace

std::filesystem::path retraining_journal(const std::filesystem::path& checkpoint) {
  return checkpoint / "retraining.journal";
}

report::Document retrain(const Session& session, RetrainingQuestion question, const Setting& setting,
                         Progress& progress) {
  const std::vector<Spec> against = attacks_or_none(question.against),
                          judging = attacks_or_none(question.evaluate_on);
  report::check(question.conditions, {"retrained"});
  report::check_baseline(question.conditions, session.graph().hash(), question.test->hash());
  report::Document document;
  const Decided decision = decided(question.task, session, question.test, question.accuracy, setting.batch,
                                   Need::scores, question.training);
  if (decision.task && !question.voters.empty())
    fail(
        Fault::usage,
        "networks vote on the one class of a record, and the task is {}; give the additions with labels, and "
        "leave out {}",
        decision.task->describe(), About{"the voters", "{labels} and {voters}"});
  question.test = decision.data;
  question.training = task::prepared_for(question.task, question.training);
  add_accuracy(document, question.accuracy, session, question.test, setting, progress);
  const retraining::Study study{
      question.test,
      given_additions(question, setting, progress, document),
      question.raising.empty() ? std::nullopt : std::optional(parse_spec("criterion", question.raising)),
      question.layers,
      question.method,
      against,
      judging,
      {question.pool, question.only_successful, question.made, setting.batch, setting.seed, decision.task}};
  retraining::RetrainingPlan plan = std::move(question.plan);
  plan.training = question.training;
  plan.seed = setting.seed;
  plan.batch = setting.batch;
  plan.task = decision.task;
  if (!question.checkpoint.empty()) plan.journal = retraining_journal(question.checkpoint);
  const retraining::Preparation prepared = retraining::prepare(session, study, std::move(plan), progress);
  add_preparation(document, study, prepared);
  const retraining::Retraining result =
      retraining::retrain(session.graph(), prepared.plan, session.options(), progress);
  add_outcome(document, prepared, result, question.conditions);
  add_task(document, decision);
  results::add_provenance(document, session,
                          {{"data", question.training},
                           {"test", question.test},
                           {"added", study.given.candidates},
                           {"held_out", study.given.held}});
  return document;
}

}  // namespace assay::answers
