#pragma once

// Which criterion to believe on a network: criteria measured on a test set, faults that its records reveal,
// and whether the one tracks the other.

#include <optional>
#include <string>
#include <vector>

#include <assay/audit.h>
#include <assay/coverage.h>
#include <assay/report.h>
#include "assay/answers/networks/network.h"
#include "assay/answers/setting.h"

namespace assay::answers {

struct AuditQuestion {
  std::string task = {};  // spec of a task; empty: the one that network and test data have
  DatasetPtr training = {}, test = {};
  std::string items = {};   // so many of each record are looked at in its place, or all; empty: records
  std::string preset = {};  // criteria of it, and ...
  std::vector<std::string> criteria = {};  // ... further ones; the preset "audit" where there are neither
  bool by_layer = false;                   // those that count all layers layer by layer as well
  coverage::LearnOptions learn = {};       // its subjects count
  std::string mutants = {};                // state of mutants that are judged already; empty: they are drawn
  std::size_t count = 25;                  // so many of each operator; 0: none
  double quality = 0.2;                    // mutants that get a greater share wrong are left out
  std::string findings = {};  // spec of records made of test records, as further faults; empty: none
  std::vector<std::string> twins = {};  // files of networks that are measured as well
  ReadingOptions reading = {};          // of the twins, as of the network
  std::optional<double> noise = {};     // with it records are measured as well
  DatasetPtr predicted = {};            // of which the share of found faults is predicted; null: none
  audit::AuditOptions options = {};
  std::optional<std::size_t> pairs = {};  // of characteristics in the document (results::PairLimit)
};

report::Document audit_criteria(const Session& session, const AuditQuestion& question, const Setting& setting,
                                Progress& progress);

}  // namespace assay::answers
