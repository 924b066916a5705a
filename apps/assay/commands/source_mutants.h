#pragma once

// The part of `assay mutate` that trains: flags that say what is trained, by whom and where it is kept.

#include <string>
#include <vector>

#include <assay/report.h>
#include "apps/assay/inputs.h"
#include "apps/assay/recipe_options.h"
#include "assay/answers/testing/source_mutation.h"

namespace assay::app {

class SourceMutants {
 public:
  void declare(Flags& flags);
  // Where nothing is trained: throws Error{usage} for flags that only matter when something is.
  void refuse_without_training() const;
  // Whether there are training data (which may stand in assay.toml for other commands).
  bool has_records() const { return train_.given(); }

  // Flags without effect are left out of what is recorded: all of them where nothing is trained.
  void leave_out(bool training, EffectiveOptions& effective) const;

  // With records as this task takes them. Throws Error{usage} for flags that contradict each other.
  answers::SourceStudy open(ModelInput& model, const std::string& task, Context& context) const;
  // How mutants are trained; so often as flags say, or `runs`, those of a preset. Throws Error{usage}.
  void settle(const std::vector<std::size_t>& runs);
  const answers::SourceQuestion& question() const { return question_; }
  // Whether original and mutants are trained several times.
  bool repeated() const { return !question_.design.looks.empty(); }
  // What is in the store, without what --prune says.
  report::Document store() const;

 private:
  void refuse_pruning() const;

  DataInput train_{"train", "training records, for operators that change what a network is trained from"};
  DataInput validation_{"validation", "records that validate while training"};
  RecipeOptions recipe_{10};
  std::vector<const CLI::Option*> own_, of_trainer_;
  std::vector<const CLI::Option*> repeated_;  // that matter with --runs only
  std::string architecture_, store_, trainer_data_ = "npz", prune_;
  std::string runs_, kill_test_ = "glm", spending_ = "obrien-fleming";
  answers::SourceQuestion question_;
};

}  // namespace assay::app
