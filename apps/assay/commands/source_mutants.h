#pragma once

// The part of `assay mutate` that trains: flags that say what is trained, by whom and where it is kept.

#include <optional>
#include <string>
#include <vector>

#include <assay/report.h>
#include <assay/source_mutation.h>
#include <assay/statistical_killing.h>
#include "apps/assay/inputs.h"
#include "apps/assay/recipe_options.h"
#include "assay/mutation/source/trained_mutants.h"

namespace assay::app {

// A program of training, ready to be mutated.
struct SourceStudy {
  mutation::Program program;
  Session session;  // of the program's graph
  mutation::Subject subject{session};
};

class SourceMutants {
 public:
  void declare(Flags& flags);
  std::vector<Output> outputs() const;
  // Where nothing is trained: a notice that training data are not used (which may stand in assay.toml for
  // other commands), and an Error{usage} for flags that only matter when something is.
  void refuse_without_training(report::Document& document) const;

  // Flags without effect are left out of what is recorded: all of them where nothing is trained.
  void leave_out(bool training, EffectiveOptions& effective) const;

  // Throws Error{usage} for flags that contradict each other.
  SourceStudy open(ModelInput& model, Context& context) const;
  // How and where networks are trained. Throws Error{usage} where no store is named.
  mutation::TrainingPlan plan(Context& context) const;
  // Notes of each mutant whether the training data kill it, where that is asked for.
  void mark_killable(const SourceStudy& study, const Session& original,
                     std::vector<mutation::PlannedMutant>& mutants, std::optional<double> margin,
                     Context& context) const;
  // Whether original and mutants are trained several times.
  bool repeated() const { return !design_.looks.empty(); }
  // Takes the runs of a preset where none are given.
  void take_runs(const std::vector<std::size_t>& runs);
  // DeepCrime's study: all sets' verdicts over repeated trainings; of one of several parts of the work.
  mutation::KillingStudy studied(const SourceStudy& study, const std::vector<DatasetPtr>& tests,
                                 const mutation::DrawOptions& draw, std::pair<std::size_t, std::size_t> part,
                                 Context& context) const;
  const mutation::KillDesign& design() const { return design_; }
  // What is in the store, without what --prune says.
  report::Document store() const;

 private:
  void refuse_pruning() const;

  DataInput train_{"train", "training records, for operators that change what a network is trained from"};
  DataInput validation_{"validation", "records that validate while training"};
  RecipeOptions recipe_{10};
  std::vector<const CLI::Option*> own_;
  std::string architecture_, store_, trainer_, trainer_data_ = "npz", prune_;
  double time_limit_ = 0;
  std::size_t jobs_ = 0;
  bool killable_ = false;
  mutation::KillDesign design_{.looks = {}};
  std::string runs_, kill_test_ = "glm", spending_ = "obrien-fleming";
  std::vector<const CLI::Option*> repeated_;  // that matter with --runs only
};

}  // namespace assay::app
