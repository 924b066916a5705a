#pragma once

// Which faults a test set would miss: mutants drawn or named, then listed, written or judged, and reported.

#include <optional>
#include <string>
#include <vector>

#include <assay/adapt.h>
#include <assay/mutation.h>
#include <assay/report.h>
#include "assay/answers/accuracy.h"
#include "assay/answers/setting.h"
#include "assay/report/conditions.h"

namespace assay::answers {

struct MutationQuestion {
  enum class Action { judge, list, write };
  std::string task = {};  // spec of a task; empty: the one that network and data have
  Action action = Action::judge;
  std::vector<std::string> tests = {};       // specs; several for mutants that are trained
  std::vector<mutation::Mutant> named = {};  // these; else they are drawn
  mutation::DrawOptions draw = {};
  std::size_t part = 1, parts = 1;  // of the mutants
  std::string out = {};             // to write: where the mutant goes, ...
  FileForm form = {};               // ... and in which form
  mutation::RunOptions run = {};    // `quality` is that of `score`
  // That kills where it is worse by more than `run.margin`, of tasks of items ("mean-iou"); empty: records
  // kill.
  std::string figure = {};
  // What kills beside decisions, and its bound ("js", "kl[above=0.01]"); empty: nothing. Then mutants are
  // left out by no bound of quality.
  std::string divergence = {};
  mutation::ScoreOptions score = {};
  std::string state = {};   // where results are kept; empty: nowhere
  std::string matrix = {};  // where it is told which record kills which mutant; empty: nowhere
  std::string subset = {};  // where the ids of the fewest records that keep the score go; empty: nowhere
  DeclaredAccuracy accuracy = {};
  report::Conditions conditions = {};
  std::optional<std::size_t> pairs = {};  // of characteristics in the document (results::PairLimit)
};

// Takes the mutants by their texts, or chooses operators as mutation::choose_operators() does.
void choose_mutants(MutationQuestion& question, const std::vector<std::string>& mutants,
                    const std::string& preset, const std::vector<std::string>& operators,
                    std::optional<std::size_t> count);

// Mutants that are edits of a trained network. `test`: what the question names; null: nothing.
report::Document mutate(const Session& session, const DatasetPtr& test, const MutationQuestion& question,
                        const Setting& setting, Progress& progress);

}  // namespace assay::answers
