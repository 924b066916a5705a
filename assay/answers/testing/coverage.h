#pragma once

// What a test set exercises: a profile learned or read, the test set measured by it, extended by attacks on
// request, and the document of all that.

#include <optional>
#include <string>
#include <vector>

#include <assay/coverage.h>
#include <assay/report.h>
#include "assay/answers/accuracy.h"
#include "assay/answers/setting.h"
#include "assay/coverage/request.h"
#include "assay/report/conditions.h"

namespace assay::answers {

struct CoverageQuestion {
  std::string preset = {};  // criteria of it, and further ones; idc for each of `ms` where there are neither
  std::vector<std::string> criteria = {};
  std::string task =
      {};  // spec, of what importance explains; empty: the one that network and training data have
  std::string ms = "6,8,10,12";
  DatasetPtr training = {};            // from which the profile is learned; null: it is read
  coverage::ReadProfile profile = {};  // with training records where it goes; an empty file: nowhere
  coverage::SaidSettings said = {};    // of those of `learn`, which a profile that is read has to have
  coverage::LearnOptions learn = {};
  coverage::MeasureOptions measure = {};
  std::string items = {};  // so many items of each record are looked at in its place, or all; empty: records
  bool by_class = false;
  std::string state = {};    // where what is covered goes, with a journal next to it; empty: nowhere
  bool append = false;       // to what is in it
  std::string attacks = {};  // that extend the test set, as parse_attacks() reads them
  std::string made = {};     // folder for the attacked records
  std::size_t combinations = 5, records = 12;  // that are listed (results::CoverageDetails)
  DeclaredAccuracy accuracy = {};
  report::Conditions conditions = {};
  std::optional<std::size_t> pairs = {};  // of characteristics in the document (results::PairLimit)
};

// Options that the question left open, with the values found.
struct CoverageAnswer {
  report::Document document;
  coverage::Settings settings;  // of the profile
  std::vector<Spec> criteria;
};

// Only the first rank returns.
CoverageAnswer cover(const Session& session, const DatasetPtr& test, CoverageQuestion question,
                     const Setting& setting, Progress& progress);

}  // namespace assay::answers
