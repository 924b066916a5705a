#pragma once

// What tests say about failures in operation: one question with as many parts as there are inputs.

#include <string>
#include <vector>

#include <assay/adapt.h>
#include <assay/dataset.h>
#include <assay/progress.h>
#include <assay/report.h>
#include "assay/answers/networks/network.h"
#include "assay/answers/setting.h"
#include "assay/report/conditions.h"

namespace assay::answers {

struct ReliabilityQuestion {
  double confidence = 0.95;
  std::size_t candidates = 1;
  std::string domain = {};              // file with shares of values in operation; empty: none
  DatasetPtr calibration = {};          // records that a temperature is fitted to; null: none is
  std::string out = {};                 // file for the network with it; empty: none
  FileForm form = {};                   // of the network in its file
  std::vector<std::string> twins = {};  // files of networks of other training seeds
  ReadingOptions reading = {};          // of these, as of the network
  DatasetPtr training = {};             // null: no leakage, no bound from it
  double near = 0.05;
  report::Conditions conditions = {};
};

report::Document reliability(const Session& session, const DatasetPtr& test,
                             const ReliabilityQuestion& question, const Setting& setting, Progress& progress);

}  // namespace assay::answers
