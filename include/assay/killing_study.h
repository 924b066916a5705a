#pragma once

// DeepCrime's study of a training program: original and mutants are trained several times, mutants are killed
// by statistics, numeric options are searched for the mildest change that is killed, and several test sets
// are compared (Humbatova et al., DeepCrime, ISSTA 2021; docs/source-mutation.md).

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <assay/source_mutation.h>
#include <assay/statistical_killing.h>

namespace assay::mutation {

struct StudyOptions {
  // An operator whose spec leaves its searched option (ProgramFault::option) open is sought over its range,
  // or tried with all its values; one that gives it is one mutant a place.
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
  std::vector<bool> trivial = {}, redundant = {};  // likewise; see StudyOptions and redundant()
};

struct KillingStudy {
  std::size_t sets = 0;                                 // 1 + test sets
  std::vector<std::vector<double>> originals;           // scores by set and run
  std::vector<TestedMutant> mutants;                    // in the order in which they were asked for
  std::vector<std::vector<OperatorKilling>> operators;  // by test set
  std::vector<std::optional<double>> scores;            // by test set: overall_score()
  std::vector<NotApplicable> not_applicable;
  std::size_t trained = 0, known = 0;  // networks, and those of them that were in the store
};

// Scores are accuracies, or mean squared errors where the data have targets. Mutants are looked at after each
// number of runs of the design, and trained on only where a set could still decide otherwise. All trainings
// have seeds of their own, those of original and mutants differ. What is in the store, scores included, is
// not done again. Throws Error{usage} as draw_mutants() and for no such part, Error{data} when the original
// cannot be trained.
KillingStudy study_killing(const Program& program, const Subject& subject,
                           const std::vector<DatasetPtr>& tests, const StudyOptions& options,
                           const TrainingPlan& plan, Progress& progress);

}  // namespace assay::mutation
