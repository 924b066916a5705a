#pragma once

// Killing over repeated trainings: single trainings are noisy, so a mutant counts as killed when networks
// trained with the fault do worse than networks trained without it, by a test and an effect size; and the
// study of a training program by it: numeric options are searched for the mildest change that is killed, and
// several test sets are compared (Humbatova et al., DeepCrime, ISSTA 2021;
// docs/algorithms/statistical-killing.md, docs/source-mutation.md).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <assay/source_mutation.h>

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

// Whether the verdict has at least this power.
bool is_stable(const KillVerdict& verdict, double power);

struct OperatorKilling {
  std::string op;
  std::size_t mutants = 0, killed = 0, by_training = 0, unstable = 0, too_few_runs = 0;
  std::optional<double> boundary, training_boundary;  // of operators that are sought over a range
  std::optional<double> score;
};

struct StudyOptions {
  // If an operator's spec does not set its searched option (ProgramFault::option), the option is searched
  // over its range, or tried with all its values. If the spec sets it, there is one mutant a place.
  std::vector<OperatorChoice> operators;
  std::vector<std::string> places = {};  // that may be mutated; empty: all
  KillDesign design = {};                // higher_is_better follows from the test sets
  std::uint64_t seed = 1;
  std::size_t batch = 0;  // for evaluating; 0: chosen by the engine
  double trivial = 0.9;   // killed by at least this share of the records that most originals get right
  // The share of the work: the first of one part is all. Operators at places are dealt out in turn; what the
  // parts leave in one store is the whole study's.
  std::size_t part = 1, parts = 1;
};

// One configuration that was trained several times.
struct TestedMutant {
  Mutant mutant;
  std::string summary;
  std::string failure;                // why it cannot be trained; empty when it can
  std::vector<KillVerdict> verdicts;  // by the training data, then by each test set; empty after a failure
  // Likewise: killed by at least StudyOptions::trivial of the records; killed by all that kill another one.
  std::vector<bool> trivial = {}, redundant = {};
};

struct KillingStudy {
  std::size_t sets = 0;                                 // 1 + test sets
  std::vector<std::vector<double>> originals;           // scores by set and run
  std::vector<TestedMutant> mutants;                    // in the order in which they were requested
  std::vector<std::vector<OperatorKilling>> operators;  // by test set
  std::vector<std::optional<double>> scores;            // by test set: mean over operators
  std::vector<NotApplicable> not_applicable;
  std::size_t trained = 0, known = 0;  // networks, and those of them that were in the store
};

// Scores are accuracies, or mean squared errors where the data have targets. Mutants are looked at after each
// number of runs of the design, and trained on only where a set could still decide otherwise. Each training
// has another seed, also those of original and mutants. What is in the store, scores included, is not done
// again. Throws Error{usage} as draw_mutants() and for no such part, Error{data} when the original cannot be
// trained.
KillingStudy study_killing(const Program& program, const Subject& subject,
                           const std::vector<DatasetPtr>& tests, const StudyOptions& options,
                           const TrainingPlan& plan, Progress& progress);

// Mutants whose killing records contain all killing records of another mutant that has some: killing the
// other always kills them (subsumption; Ammann, Delamaro and Offutt, ICST 2014). Of equal ones all but the
// first.
std::vector<std::size_t> redundant(const std::vector<std::vector<bool>>& kills);

}  // namespace assay::mutation
