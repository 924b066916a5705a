#pragma once

// Bounds beside attacks: of records with a ball around each, or of a query in VNN-LIB.

#include <optional>
#include <string>

#include <assay/bounds.h>
#include <assay/report.h>
#include "assay/answers/setting.h"
#include "assay/report/conditions.h"

namespace assay::answers {

struct BoundsQuestion {
  bounds::CertifyOptions records = {};
  std::string queries = {};  // folder for queries of the records; empty: none are written
  std::size_t count = 10;    // of them at most
  report::Conditions conditions = {};
};

report::Document bounds_of_records(const Session& session, const DatasetPtr& data,
                                   const BoundsQuestion& question, const Setting& setting,
                                   Progress& progress);

struct QueryQuestion {
  std::string query;                // file in VNN-LIB
  std::string counterexample = {};  // file of another tool's that is checked; empty: the query is answered
  std::string out = {};             // file for a counterexample that is found; empty: none
  bounds::SolveOptions options = {};
  report::Conditions conditions = {};
};

report::Document answer_query(const Session& session, const QueryQuestion& question, const Setting& setting,
                              Progress& progress);

}  // namespace assay::answers
