#include "assay/results/testing/killing.h"

#include <fmt/format.h>

#include <algorithm>

#include "assay/results/document.h"
#include "assay/results/testing/mutation.h"
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
report::Cell average_of(const std::vector<double>& values) {
  if (values.empty()) return {};
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

std::string set_name(std::span<const std::string> tests, std::size_t set) {
  return set == 0 ? "training data" : tests[set - 1];
}

report::Table set_table(const mutation::KillingStudy& study, const mutation::KillDesign& design,
                        std::span<const std::string> tests) {
  report::Table table{"test_sets",
                      "Test sets compared",
                      {{"test", "set"},
                       {"original", "mean of the original", Kind::number, 4},
                       {"score", "mutation score", Kind::percent},
                       {"killed", "killed", Kind::count},
                       {"survived", "survived", Kind::count},
                       {"too_few_runs", "too few runs", Kind::count},
                       {"unstable", "unstable", Kind::count}},
                      {},
                      false};
  for (std::size_t set = 0; set < study.sets; ++set) {
    const KillCounts counts = counts_of(study, set, design.power);
    table.rows.push_back({set_name(tests, set), average_of(study.originals[set]),
                          set == 0 ? report::Cell() : optional_cell(study.scores[set - 1]),
                          report::count_cell(counts.killed), report::count_cell(counts.survived),
                          report::count_cell(counts.too_few_runs), report::count_cell(counts.unstable)});
  }
  return table;
}

report::Table sensitivity_table(const mutation::KillingStudy& study, std::span<const std::string> tests) {
  report::Table table{"mutation_operators",
                      "By operator and test set",
                      {{"operator", "operator"},
                       {"test", "test set"},
                       {"score", "mutation score", Kind::percent},
                       {"boundary", "mildest killed", Kind::number, 4},
                       {"training_boundary", "mildest killed by training data", Kind::number, 4},
                       {"mutants", "mutants", Kind::count},
                       {"killed", "killed", Kind::count},
                       {"by_training", "killed by training data", Kind::count},
                       {"unstable", "unstable", Kind::count},
                       {"too_few_runs", "too few runs", Kind::count}},
                      {},
                      false};
  if (study.operators.empty()) return table;
  for (std::size_t o = 0; o < study.operators[0].size(); ++o) {
    for (std::size_t t = 0; t < study.operators.size(); ++t) {
      const mutation::OperatorKilling& of = study.operators[t][o];
      table.rows.push_back({of.op, tests[t], optional_cell(of.score), optional_cell(of.boundary),
                            optional_cell(of.training_boundary), report::count_cell(of.mutants),
                            report::count_cell(of.killed), report::count_cell(of.by_training),
                            report::count_cell(of.unstable), report::count_cell(of.too_few_runs)});
    }
  }
  return table;
}

std::string remarks_on(const mutation::TestedMutant& mutant, std::size_t set) {
  std::vector<std::string> remarks;
  if (mutant.trivial[set]) remarks.emplace_back("trivial");
  if (mutant.redundant[set]) remarks.emplace_back("redundant");
  return joined(remarks);
}

report::Table verdict_table(const mutation::KillingStudy& study, std::span<const std::string> tests) {
  report::Table table{"mutants",
                      "Mutants",
                      {{"mutant", "mutant"},
                       {"test", "set"},
                       {"status", "status"},
                       {"runs", "runs", Kind::count},
                       {"original", "original", Kind::number, 4},
                       {"value", "mutant's mean", Kind::number, 4},
                       {"effect", "d", Kind::number, 3},
                       {"upper", "d at most (95 %)", Kind::number, 3},
                       {"p", "p", Kind::number, 4},
                       {"level", "level", Kind::number, 4},
                       {"power", "power", Kind::number, 3},
                       {"runs_needed", "runs needed", Kind::count},
                       {"remarks", "remarks"},
                       {"summary", "what was changed"}},
                      {},
                      true};
  for (const mutation::TestedMutant& mutant : study.mutants) {
    for (std::size_t set = 0; set < mutant.verdicts.size(); ++set) {
      const mutation::KillVerdict& v = mutant.verdicts[set];
      table.rows.push_back({mutant.mutant.text(), set_name(tests, set), mutation::to_string(v.status),
                            report::count_cell(v.runs), v.original, v.mutant, v.effect, v.upper, v.p, v.level,
                            v.power, report::count_cell(v.runs_needed), remarks_on(mutant, set),
                            mutant.summary});
    }
  }
  return table;
}

report::Table untrained_table(const mutation::KillingStudy& study) {
  report::Table table{
      "not_trained", "Mutants without a network", {{"mutant", "mutant"}, {"reason", "why"}}, {}, false};
  for (const mutation::TestedMutant& mutant : study.mutants)
    if (!mutant.failure.empty()) table.rows.push_back({mutant.mutant.text(), mutant.failure});
  return table;
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
       fmt::format(
           "networks trained with the fault do worse on the set than networks trained without it: p of {} "
           "below the level of the look, and Cohen's d of at least {}",
           test_name(design.test), design.effect),
       paper},
      {"survived",
       fmt::format("the 95 % upper limit of d is below {}: more runs would not kill it", design.effect),
       "docs/source-mutation.md"},
      {"too few runs",
       fmt::format(
           "neither after the last look; runs needed are those that give the power {} at this effect, or "
           "at the effect size if that is larger",
           design.power),
       "docs/source-mutation.md"},
      {"level",
       fmt::format(
           "one looks after {} trainings of original and mutant each; the levels of p are such that a "
           "mutant without effect is below one of them with probability {}",
           joined(looks), design.alpha),
       "Lan, DeMets, Biometrika 1983"},
      {"mutation score",
       "mean over operators without an unstable mutant. Of an operator whose option is sought: (extreme - "
       "mildest "
       "value killed by the test set) / (extreme - mildest value killed by the training data); of others the "
       "share "
       "killed of the mutants that the training data kill with the power asked for. Operators that the "
       "training "
       "data do not kill are left out",
       paper},
      {"unstable",
       fmt::format("killed with a power below {}; of an operator: mutants that its score rests on (where an "
                   "option is sought, that at the mildest value killed)",
                   design.power),
       paper},
      {"trivial, redundant",
       "a record kills a mutant when most networks trained without the fault get it right and most trained "
       "with it "
       "wrong. Trivial: 90 % of the records that the former get right kill it. Redundant: the records that "
       "kill "
       "it contain all that kill another mutant of the operator",
       "docs/algorithms/statistical-killing.md"},
  };
}

