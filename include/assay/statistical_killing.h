#pragma once

// Killing over repeated trainings: single trainings are noisy, so a mutant counts as killed when networks
// trained with the fault do worse than networks trained without it, by a test and an effect size (Humbatova
// et al., DeepCrime, ISSTA 2021; docs/algorithms/statistical-killing.md).

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <assay/mutation_program.h>

namespace assay::mutation {

enum class KillTest { glm, t, quasi_binomial, wilcoxon };
enum class Spending { obrien_fleming, pocock, none };
// Throw Error{usage}: "glm", "t", "quasi-binomial", "wilcoxon"; "obrien-fleming", "pocock", "none".
KillTest kill_test_named(const std::string& name);
Spending spending_named(const std::string& name);

// When and how verdicts are made.
struct KillDesign {
  KillTest test = KillTest::glm;
  double alpha = 0.05;  // probability that a mutant without effect has a p below a level, over all looks
  double effect = 0.5;  // Cohen's d from which a mutant counts as killed
  double power = 0.8;   // below which a verdict is called unstable
  Spending spending = Spending::obrien_fleming;
  std::vector<std::size_t> looks = {5, 10, 20};  // trainings of original and mutant each at which one looks
  bool higher_is_better = true;                  // the scores are accuracies; else errors
};

// Throws Error{usage}.
void check_design(const KillDesign& design);
// The level of p at each look.
std::vector<double> levels_of(const KillDesign& design);

enum class KillStatus {
  killed,        // p below the level of the look, and d at least the effect size
  survived,      // the 95 % upper limit of d is below the effect size: more runs would not change that
  open,          // more runs may still decide
  too_few_runs,  // neither, and this was the last look
};
std::string to_string(KillStatus status);

struct KillVerdict {
  KillStatus status = KillStatus::open;
  std::size_t runs = 0;             // of original and mutant each
  double original = 0, mutant = 0;  // mean scores
  double p = 1, level = 0;
  double effect = 0, upper = 0;  // Cohen's d, positive where the mutant is worse; its 95 % upper limit
  double power = 0;              // to see an effect as large as this one
  std::size_t runs_needed =
      0;  // for the design's power at this effect, or at the effect size if that is larger
};

// At a look (a position in design.looks). `records`: in the set that was scored, for quasi_binomial. Only the
// first runs of each sample that the look is at are used.
KillVerdict judge(const KillDesign& design, std::span<const double> levels, std::size_t look,
                  std::span<const double> originals, std::span<const double> mutants, std::size_t records);

// The search for the mildest value of a numeric option that is killed: first the extreme, then by halves of
// what lies between a value that is killed and one that is not, until they are a step apart. Values are whole
// steps from the mildest. Takes killing to grow with the change; where it does not, it finds one boundary of
// several.
class BoundarySearch {
 public:
  explicit BoundarySearch(const OptionRange& range);
  std::optional<double> next() const { return next_; }  // to be tried; nothing at the end
  void tell(bool killed);                               // of next()
  std::optional<double> boundary() const;               // the mildest killed value; nothing where none is
  double unkilled() const { return unkilled_; }         // the most extreme value that is not, next to it
  std::size_t tried() const { return tried_; }

 private:
  double rounded(double value) const;

  OptionRange range_;
  double unkilled_, killed_;
  std::optional<double> next_;
  bool found_ = false;
  std::size_t tried_ = 0;
};

// An operator whose option is sought over a range: (extreme - test) / (extreme - training) of the boundaries,
// from 0 to 1. Nothing where the training data kill no value, or the extreme alone:
// the operator is left out.
std::optional<double> range_score(double extreme, std::optional<double> by_training,
                                  std::optional<double> by_test);
// An operator whose mutants are all tried: of those that the training data kill with this power, the share
// that the test set kills; nothing where there are none. REQUIRES as many verdicts in both.
std::optional<double> exhaustive_score(std::span<const KillVerdict> by_training,
                                       std::span<const KillVerdict> by_test, double power);
bool is_stable(const KillVerdict& verdict, double power);

struct OperatorKilling {
  std::string op;
  std::size_t mutants = 0, killed = 0, by_training = 0, unstable = 0, too_few_runs = 0;
  std::optional<double> boundary, training_boundary;  // of operators that are sought over a range
  std::optional<double> score;
};
// Mean over the operators that have a score and no unstable mutant; nothing where there is none.
std::optional<double> overall_score(std::span<const OperatorKilling> operators);

// Mutants whose killing records contain all killing records of another mutant that has some: whoever kills
// the other kills them (subsumption; Ammann, Delamaro and Offutt, ICST 2014). Of equal ones all but the
// first.
std::vector<std::size_t> redundant(const std::vector<std::vector<bool>>& kills);

}  // namespace assay::mutation
