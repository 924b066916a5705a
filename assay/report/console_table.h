#pragma once

// Tables as text, at most as wide as a terminal where one is told.

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <assay/report.h>

namespace assay::report {

// Columns that a UTF-8 text takes on a terminal, counting code points.
std::size_t width_of(std::string_view text);
// Text in lines of at most `width` columns: broken at spaces and after commas, semicolons and slashes,
// anywhere where there are none.
std::vector<std::string> lines_of(std::string_view text, std::size_t width);
// The text with spaces after it, or before it where `right`, to that many columns.
std::string pad(std::string_view text, std::size_t width, bool right);
std::string strip_trailing_space(std::string line);

struct TableStyle {
  std::size_t width = 0;  // 0: as wide as its cells are
  bool boxes = false;     // lines as drawings of boxes, in place of hyphens
};

struct TextTable {
  std::vector<std::string> heading;  // the last one is the rule
  std::vector<std::string> rows;
  std::vector<std::string> left_out;  // titles of columns for which the width does not suffice
};
// Where cells are wider than the width, headings and texts take several lines; columns for which that is not
// enough are left out, the last first. O(cells).
TextTable text_table(const Table& table, const TableStyle& style);

// As print(), and nothing is wider than the style says but paths and failed gates: for a terminal, where
// longer lines wrap. `remedy`: what shows columns that are left out, for the line that names them.
void print_fitted(const Document& document, std::ostream& out, const ConsoleStyle& style,
                  std::string_view remedy);

}  // namespace assay::report
