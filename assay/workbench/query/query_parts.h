#pragma once

// An INSPECT query taken apart: which relations give units, hypotheses and records, which conditions tie them
// to each other, and what can be known before there are scores.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "assay/workbench/query/names.h"

namespace assay::workbench {

// " WHERE (...) AND (...)"; empty for no conditions.
std::string all_of(const std::vector<std::string>& conditions);

bool overlap(const Names::Mentioned& a, const Names::Mentioned& b);

class QueryParts {
 public:
  struct Condition {
    TokenRange range;
    Names::Mentioned mentioned;
  };

  // Throws Error{usage} with line and column for relations that cannot be inspected, and for conditions that
  // tie the records to others.
  QueryParts(Database& database, const SqlText& text, const InspectSelect& parsed);

  const SqlText& sql;
  const InspectSelect& select;
  Names names;
  std::size_t unit = 0, hypothesis = 0, input = 0;  // positions in select.from
  std::vector<Condition> before;                    // of WHERE: what is known before scores are
  std::vector<Condition> after;                     // of WHERE: what speaks of scores

  // Relations that conditions tie to each other have one component.
  std::size_t component(std::size_t item) const { return component_[item]; }
  std::vector<std::size_t> items_of(std::size_t component) const;
  // A LEFT JOIN that nothing before the scores speaks of neither adds nor removes anything.
  bool skipped(std::size_t item) const { return select.from[item].optional && !used_[item]; }

  // "FROM ... WHERE ..." over these relations.
  std::string from_where(const std::vector<std::size_t>& items) const;
  std::string column(std::size_t item, std::string_view name) const;
  // The group's key, as one SQL expression; empty without GROUP BY.
  std::string label(const std::vector<TokenRange>& groups) const;

 private:
  void require(std::size_t item, std::string_view column_name, TokenRange at,
               std::string_view relation) const;
  void check_group(TokenRange range) const;
  void split_conditions();
  void connect();
  void use(const Names::Mentioned& mentioned);
  void tie(const Names::Mentioned& mentioned, TokenRange range);

  std::vector<std::size_t> component_;  // by item
  std::vector<bool> used_;
};

}  // namespace assay::workbench
