#pragma once

// The plan of an INSPECT query: FROM, WHERE and GROUP BY evaluated by SQLite, and the statement for SQLite
// once the scores exist (docs/inspect-sql.md says which parts go where).

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <assay/extend/measure.h>
#include "assay/workbench/database.h"
#include "assay/workbench/query/inspect_clause.h"

namespace assay::workbench {

// As in the relations `units` and `gate_units`.
struct PlannedUnit {
  std::string model, uid, layer, gate;
  std::int64_t layer_index = 0, unit = 0;
};

struct PlannedGroup {
  Cell label;                           // what GROUP BY says of it; nothing without GROUP BY
  std::vector<std::size_t> units;       // ascending, in Plan::units
  std::vector<std::size_t> hypotheses;  // ascending, in Plan::hypotheses
  // Where conditions tie units to hypotheses: the pairs requested. Else all of them, and none are listed.
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
};

struct PlannedMeasure {
  std::string written;  // "corr"
  inspection::MeasureChoice choice;
};

struct Plan {
  std::vector<PlannedUnit> units;       // by model, layer, gate and number
  std::vector<std::string> hypotheses;  // in the order of the relation
  std::vector<PlannedGroup> groups;
  std::vector<PlannedMeasure> measures;
  std::string data;                  // name of the data set; empty where no record is requested
  bool every_record = false;         // of it; else those in `records`
  std::vector<std::size_t> records;  // ascending positions
  bool empty() const { return groups.empty() || (records.empty() && !every_record); }
};

// Throws Error{usage} with line and column for errors: an unknown measure, column, relation. `data`: the data
// set that is meant where the query chooses none; may be empty.
Plan plan_inspect(Database& database, const SqlText& sql, const InspectSelect& select,
                  const std::string& data);

// Puts an ordinary SELECT over the relation `scores` instead of the one with INSPECT.
void replace_inspect(Database& database, SqlText& sql, const InspectSelect& select,
                     const std::string& scores);

}  // namespace assay::workbench
