#pragma once

// assay retrain: where additional training records come from.

#include <string>
#include <vector>

#include "apps/assay/command.h"
#include "assay/engine/session.h"
#include "assay/retraining/retraining.h"

namespace assay::app {

// --add, --held-out, --hold-out, --labels, --voters: the records to add, with labels, and those of them to judge by.
class GivenAdditions {
 public:
  void declare(CLI::App& app);
  // Throws Error{usage} for flags that do not fit together, before any work.
  void check() const;

  struct Sides {
    DatasetPtr candidates, held;
  };
  // Notices about dropped ties go to the document.
  Sides open(Context& context, const DatasetPtr& training, Document& document) const;

 private:
  DatasetPtr labelled(const std::string& spec, const std::vector<Session>& voters, Context& context, Document& document) const;
  std::vector<Session> open_voters(Context& context, const DatasetPtr& training) const;

  std::vector<std::string> specs_, voters_;
  std::string held_out_, labels_ = "given";
  double share_ = 0.5;
};

// --against, --pool, --only-successful, --evaluate-on, --made: records made by attacks, to compare with and to judge by.
class MadeAdditions {
 public:
  void declare(CLI::App& app);
  // Throws Error{usage} for attacks that do not exist, before any work.
  void check() const;
  // One condition per attack, named after it, made of training records.
  std::vector<Condition> conditions(const Session& session, const DatasetPtr& training, std::size_t count, Context& context, Document& document) const;
  // The whole test set as each attack changes it.
  std::vector<EvaluationSet> sets(const Session& session, const DatasetPtr& test, Context& context, Document& document) const;
  // The first attack: what others are compared with as random perturbation. Empty when there is none.
  std::string reference() const;

 private:
  std::string against_ = "noise,fgsm", evaluate_on_ = "noise", folder_ = "assay-retrain";
  std::size_t pool_ = 1000;
  bool only_successful_ = false;
};

}  // namespace assay::app
