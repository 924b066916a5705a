#pragma once

// The INSPECT clause (docs/inspect-sql.md has the grammar): where it stands in a statement, and the parts of
// the SELECT around it.

#include <optional>
#include <string>
#include <vector>

#include "assay/workbench/query/sql_text.h"

namespace assay::workbench {

struct FromItem {
  TokenRange source;  // name of a relation, or a query in parentheses
  std::string alias;
  bool optional = false;  // of a LEFT JOIN, on the condition `on`
  TokenRange on = {};
};

struct MeasureText {
  std::string text;
  std::size_t byte = 0;
};

struct InspectSelect {
  TokenRange whole;    // SELECT up to the end of HAVING
  TokenRange columns;  // between SELECT [DISTINCT] and INSPECT
  bool distinct = false;
  std::size_t keyword = 0;  // token INSPECT
  TokenRange unit, hypothesis, sequence;
  std::vector<MeasureText> measures;
  std::string alias;
  std::vector<FromItem> from;
  std::vector<TokenRange> conditions;  // all of WHERE and of inner joins; each must hold
  std::vector<TokenRange> groups;
  std::vector<TokenRange> having;  // each must hold
  TokenRange order;                // terms of the ORDER BY that is this SELECT's own
  std::string with;                // "WITH ...", the definitions that this SELECT can use; or empty
};

// The first SELECT with an INSPECT clause in which there is no other one. Throws Error{usage} with line and
// column, what was expected and the nearest word.
std::optional<InspectSelect> first_inspect(const SqlText& sql);

// A condition as those that all must hold.
std::vector<TokenRange> conjuncts(const SqlText& sql, TokenRange condition);
// Whether a parenthesis opens a query.
bool opens_query(const SqlText& sql, std::size_t open);

}  // namespace assay::workbench
