#pragma once

// Whether it helps to train on further records as well: records given and made, networks trained with them,
// and what the repeats say.

#include <filesystem>
#include <string>
#include <vector>

#include <assay/report.h>
#include <assay/retraining.h>
#include "assay/answers/accuracy.h"
#include "assay/answers/setting.h"
#include "assay/report/conditions.h"

namespace assay::answers {

struct RetrainingQuestion {
  std::string task = {};  // spec of a task; empty: the one that network and test data have
  DatasetPtr training = {}, test = {};
  std::vector<std::string> added = {};  // specs of the records that are given
  std::string held_out = {};            // spec of the records to judge by; empty: a share of those given
  double share = 0.5;
  std::vector<std::string> voters = {};  // files of networks that name the labels; none: the data do
  std::string against = "noise,fgsm";    // attacks that make other additions, ...
  std::string evaluate_on = "noise";     // ... and records to judge by; "none": none
  std::size_t pool = 1000;               // training records that each attack changes
  bool only_successful = false;
  std::string made = {};                 // folder for those records
  std::string raising = {};              // criterion of additions that raise coverage; empty: there are none
  std::vector<std::string> layers = {};  // its subject layers
  std::string method = "epsilon";        // attribution by which it ranks neurons
  std::string checkpoint = {};           // folder where finished runs are kept; empty: nowhere
  retraining::RetrainingPlan plan = {};  // recipe, numbers, and where networks go
  DeclaredAccuracy accuracy = {};
  report::Conditions conditions = {};
};

// Where finished runs are noted in the folder.
std::filesystem::path retraining_journal(const std::filesystem::path& checkpoint);

report::Document retrain(const Session& session, RetrainingQuestion question, const Setting& setting,
                         Progress& progress);

}  // namespace assay::answers
