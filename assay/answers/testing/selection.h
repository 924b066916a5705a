#pragma once

// The tests to keep, or to look at first.

#include <string>
#include <vector>

#include <assay/dataset.h>
#include <assay/report.h>
#include "assay/answers/setting.h"
#include "assay/coverage/select.h"

namespace assay::answers {

struct SelectionQuestion {
  std::string task = {};   // spec of a task; empty: the one that network and test data have
  std::string items = {};  // so many of each record are looked at in its place, or all; empty: records
  DatasetPtr test = {};
  // Where the choice compares with training data (coverage::criterion_of()): these, or ...
  DatasetPtr training = {};
  std::string profile = {};              // ... the profile in this file
  std::vector<std::string> layers = {};  // subject layers
  std::string method = "epsilon";        // attribution by which neurons are ranked where a profile is learned
  // File of a coverage state, beyond which the choice is to cover more, by its profile, so that no training
  // data are needed; criteria that need what only the profile's file holds need that as well. Empty: none.
  std::string beyond = {};
  bool any_criterion = false;  // the first one of that state whose items records cover, not options.criterion
  std::string ids = {}, records = {};  // files for the chosen ones in their order; empty: none
  coverage::SelectOptions options = {};
};

report::Document select(const Session& session, const SelectionQuestion& question, const Setting& setting,
                        Progress& progress);

}  // namespace assay::answers
