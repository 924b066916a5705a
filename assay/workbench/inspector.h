#pragma once

// Runs a plan: one inspection for all groups of a query, and its scores as a relation.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <assay/inspection.h>
#include <assay/workbench.h>
#include "assay/workbench/database.h"
#include "assay/workbench/query/plan.h"

namespace assay::workbench {

// Open networks, records and hypotheses, by their names in the database.
struct OpenWorld {
  std::map<std::string, inspection::InspectedModel> models;
  std::map<std::string, DatasetPtr> datasets;
  std::string data;  // the data set that is meant where a query chooses none
  std::vector<std::pair<std::string, std::shared_ptr<const inspection::Annotator>>> hypotheses;  // by source
  inspection::InspectOptions options;
  inspection::UnitBehaviour behaviour = inspection::UnitBehaviour::activation;
  Inspector inspect;
  double seconds = 0;  // that a question may take; 0: as many as it takes
};

// The arguments of the inspector for a plan.
struct Work {
  std::vector<inspection::InspectedModel> models;
  std::vector<inspection::UnitGroup> groups;
  DatasetPtr records;
  std::vector<inspection::AnnotatorChoice> hypotheses;
  inspection::InspectOptions options;
  // By group of the plan and unit of the plan: position in `groups`.
  std::vector<std::map<std::size_t, std::size_t>> parts;
  // Hash of everything that the scores depend on; empty if unknown (hypotheses without a version).
  std::string key;
};

// Throws Error{usage} for networks, records and hypotheses that the database knows and that are not open.
Work work_of(Database& database, const OpenWorld& world, const Plan& plan);

// Result of one INSPECT.
struct Inspected {
  std::size_t records = 0, records_read = 0;
  std::uint64_t rows_seen = 0;
  bool kept_before = false;  // taken from the database
  std::vector<std::string> notices;
};

// Makes the relation `scores` (a name in the temporary schema) from an inspection, or from the same one that
// the database has kept.
Inspected make_scores(Database& database, const OpenWorld& world, const Plan& plan, const std::string& scores,
                      const std::string& query, Progress& progress);
// The same relation without rows.
void make_empty_scores(Database& database, const std::string& scores);
// Keeps the scores of an inspection that no query asked for, instead of those that had the same key.
void keep_inspection(Database& database, const std::string& data, const inspection::Inspection& seen,
                     const std::vector<inspection::UnitGroup>& groups, const std::string& key);
// The inspection that a database has kept under this key; 0 for none.
std::int64_t kept_inspection(Database& database, const std::string& key);

}  // namespace assay::workbench
