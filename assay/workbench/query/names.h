#pragma once

// The relations of FROM that the parts of an INSPECT query refer to.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "assay/workbench/database.h"
#include "assay/workbench/query/inspect_clause.h"

namespace assay::workbench {

// Columns of the scores that INSPECT makes, in order.
const std::vector<std::string>& score_columns();

class Names {
 public:
  // Throws Error{usage} with line, column and the nearest name for relations that there are not.
  Names(Database& database, const SqlText& sql, const InspectSelect& select);

  // Positions in `select.from`; scores() for the scores.
  using Mentioned = std::set<std::size_t>;
  std::size_t scores() const { return select_.from.size(); }
  // Throws Error{usage} for a relation or a column that there is not, or a column of several relations.
  Mentioned mentioned(TokenRange range) const;
  Mentioned mentioned(const std::vector<TokenRange>& ranges) const;
  // The text of these tokens, with the relation before each column that has none.
  std::string text_of(TokenRange range) const;
  // Whether all columns of all relations are requested: a separate `*`.
  bool has_star(TokenRange columns) const;
  // The relation of a column reference, `U.uid` or `uid`; throws Error{usage} saying `what` was expected.
  std::size_t relation_of(TokenRange reference, std::string_view what) const;
  bool has_column(std::size_t item, std::string_view column) const;

  // "units AS "U"", and its name in quotes.
  std::string declared(std::size_t item) const;
  std::string alias(std::size_t item) const;

 private:
  void read_columns(Database& database, std::size_t item);
  std::size_t item_called(std::string_view alias) const;  // scores() + 1: none
  void require_column(std::size_t item, std::size_t token) const;
  struct Reference {
    std::size_t token, item;
    bool qualified;
  };
  std::vector<Reference> references(TokenRange range) const;
  // The relation of a column without one; nothing for other words.
  std::optional<std::size_t> owner(const Token& token) const;

  const SqlText& sql_;
  const InspectSelect& select_;
  std::vector<std::vector<std::string>> columns_;  // by item, the scores last
};

}  // namespace assay::workbench
