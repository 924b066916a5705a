#include "assay/results/testing/killing.h"

#include <fmt/format.h>

#include <algorithm>

#include "assay/results/document.h"
#include "assay/results/figures.h"
#include "assay/results/testing/mutation.h"
#include "assay/support/numbers/mean.h"
#include "assay/support/text/so_many.h"
#include "assay/support/text/text.h"

namespace assay::results {
namespace {

struct KillCounts {
  std::size_t killed = 0, survived = 0, too_few_runs = 0, unstable = 0;
};

KillCounts counts_of(const mutation::KillingStudy& study, std::size_t set, double power) {
  KillCounts counts;
  for (const mutation::TestedMutant& mutant : study.mutants) {
    if (mutant.verdicts.empty()) continue;
    const mutation::KillVerdict& verdict = mutant.verdicts[set];
    counts.killed += verdict.status == mutation::KillStatus::killed;
    counts.survived += verdict.status == mutation::KillStatus::survived;
    counts.too_few_runs += verdict.status == mutation::KillStatus::too_few_runs;
    counts.unstable += verdict.status == mutation::KillStatus::killed && !mutation::is_stable(verdict, power);
  }
  return counts;
}

// Nothing where no network of the original has been judged, as in a part of the work without any.
std::optional<double> average_of(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  return mean_of(values);
}

std::string set_name(std::span<const std::string> tests, std::size_t set) {
  return set == 0 ? "training data" : tests[set - 1];
}

report::Table set_table(const mutation::KillingStudy& study, const mutation::KillDesign& design,
                        std::span<const std::string> tests) {
  std::vector<KillCounts> counts;
  for (const std::size_t set : positions(study.sets)) counts.push_back(counts_of(study, set, design.power));
  const auto score = [&](std::size_t set) { return set == 0 ? std::nullopt : study.scores[set - 1]; };
  return table_of(
      "test_sets", "Test sets compared", positions(study.sets),
      {{"test", "set", [&](auto set) { return set_name(tests, set); }},
       {"original", "mean of the original", 4, [&](auto set) { return average_of(study.originals[set]); }},
       {"score", "mutation score", Kind::percent, score},
       {"killed", [&](auto set) { return counts[set].killed; }},
       {"survived", [&](auto set) { return counts[set].survived; }},
       {"too_few_runs", "too few runs", [&](auto set) { return counts[set].too_few_runs; }},
       {"unstable", [&](auto set) { return counts[set].unstable; }}});
}

report::Table sensitivity_table(const mutation::KillingStudy& study, std::span<const std::string> tests) {
  struct Tested {
    const mutation::OperatorKilling& of;
    const std::string& test;
  };
  std::vector<Tested> rows;
  for (std::size_t o = 0; !study.operators.empty() && o < study.operators[0].size(); ++o)
    for (std::size_t t = 0; t < study.operators.size(); ++t)
      rows.push_back({study.operators[t][o], tests[t]});
  return table_of("mutation_operators", "By operator and test set", rows,
                  {{"operator", [](auto& row) { return row.of.op; }},
                   {"test", "test set", [](auto& row) { return row.test; }},
                   {"score", "mutation score", Kind::percent, [](auto& row) { return row.of.score; }},
                   {"boundary", "mildest killed", 4, [](auto& row) { return row.of.boundary; }},
                   {"training_boundary", "mildest killed by training data", 4,
                    [](auto& row) { return row.of.training_boundary; }},
                   {"mutants", [](auto& row) { return row.of.mutants; }},
                   {"killed", [](auto& row) { return row.of.killed; }},
                   {"by_training", "killed by training data", [](auto& row) { return row.of.by_training; }},
                   {"unstable", [](auto& row) { return row.of.unstable; }},
                   {"too_few_runs", "too few runs", [](auto& row) { return row.of.too_few_runs; }}});
}

std::string remarks_on(const mutation::TestedMutant& mutant, std::size_t set) {
  std::vector<std::string> remarks;
  if (mutant.trivial[set]) remarks.emplace_back("trivial");
  if (mutant.redundant[set]) remarks.emplace_back("redundant");
  return joined(remarks);
}

report::Table verdict_table(const mutation::KillingStudy& study, std::span<const std::string> tests) {
  struct Row {
    const mutation::TestedMutant& mutant;
    std::size_t set;
    const mutation::KillVerdict& verdict;
  };
  std::vector<Row> rows;
  for (const mutation::TestedMutant& mutant : study.mutants) {
    for (std::size_t set = 0; set < mutant.verdicts.size(); ++set)
      rows.push_back({mutant, set, mutant.verdicts[set]});
  }
  return detailed(table_of("mutants", "Mutants", rows,
                           {{"mutant", [](auto& row) { return row.mutant.mutant.text(); }},
                            {"test", "set", [&](auto& row) { return set_name(tests, row.set); }},
                            {"status", [](auto& row) { return mutation::to_string(row.verdict.status); }},
                            {"runs", [](auto& row) { return row.verdict.runs; }},
                            {"original", 4, [](auto& row) { return row.verdict.original; }},
                            {"value", "mutant's mean", 4, [](auto& row) { return row.verdict.mutant; }},
                            {"effect", "d", 3, [](auto& row) { return row.verdict.effect; }},
                            {"upper", "d at most (95 %)", 3, [](auto& row) { return row.verdict.upper; }},
                            {"p", 4, [](auto& row) { return row.verdict.p; }},
                            {"level", 4, [](auto& row) { return row.verdict.level; }},
                            {"power", 3, [](auto& row) { return row.verdict.power; }},
                            {"runs_needed", "runs needed", [](auto& row) { return row.verdict.runs_needed; }},
                            {"remarks", [](auto& row) { return remarks_on(row.mutant, row.set); }},
                            {"summary", "what was changed", [](auto& row) { return row.mutant.summary; }}}));
}

report::Table untrained_table(const mutation::KillingStudy& study) {
  const auto failed = [](const mutation::TestedMutant& mutant) { return !mutant.failure.empty(); };
  return table_of("not_trained", "Mutants without a network", study.mutants | std::views::filter(failed),
                  {{"mutant", [](auto& mutant) { return mutant.mutant.text(); }},
                   {"reason", "why", &mutation::TestedMutant::failure}});
}

std::string test_name(mutation::KillTest test) {
  switch (test) {
    case mutation::KillTest::glm:
      return "the Wald test of a Gaussian linear model";
    case mutation::KillTest::t:
      return "Student's t of a linear model";
    case mutation::KillTest::quasi_binomial:
      return "the t test of a quasi-binomial model";
    case mutation::KillTest::wilcoxon:
      break;
  }
  return "Wilcoxon's rank-sum test";
}

std::vector<report::Definition> study_definitions(const mutation::KillDesign& design) {
  static const std::string paper = "Humbatova et al., DeepCrime, ISSTA 2021";
  std::vector<std::string> looks;
  for (const std::size_t runs : design.looks) looks.push_back(std::to_string(runs));
  return {
      {"killed",
       fmt::format("networks trained with the fault do worse on the set than networks trained without it: p "
                   "of {} below the level of the look, and Cohen's d of at least {}",
                   test_name(design.test), design.effect),
       paper},
      {"survived",
       fmt::format("the 95 % upper limit of d is below {}: more runs would not kill it", design.effect),
       "docs/source-mutation.md"},
      {"too few runs",
       fmt::format("neither after the last look; runs needed are those that give the power {} at this "
                   "effect, or at the effect size if that is larger",
                   design.power),
       "docs/source-mutation.md"},
      {"level",
       fmt::format("one looks after {} trainings of original and mutant each; the levels of p are such that "
                   "a mutant without effect is below one of them with probability {}",
                   joined(looks), design.alpha),
       "Lan, DeMets, Biometrika 1983"},
      {"mutation score",
       "mean over operators without an unstable mutant. Of an operator whose option is sought: (extreme - "
       "mildest value killed by the test set) / (extreme - mildest value killed by the training data); of "
       "others the share killed of the mutants that the training data kill with the power asked for. "
       "Operators that the training data do not kill are left out",
       paper},
      {"unstable",
       fmt::format("killed with a power below {}; of an operator: mutants that its score rests on (where an "
                   "option is sought, that at the mildest value killed)",
                   design.power),
       paper},
      {"trivial, redundant",
       "a record kills a mutant when most networks trained without the fault get it right and most trained "
       "with it wrong. Trivial: 90 % of the records that the former get right kill it. Redundant: the "
       "records that kill it contain all that kill another mutant of the operator",
       "docs/algorithms/statistical-killing.md"},
  };
}

}  // namespace

std::vector<report::Measurement> measurements_of(const mutation::KillingStudy& study) {
  std::vector<report::Measurement> measurements;
  if (!study.scores.empty() && study.scores[0])
    measurements.push_back(number_figure("mutation", *study.scores[0]));
  std::size_t killed = 0, counted = 0;
  for (const mutation::TestedMutant& mutant : study.mutants) {
    if (mutant.verdicts.size() < 2) continue;
    ++counted;
    killed += mutant.verdicts[1].status == mutation::KillStatus::killed;
  }
  if (counted > 0) measurements.push_back(counted_figure("killed-mutants", killed, counted));
  return measurements;
}

report::Document document_of(const mutation::KillingStudy& study, const mutation::KillDesign& design,
                             const std::string& network, std::span<const std::string> tests) {
  report::Document document;
  const KillCounts counts = counts_of(study, 1, design.power);
  const std::optional<double>& score = study.scores[0];
  const bool any_score = !study.operators.empty() &&
                         std::ranges::any_of(study.operators[0], [](const mutation::OperatorKilling& of) {
                           return of.score.has_value();
                         });
  const char* const none = any_score ? "no operator has a mutation score without an unstable mutant"
                                     : "no operator has a mutation score";
  document.headline =
      fmt::format("{}: {}; {} of {} killed, {} survived, {} in need of more runs", network,
                  score ? "mutation score " + report::percent(*score) : none, counts.killed,
                  so_many(study.mutants.size(), "mutant"), counts.survived, counts.too_few_runs);
  document.facts = {{"mutation_score", "mutation score", cell_of(score), Kind::percent},
                    count_fact("mutants", "mutants", study.mutants.size()),
                    count_fact("killed", "killed", counts.killed),
                    count_fact("survived", "survived", counts.survived),
                    count_fact("too_few_runs", "need more runs", counts.too_few_runs),
                    count_fact("unstable", "unstable", counts.unstable),
                    count_fact("trained", "networks trained now", study.trained - study.known),
                    count_fact("trained_before", "trained before", study.known)};
  document.tables = {set_table(study, design, tests), sensitivity_table(study, tests)};
  if (report::Table table = untrained_table(study); !table.rows.empty())
    document.tables.push_back(std::move(table));
  document.tables.push_back(verdict_table(study, tests));
  if (!study.not_applicable.empty()) document.tables.push_back(not_applicable_table(study.not_applicable));
  document.tables.push_back(detailed(report::criteria_table(measurements_of(study))));
  document.definitions = study_definitions(design);
  return document;
}

}  // namespace assay::results
