#pragma once

// What tests say about failures in operation, as result documents.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <assay/evaluate.h>
#include <assay/gate.h>
#include <assay/reliability.h>
#include <assay/report.h>

namespace assay::results {

struct ReliabilityFindings {
  double confidence = 0.95;
  std::size_t failures = 0, records = 0;
  std::pair<double, double> interval = {0, 1};  // two-sided
  double upper = 1;                             // one-sided
  // By characteristic whose shares in operation are declared.
  struct Profile {
    std::string characteristic;
    std::vector<reliability::Stratum> strata;
    reliability::WeightedBound bound;
    std::size_t outside = 0;  // records of no declared value
  };
  std::vector<Profile> profiles = {};
  std::vector<reliability::NamedBound> bounds = {};
  struct Calibrated {
    double temperature = 1;
    std::size_t records = 0;    // that it was fitted to
    std::string file;           // of the network that has it; empty: not written
    Calibration before, after;  // on the test records
  };
  std::optional<Calibrated> calibrated = {};
  std::vector<std::string> networks = {};  // of stability, the first is the network itself
  std::optional<reliability::Stability> stability = {};
  double near = 0;
  std::optional<reliability::Leakage> leakage = {};
};

// `training`: null without leakage.
report::Document document_of(const ReliabilityFindings& found, const Graph& network, const Dataset& test,
                             const Dataset* training);
std::vector<report::Measurement> measurements_of(const ReliabilityFindings& found);

}  // namespace assay::results
