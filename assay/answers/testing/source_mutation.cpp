#include "assay/answers/testing/source_mutation.h"

#include <algorithm>
#include <set>

#include <assay/error.h>
#include <assay/model.h>
#include <assay/task.h>
#include "assay/answers/task.h"
#include "assay/answers/testing/asked_mutants.h"
#include "assay/mutation/source/trained_mutants.h"
#include "assay/results/document.h"
#include "assay/results/testing/killing.h"
#include "assay/results/testing/mutation.h"
#include "assay/results/testing/trained_mutants.h"
#include "assay/support/ranks/ranks.h"

namespace assay::answers {
namespace {

std::vector<DatasetPtr> opened_tests(const SourceStudy& study, const MutationQuestion& question) {
  std::vector<DatasetPtr> tests;
  for (const std::string& spec : question.tests)
    tests.push_back(task::prepared_for(question.task, open_dataset(spec)));
  report::check_baseline(question.conditions, study.program.graph.hash(), tests[0]->hash());
  return tests;
}

// The spec of the task that is named, or that network and training data have.
std::string task_spec(const std::string& named, const Decided& decision) {
  if (!decision.task) return {};
  const std::string described = decision.task->describe();
  return named.empty() ? described.substr(0, described.find(':')) : named;
}

// As the training records are decided.
Decided decided_in_training(const SourceStudy& study, const MutationQuestion& question,
                            const Setting& setting) {
  return decided(question.task, study.session, study.program.training, question.accuracy, setting.batch);
}

// Complete. Throws Error{usage} where no store is named.
mutation::TrainingPlan plan_of(const SourceQuestion& training, const std::string& task,
                               const Decided& decision, const Setting& setting) {
  mutation::TrainingPlan plan = training.plan;
  if (plan.store.empty())
    fail(Fault::usage, "where are trained networks to be kept? {}",
         About{"name a folder", "give {store=FOLDER}"});
  plan.task = task_spec(task, decision);
  plan.session = setting.session;
  if (plan.jobs == 0) plan.jobs = static_cast<std::size_t>(std::max(setting.session.threads, 0));
  if (setting.session.device != "cpu" && plan.command.empty()) plan.jobs = 1;
  return plan;
}

void add_study(report::Document& document, const SourceStudy& study) {
  results::add_provenance(document, study.program.graph, {});
  results::add_network_notices(document, study.session);
  results::add_provenance(document, "training", *study.program.training);
}

void add_tests(report::Document& document, const std::vector<DatasetPtr>& tests) {
  for (std::size_t t = 0; t < tests.size(); ++t)
    results::add_provenance(document, t == 0 ? "test" : fmt::format("test_{}", t + 1), *tests[t]);
}

// With the task by which these records judge.
MutationQuestion judged_by_items(MutationQuestion question, const Session& original,
                                 const DatasetPtr& records, const Setting& setting) {
  question.run.task = decided(question.task, original, records, question.accuracy, setting.batch).task;
  return question;
}

// Notes of each mutant whether the training data kill it.
void mark_killable(const SourceStudy& study, const Session& original,
                   std::vector<mutation::PlannedMutant>& mutants, const MutationQuestion& question,
                   const Setting& setting, Progress& progress) {
  const std::set<std::string> spared = mutation::not_killed(
      original, mutants, study.program.training,
      run_options(judged_by_items(question, original, study.program.training, setting), setting), progress);
  for (mutation::PlannedMutant& mutant : mutants)
    mutant.description.killable = !spared.contains(mutant.description.key());
}

// What the first test set is worth compared with the others, whose states are `others`.
void compare_tests(const mutation::MutationState& first, const std::vector<mutation::MutationState>& others,
                   const MutationQuestion& question, report::Document& document) {
  std::vector<results::ComparedTests> compared{{question.tests[0], mutation::score(first, question.score)}};
  if (report::Table redundant = results::redundant_table(first, compared[0].score); !redundant.rows.empty())
    document.tables.push_back(std::move(redundant));
  for (std::size_t t = 0; t < others.size(); ++t)
    compared.push_back({question.tests[t + 1], mutation::score(others[t], question.score)});
  if (!others.empty()) document.tables.insert(document.tables.begin(), results::compared_table(compared));
}

void tell_idle_in_study(report::Document& document, const mutation::KillingStudy& study) {
  std::vector<mutation::Mutant> mutants;
  for (const mutation::TestedMutant& tested : study.mutants) mutants.push_back(tested.mutant);
  results::tell_idle_operators(document, study.not_applicable, mutants);
}

// Before anything is trained.
void require_margin(const MutationQuestion& question, const Decided& decision, const Dataset& test) {
  require_share(question.run.margin, decision);
  if (!question.run.margin && !decision.task && test.target_width() > 0)
    fail(Fault::usage,
         "the records have regression targets, so {} is needed, by which a mutant's output has to differ to "
         "be killed",
         About{"a margin", "{margin}"});
}

void judge_by_all(const SourceStudy& study, const SourceQuestion& training, const mutation::Drawn& drawn,
                  const MutationQuestion& question, const Setting& setting, Progress& progress,
                  report::Document& document) {
  require_judgeable(question, drawn, study.program.graph);
  const std::vector<DatasetPtr> tests = opened_tests(study, question);
  const Decided decision = decided_in_training(study, question, setting);
  require_margin(question, decision, *tests[0]);
  const mutation::TrainingPlan plan = plan_of(training, question.task, decision, setting);
  const Session original(mutation::train_original(study.program, plan, progress), study.session.options());
  check_state_replaced(question, original, setting);
  add_accuracy(document, question.accuracy, original, tests[0], setting, progress);
  const std::vector<mutation::Mutant> mutants = mutants_of_part(question, drawn);
  mutation::TrainedMutants trained =
      mutation::train_mutants(study.program, study.subject, mutants, plan, progress);
  if (training.killable) mark_killable(study, original, trained.planned, question, setting, progress);
  results::append(document, results::document_of(mutants, trained.trained));
  if (trained.planned.empty() && !mutants.empty()) fail(Fault::data, "none of the mutants could be trained");
  std::vector<mutation::MutationState> others;  // of all test sets but the first
  for (std::size_t t = 1; t < tests.size(); ++t) {
    mutation::RunFigures figures;
    others.push_back(
        mutation::run_mutants(original, trained.planned, tests[t],
                              run_options(judged_by_items(question, original, tests[t], setting), setting),
                              nullptr, figures, progress));
  }
  const mutation::MutationState first =
      judge_mutants(original, trained.planned, drawn, tests[0],
                    judged_by_items(question, original, tests[0], setting), setting, progress, document);
  compare_tests(first, others, question, document);
  document.provenance.emplace_back("trained_hash", original.graph().hash());
  add_tests(document, tests);
}

}  // namespace

report::Document mutate_training(const SourceStudy& study, const SourceQuestion& training,
                                 const MutationQuestion& question, const Setting& setting,
                                 Progress& progress) {
  report::Document document;
  const mutation::Drawn drawn = drawn_mutants(question, setting, [&](const mutation::DrawOptions& options) {
    return mutation::draw_mutants(study.program, study.subject, options);
  });
  results::tell_idle_operators(document, drawn.not_applicable, drawn.mutants);
  switch (question.action) {
    case MutationQuestion::Action::list:
      results::append(document, results::document_of(study.program, study.subject,
                                                     mutants_of_part(question, drawn), drawn.not_applicable));
      break;
    case MutationQuestion::Action::write: {
      const mutation::Mutant& mutant = only_mutant(question, drawn);
      const Decided decision = decided_in_training(study, question, setting);
      const mutation::TrainingPlan plan = plan_of(training, question.task, decision, setting);
      write_onnx(in_form_of_file(mutation::train_mutant(study.program, study.subject, mutant, plan, progress),
                                 question.form),
                 question.out);
      document.headline =
          fmt::format("{}: {}", question.out, mutation::apply(study.program, study.subject, mutant).summary);
      break;
    }
    case MutationQuestion::Action::judge:
      judge_by_all(study, training, drawn, question, setting, progress, document);
      break;
  }
  add_study(document, study);
  return document;
}

report::Document study_training(const SourceStudy& study, const SourceQuestion& training,
                                const MutationQuestion& question, const Setting& setting,
                                Progress& progress) {
  if (question.tests.empty())
    fail(Fault::usage, "which test set is to be judged? give {}", About{"one", "it with {test=SPEC}"});
  const std::vector<DatasetPtr> tests = opened_tests(study, question);
  const Decided decision = decided_in_training(study, question, setting);
  const mutation::KillingStudy found =
      mutation::study_killing(study.program, study.subject, tests,
                              {.operators = question.draw.operators,
                               .places = question.draw.layers,
                               .design = training.design,
                               .seed = setting.seed,
                               .batch = setting.batch,
                               .part = question.part,
                               .parts = question.parts},
                              plan_of(training, question.task, decision, setting), progress);
  ranks().leave_to_first();
  report::Document document =
      results::document_of(found, training.design, study.program.graph.name(), question.tests);
  if (question.parts == 1) tell_idle_in_study(document, found);
  if (question.parts > 1) {
    document.notices.push_back(message(
        "part {} of {}: when all parts have run, {} makes the whole result from the store", question.part,
        question.parts, About{"the same without parts", "the same command without {shard}"}));
  }
  report::apply(question.conditions, document, results::measurements_of(found));
  add_task(document, decision);
  add_study(document, study);
  add_tests(document, tests);
  return document;
}

report::Document store_of_networks(const std::string& folder, const std::string& prune) {
  const mutation::PrunedStore pruned = mutation::prune_store(mutation::TrainedStore(folder), prune);
  report::Document document = results::document_of(folder, pruned.kept);
  if (!prune.empty()) document.facts.push_back(results::count_fact("removed", "removed", pruned.removed));
  return document;
}

}  // namespace assay::answers
