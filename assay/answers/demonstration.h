#pragma once

// The whole workflow on data that need no download: digits drawn, a LeNet-5 trained on them, its decisions
// drawn, its test set measured, all in one folder.

#include <filesystem>
#include <string>

#include <assay/progress.h>
#include <assay/report.h>
#include "assay/answers/setting.h"

namespace assay::answers {

struct Demonstration {
  std::size_t records = 12000;  // of training; a third as many of the test
  std::size_t epochs = 3;
  std::string method = "epsilon";  // attribution
  std::filesystem::path folder;
  std::string next = {};  // what to try then, for a notice
};

report::Document demonstrate(const Demonstration& demonstration, const Setting& setting, Progress& progress);

}  // namespace assay::answers
