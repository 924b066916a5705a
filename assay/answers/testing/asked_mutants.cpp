#include "assay/answers/testing/asked_mutants.h"

#include <algorithm>
#include <iterator>

#include <assay/audit_pool.h>
#include <assay/error.h>
#include <assay/groups.h>
#include "assay/data/files/records_file.h"
#include "assay/mutation/choice.h"
#include "assay/mutation/kept_run.h"
#include "assay/results/document.h"
#include "assay/results/kept_pairs.h"
#include "assay/results/testing/mutation.h"
#include "assay/support/files/file.h"
#include "assay/support/text/text.h"

namespace assay::answers {
namespace {

// What the records of a group kill together, and each of them on the mean.
std::vector<report::Measurement> add_kills_by_group(const mutation::MutationState& state,
                                                    const mutation::MutationScore& score,
                                                    const MutationQuestion& question, const DatasetPtr& test,
                                                    report::Document& document) {
  const std::vector<groups::Group> groups = groups::groups_of(*test);
  if (groups.empty()) {
    results::add_groups(document, *test, groups, {});
    return {};
  }
  audit::Pool pool;
  pool.classes.resize(test->size());
  audit::add_mutants(pool, state, question.score.quality, test);
  const std::vector<results::FigureByGroup> figures =
      results::kills_by_group(pool.faults.front().rows, score.all.killed + score.all.survived, groups);
  const results::KeptGroups kept = results::kept_groups(groups, figures, question.pairs);
  results::add_groups(document, *test, kept.groups, kept.figures);
  std::vector<report::Measurement> measured;
  for (const results::FigureByGroup& figure : figures)
    std::ranges::move(results::measurements_of(groups, figure), std::back_inserter(measured));
  results::add_group_figures(document, results::kept_figures(measured, groups, question.pairs), "");
  if (!figures.empty()) results::tell_left_out(document, groups, question.pairs);
  return measured;
}

void add_judgement(const mutation::MutationState& state, const mutation::RunFigures& figures,
                   const MutationQuestion& question, const DatasetPtr& test, report::Document& document) {
  const mutation::MutationScore result = mutation::score(state, question.score);
  results::append(document, results::document_of(state, result, question.score, &figures));
  if (!question.matrix.empty())
    write_file(question.matrix, report::to_csv(results::matrix_table(state, result)));
  if (!question.subset.empty()) {
    const selection::Cover subset = mutation::killing_subset(state, result);
    std::string ids;
    for (const std::size_t r : subset.records) ids += id_line(state.records()[r].id) + "\n";
    write_file(question.subset, ids);
    document.facts.push_back(results::subset_fact(subset));
  }
  const std::string records = results::records_hash(state);
  report::check_baseline_records(question.conditions, records, true);
  std::vector<report::Measurement> measured = results::measurements_of(state, result);
  std::ranges::move(add_kills_by_group(state, result, question, test, document),
                    std::back_inserter(measured));
  report::apply(question.conditions, document, measured);
  document.provenance.emplace_back("records_hash", records);
}

}  // namespace

mutation::Drawn drawn_mutants(const MutationQuestion& question, const Setting& setting,
                              const DrawMutants& draw) {
  if (!question.named.empty()) return {.mutants = question.named, .not_applicable = {}};
  mutation::DrawOptions options = question.draw;
  options.seed = setting.seed;
  return draw(options);
}

std::vector<mutation::Mutant> mutants_of_part(const MutationQuestion& question,
                                              const mutation::Drawn& drawn) {
  return mutation::part_of(drawn.mutants, question.part, question.parts);
}

void require_judgeable(const MutationQuestion& question, const mutation::Drawn& drawn, const Graph& network) {
  if (question.tests.empty())
    fail(Fault::usage, "which test set is to be judged? give {}", About{"one", "it with {test=SPEC}"});
  if (!drawn.mutants.empty()) return;
  if (drawn.not_applicable.empty() && !question.draw.layers.empty())
    fail(Fault::usage, "no mutant can be made of '{}': none of the operators has a place at {} {}; leave {}",
         network.name(), About{"layer", "{layer}"}, joined(question.draw.layers),
         About{"this choice out", "it out (`assay mutate list` shows the places)"});
  fail(Fault::usage, "no mutant can be made of '{}'{}", network.name(),
       drawn.not_applicable.empty()
           ? std::string()
           : fmt::format(": {} on {}: {}", drawn.not_applicable[0].op.text(), drawn.not_applicable[0].layer,
                         drawn.not_applicable[0].reason));
}

const mutation::Mutant& only_mutant(const MutationQuestion& question, const mutation::Drawn& drawn) {
  if (question.named.size() != 1 || question.out.empty())
    fail(Fault::usage, "{}",
         About{"one mutant is written into one file: name both",
               "export writes one mutant: name it with {mutant=TEXT} (assay mutate list shows them) and its "
               "file with {out=FILE.onnx}"});
  return drawn.mutants[0];
}

void check_state_replaced(const MutationQuestion& question, const Session& original, const Setting& setting) {
  check_replaced(question.state, "mutants of this network", setting, [&] {
    return mutation::MutationState::read(question.state).model_hash() == original.graph().hash();
  });
}

mutation::RunOptions run_options(const MutationQuestion& question, const Setting& setting) {
  mutation::RunOptions options = question.run;
  options.quality = question.score.quality;
  options.batch = setting.batch;
  return options;
}

mutation::MutationState judge_mutants(const Session& original,
                                      const std::vector<mutation::PlannedMutant>& planned,
                                      const mutation::Drawn& drawn, const DatasetPtr& test,
                                      const MutationQuestion& question, const Setting& setting,
                                      Progress& progress, report::Document& document) {
  results::check_pairs(question.pairs, *test);
  mutation::RunFigures figures;
  mutation::MutationState state =
      mutation::run_kept(original, planned, drawn.not_applicable, test, run_options(question, setting),
                         {question.state, setting.replace}, figures, progress);
  add_judgement(state, figures, question, test, document);
  return state;
}

}  // namespace assay::answers
