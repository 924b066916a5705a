#pragma once

// --db, --sql, --add: the workbench behind `assay inspect` (docs/inspect-sql.md).

#include <string>
#include <vector>

#include <assay/workbench.h>
#include "apps/assay/command.h"

namespace assay::app {

class QueryOptions {
 public:
  void declare(Flags& flags);
  // Whether a query is asked or a document added, rather than units compared as flags say.
  bool asks() const { return !sql_.empty() || !sql_file_.empty() || !documents_.empty(); }
  bool keeps() const { return !database_.empty(); }
  const std::string& database() const { return database_; }
  workbench::Workbench open() const { return workbench::Workbench(database_); }
  // Adds documents, asks; `workbench` has networks, records and hypotheses already.
  report::Document run(workbench::Workbench& workbench, Context& context) const;

 private:
  std::string sql_, sql_file_, database_;
  std::vector<std::string> documents_;
};

}  // namespace assay::app
