#include "assay/answers/testing/mutation.h"

#include <assay/error.h>
#include <assay/model.h>
#include "assay/answers/task.h"
#include "assay/answers/testing/asked_mutants.h"
#include "assay/mutation/choice.h"
#include "assay/mutation/divergence.h"
#include "assay/results/document.h"
#include "assay/results/testing/figure_mutants.h"
#include "assay/results/testing/mutation.h"
#include "assay/support/ranks/ranks.h"

namespace assay::answers {
namespace {

constexpr std::size_t listed_changes = 20;  // of a mutant that is written

void write_mutant(const mutation::Subject& subject, const mutation::Mutant& mutant,
                  const MutationQuestion& question, report::Document& document) {
  const mutation::Mutation made = mutation::apply(subject, mutant);
  write_onnx(in_form_of_file(made.graph, question.form), question.out);
  results::append(document, results::document_of(made, listed_changes));
  document.headline = fmt::format("{}: {}", question.out, made.summary);
}

void judge_by_figure(const Session& session, const std::vector<mutation::PlannedMutant>& planned,
                     const DatasetPtr& test, const MutationQuestion& question, const Decided& decision,
                     const Setting& setting, Progress& progress, report::Document& document) {
  if (!decision.task)
    fail(Fault::usage, "{} of records with many items, and these have one decision each; leave out {}",
         About{"a figure that kills is", "{figure} is"}, About{"the figure", "{figure}"});
  ranks().leave_to_first();
  const mutation::FigureKilling killing =
      mutation::kill_by_figure(session, planned, test, *decision.task,
                               {question.figure, question.run.margin.value_or(0), setting.batch}, progress);
  results::append(document, results::document_of(killing, session.graph().name()));
  add_task(document, decision);
  report::apply(question.conditions, document, results::measurements_of(killing));
}

void judge_edits(const Session& session, const mutation::Subject& subject,
                 const std::vector<mutation::Mutant>& mutants, const mutation::Drawn& drawn,
                 const DatasetPtr& test, MutationQuestion question, const Setting& setting,
                 Progress& progress, report::Document& document) {
  const Decided decision = decided(question.task, session, test, question.accuracy, setting.batch);
  if (question.figure.empty()) require_share(question.run.margin, decision);
  question.run.task = decision.task;
  if (!question.divergence.empty()) {
    question.run.divergence =
        mutation::divergence_from(question.divergence, session, test, setting.batch, progress);
    question.score.quality = 1;  // a kill is not a wrong answer
  }
  add_accuracy(document, question.accuracy, session, test, setting, progress);
  std::vector<mutation::PlannedMutant> planned;
  for (const mutation::Mutant& mutant : mutants) planned.push_back(mutation::planned(subject, mutant));
  if (!question.figure.empty())
    return judge_by_figure(session, planned, test, question, decision, setting, progress, document);
  judge_mutants(session, planned, drawn, test, question, setting, progress, document);
}

}  // namespace

void choose_mutants(MutationQuestion& question, const std::vector<std::string>& mutants,
                    const std::string& preset, const std::vector<std::string>& operators,
                    std::optional<std::size_t> count) {
  for (const std::string& text : mutants) {
    question.named.push_back(mutation::parse_mutant(text));
    question.draw.operators.emplace_back(question.named.back().op);
  }
  if (mutants.empty()) mutation::choose_operators(question.draw, preset, operators, count);
}

report::Document mutate(const Session& session, const DatasetPtr& given, const MutationQuestion& question,
                        const Setting& setting, Progress& progress) {
  check_state_replaced(question, session, setting);
  const DatasetPtr test = given ? task::prepared_for(question.task, given) : given;
  report::check_baseline(question.conditions, session.graph().hash(), test ? test->hash() : "");
  report::Document document;
  const mutation::Subject subject(session);
  for (const auto& [layer, reason] : subject.left_out())
    document.notices.push_back(fmt::format("layer {} is not mutated: {}", layer, reason));
  const mutation::Drawn drawn = drawn_mutants(question, setting, [&](const mutation::DrawOptions& options) {
    return mutation::draw_mutants(subject, options);
  });
  results::tell_idle_operators(document, drawn.not_applicable, drawn.mutants);
  const std::vector<mutation::Mutant> mutants = mutants_of_part(question, drawn);
  switch (question.action) {
    case MutationQuestion::Action::write:
      write_mutant(subject, only_mutant(question, drawn), question, document);
      break;
    case MutationQuestion::Action::list:
      results::append(document, results::document_of(subject, mutants, drawn.not_applicable));
      break;
    case MutationQuestion::Action::judge: {
      require_judgeable(question, drawn, session.graph());
      judge_edits(session, subject, mutants, drawn, test, question, setting, progress, document);
      break;
    }
  }
  results::add_provenance(document, session, {});
  if (test) results::add_provenance(document, "test", *test);
  return document;
}

}  // namespace assay::answers