report::Measurement share(const std::string& criterion, double value, std::string covered,
                          std::string coverable) {
  report::Measurement m;
  m.criterion = criterion;
  m.covered = std::move(covered);
  m.coverable = std::move(coverable);
  m.value = value;
  return m;
}

}  // namespace

std::vector<report::Measurement> measurements_of(const mutation::KillingStudy& study) {
  std::vector<report::Measurement> measurements;
  if (!study.scores.empty() && study.scores[0])
    measurements.push_back(share("mutation", *study.scores[0], {}, {}));
  std::size_t killed = 0, counted = 0;
  for (const mutation::TestedMutant& mutant : study.mutants) {
    if (mutant.verdicts.size() < 2) continue;
    ++counted;
    killed += mutant.verdicts[1].status == mutation::KillStatus::killed;
  }
  if (counted > 0)
    measurements.push_back(share("killed-mutants", static_cast<double>(killed) / static_cast<double>(counted),
                                 std::to_string(killed), std::to_string(counted)));
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
  document.headline = fmt::format("{}: {}; {} of {} mutants killed, {} survived, {} need more runs", network,
                                  score ? "mutation score " + report::percent(*score) : none, counts.killed,
                                  study.mutants.size(), counts.survived, counts.too_few_runs);
  document.facts = {{"mutation_score", "mutation score", optional_cell(score), Kind::percent},
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
  report::Table criteria = report::criteria_table(measurements_of(study));
  criteria.detail = true;
  document.tables.push_back(std::move(criteria));
  document.definitions = study_definitions(design);
  return document;
}

}  // namespace assay::results
