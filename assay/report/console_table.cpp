#include "assay/report/console_table.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "assay/report/percent.h"
#include "assay/support/ascii.h"
#include "assay/support/text/visible.h"

namespace assay::report {
namespace {

constexpr std::size_t gap = 2;              // columns between two cells
constexpr std::size_t narrowest_text = 20;  // columns that a longer text keeps

using Cells = std::vector<std::string>;

// Bytes of the first `count` code points.
std::size_t bytes_of(std::string_view text, std::size_t count) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if (!continues_character(text[at]) && count-- == 0) break;
  }
  return at;
}

std::size_t longest_word(std::string_view text) {
  std::size_t most = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    most = std::max(most, width_of(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return most;
}

std::size_t total(std::span<const std::size_t> widths) {
  return std::accumulate(widths.begin(), widths.end(), gap * widths.size());
}

class Layout {
 public:
  Layout(const Table& table, const TableStyle& style) : table_(table), style_(style) {
    for (const Column& column : table.columns) titles_.push_back(visible(column.title));
    widest_.resize(titles_.size());
    for (const auto& row : table.rows) {
      Cells& line = cells_.emplace_back();
      for (std::size_t i = 0; i < row.size(); ++i) {
        line.push_back(visible(shown(table.columns[i], row[i])));
        widest_[i] = std::max(widest_[i], width_of(line.back()));
      }
      line.resize(titles_.size());
    }
    fit();
  }

  TextTable text() const {
    TextTable result;
    result.heading = lines(titles_, /*from_bottom=*/true);
    result.heading.push_back(rule());
    for (const Cells& row : cells_) {
      for (std::string& line : lines(row, false)) result.rows.push_back(std::move(line));
    }
    result.left_out.assign(titles_.begin() + std::ssize(widths_), titles_.end());
    return result;
  }

 private:
  bool is_text(std::size_t i) const { return table_.columns[i].kind == Column::Kind::text; }
  std::size_t natural(std::size_t i) const { return std::max(widest_[i], width_of(titles_[i])); }

  void fit() {
    for (std::size_t i = 0; i < titles_.size(); ++i) widths_.push_back(natural(i));
    if (style_.width == 0 || total(widths_) <= style_.width) return;
    for (std::size_t i = 0; i < titles_.size(); ++i) {
      const std::size_t cell = is_text(i) ? std::min(widest_[i], narrowest_text) : widest_[i];
      widths_[i] = std::max(cell, longest_word(titles_[i]));
    }
    while (widths_.size() > 1 && total(widths_) > style_.width) widths_.pop_back();
    for (std::size_t i = 0; i < widths_.size(); ++i) widen(i, widest_[i]);
    for (std::size_t i = 0; i < widths_.size(); ++i) widen(i, natural(i));
  }

  void widen(std::size_t i, std::size_t wanted) {
    const std::size_t used = total(widths_), spare = style_.width > used ? style_.width - used : 0;
    if (wanted > widths_[i]) widths_[i] += std::min(spare, wanted - widths_[i]);
  }

  // A row of cells, as many lines as the cell that needs most.
  Cells lines(const Cells& row, bool from_bottom) const {
    std::vector<Cells> parts;
    std::size_t height = 1;
    for (std::size_t i = 0; i < widths_.size(); ++i) {
      parts.push_back(lines_of(row[i], widths_[i]));
      height = std::max(height, parts.back().size());
    }
    Cells result(height, std::string(gap, ' '));
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (from_bottom) parts[i].insert(parts[i].begin(), height - parts[i].size(), std::string());
      parts[i].resize(height);
      for (std::size_t n = 0; n < height; ++n)
        result[n] += pad(parts[i][n], widths_[i], !is_text(i)) + std::string(gap, ' ');
    }
    for (std::string& line : result) line = strip_trailing_space(std::move(line));
    return result;
  }

  std::string rule() const {
    std::string result;
    for (const std::size_t width : widths_) {
      result += std::string(gap, ' ');
      for (std::size_t n = 0; n < width; ++n) result += style_.boxes ? "─" : "-";
    }
    return result;
  }

  const Table& table_;
  TableStyle style_;
  Cells titles_;
  std::vector<Cells> cells_;
  std::vector<std::size_t> widest_, widths_;
};

}  // namespace

std::size_t width_of(std::string_view text) {
  return text.size() - static_cast<std::size_t>(std::ranges::count_if(text, continues_character));
}

std::vector<std::string> lines_of(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  while (width > 0 && width_of(text) > width) {
    const std::size_t end = bytes_of(text, width);
    const std::size_t space = text.find_last_of(' ', end), mark = text.substr(0, end).find_last_of(",;/");
    const bool at_space = space != std::string_view::npos && space > 0,
               at_mark = mark != std::string_view::npos && (!at_space || mark > space);
    const std::size_t cut = at_mark ? mark + 1 : at_space ? space : end;
    lines.emplace_back(text.substr(0, cut));
    text.remove_prefix(at_space && !at_mark ? cut + 1 : cut);
  }
  lines.emplace_back(text);
  return lines;
}

std::string pad(std::string_view text, std::size_t width, bool right) {
  const std::size_t have = width_of(text);
  const std::string space(width > have ? width - have : 0, ' ');
  return right ? space + std::string(text) : std::string(text) + space;
}

std::string strip_trailing_space(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

TextTable text_table(const Table& table, const TableStyle& style) { return Layout(table, style).text(); }

}  // namespace assay::report
