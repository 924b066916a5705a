#pragma once

// A monitor beside a network: fitted, measured, written.

#include <string>
#include <vector>

#include <assay/adapt.h>
#include <assay/dataset.h>
#include <assay/monitor.h>
#include <assay/progress.h>
#include <assay/report.h>
#include "assay/answers/setting.h"
#include "assay/report/conditions.h"

namespace assay::answers {

struct MonitorQuestion {
  monitor::MonitorOptions options = {};
  DatasetPtr training = {};     // of mdsa
  DatasetPtr calibration = {};  // sets the threshold; null: every second test record
  std::vector<std::pair<std::string, DatasetPtr>> foreign = {};  // by spec
  std::vector<std::string> attacks = {};  // attacks and corruptions of the test records
  std::string out = {}, source = {};      // files; empty: none
  FileForm form = {};
  report::Conditions conditions = {};
};

report::Document make_monitor(const Session& session, const DatasetPtr& test, const MonitorQuestion& question,
                              const Setting& setting, Progress& progress);

}  // namespace assay::answers
