#pragma once

// A network trained: a published architecture or one from a file, some units of it to follow hypotheses.

#include <string>
#include <vector>

#include <assay/report.h>
#include <assay/training.h>
#include "assay/answers/setting.h"
#include "assay/engine/preparation/adaptation.h"
#include "assay/training/weights.h"

namespace assay::answers {

struct TrainingQuestion {
  std::string architecture = {};  // as training::build_architecture() reads it; empty: the network in ...
  std::string model = {};         // ... this file
  AdaptOptions adaptation = {};
  std::string task = {};  // spec of a task; empty: the one that network and data have
  training::Recipe recipe = {};
  training::ConstantChoice constants = {};
  DatasetPtr data = {}, validation = {};      // validation may be null
  std::string out = {};                       // where the trained network goes
  std::vector<std::string> specialised = {};  // units, as inspection::parse_specialisation() reads them
  std::vector<std::string> hypotheses = {};   // that they follow
  std::string vocabulary = {}, padding = {};  // as inspection::read_vocabulary() reads them
};

report::Document train(const TrainingQuestion& question, const Setting& setting, Progress& progress);

}  // namespace assay::answers
