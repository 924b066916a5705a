// The results of repeated trainings of one mutant.

#include <algorithm>
#include <cmath>

#include <assay/error.h>
#include <assay/statistical_killing.h>
#include "assay/mutation/killing/comparison.h"
#include "assay/mutation/killing/sequential.h"

namespace assay::mutation {

void check_design(const KillDesign& design) {
  if (design.looks.empty() || design.looks.front() < 2)
    fail(Fault::usage, "a statistical test needs at least two trainings of each network");
  if (!std::ranges::is_sorted(design.looks) || std::ranges::adjacent_find(design.looks) != design.looks.end())
    fail(Fault::usage, "numbers of runs to look at must ascend");
  if (!(design.alpha > 0 && design.alpha < 1)) fail(Fault::usage, "alpha {}: between 0 and 1", design.alpha);
  if (!(design.effect >= 0)) fail(Fault::usage, "effect size {}: 0 or more", design.effect);
}

std::vector<double> levels_of(const KillDesign& design) {
  check_design(design);
  std::vector<double> shares;
  for (const std::size_t runs : design.looks)
    shares.push_back(static_cast<double>(runs) / design.looks.back());
  return nominal_levels(design.spending, shares, design.alpha);
}

KillVerdict judge(const KillDesign& design, std::span<const double> levels, std::size_t look,
                  std::span<const double> originals, std::span<const double> mutants, std::size_t records) {
  const std::size_t runs = std::min({design.looks.at(look), originals.size(), mutants.size()});
  const auto a = originals.first(runs), b = mutants.first(runs);
  KillVerdict verdict;
  verdict.runs = runs;
  verdict.original = spread_of(a).mean;
  verdict.mutant = spread_of(b).mean;
  verdict.level = levels[look];
  if (runs < 2) return verdict;
  verdict.effect = design.higher_is_better ? cohens_d(a, b) : cohens_d(b, a);
  verdict.p = p_of(design.test, a, b, records);
  verdict.power = power_of(verdict.effect, 2 * runs, design.alpha);
  verdict.upper = upper_limit(verdict.effect, runs, runs);
  const bool worse = verdict.effect >= design.effect;
  if (worse && verdict.p < verdict.level)
    verdict.status = KillStatus::killed;
  else if (verdict.upper < design.effect)
    verdict.status = KillStatus::survived;
  else
    verdict.status = look + 1 < design.looks.size() ? KillStatus::open : KillStatus::too_few_runs;
  verdict.runs_needed = runs_for_power(std::max(verdict.effect, design.effect), design.power, design.alpha);
  return verdict;
}

std::string to_string(KillStatus status) {
  switch (status) {
    case KillStatus::killed:
      return "killed";
    case KillStatus::survived:
      return "survived";
    case KillStatus::too_few_runs:
      return "too few runs";
    case KillStatus::open:
      break;
  }
  return "open";
}

KillTest kill_test_named(const std::string& name) {
  if (name == "glm") return KillTest::glm;
  if (name == "t") return KillTest::t;
  if (name == "quasi-binomial") return KillTest::quasi_binomial;
  if (name == "wilcoxon") return KillTest::wilcoxon;
  fail(Fault::usage, "no test is named '{}'; there are glm, t, quasi-binomial and wilcoxon", name);
}

Spending spending_named(const std::string& name) {
  if (name == "obrien-fleming") return Spending::obrien_fleming;
  if (name == "pocock") return Spending::pocock;
  if (name == "none") return Spending::none;
  fail(Fault::usage, "no way to spend alpha is named '{}'; there are obrien-fleming, pocock and none", name);
}

}  // namespace assay::mutation
