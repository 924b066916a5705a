#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include <assay/gate.h>
#include <assay/report.h>
#include "assay/report/percent.h"
#include "assay/support/text/visible.h"

namespace assay::report {
namespace {

constexpr std::string_view bold = "\033[1m", dim = "\033[2m", alarm = "\033[1;31m", plain = "\033[0m";

std::string paint(const ConsoleStyle& style, std::string_view code, std::string_view text) {
  return style.colour ? fmt::format("{}{}{}", code, text, plain) : std::string(text);
}

// 1234567 -> "1,234,567".
std::string grouped(std::int64_t value) {
  std::string digits = std::to_string(value);
  const std::size_t first = value < 0 ? 1 : 0;
  for (std::size_t i = digits.size(); i > first + 3;) {
    i -= 3;
    digits.insert(i, ",");
  }
  return digits;
}

// Columns a UTF-8 text takes on a terminal, counting code points.
std::size_t width_of(std::string_view text) {
  return std::ranges::count_if(text, [](unsigned char c) { return (c & 0xC0) != 0x80; });
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

void print_table(const Table& table, std::ostream& out, const ConsoleStyle& style) {
  if (!table.title.empty()) out << paint(style, bold, visible(table.title)) << "\n";
  if (table.rows.empty()) {
    out << "  (none)\n";
    return;
  }
  std::vector<std::vector<std::string>> cells;
  std::vector<std::size_t> widths;
  for (const Column& column : table.columns) widths.push_back(width_of(visible(column.title)));
  for (const auto& row : table.rows) {
    auto& line = cells.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      line.push_back(visible(shown(table.columns[i], row[i])));
      widths[i] = std::max(widths[i], width_of(line.back()));
    }
  }
  const auto right = [&](std::size_t i) { return table.columns[i].kind != Column::Kind::text; };
  std::string heading = "  ", rule = "  ";
  for (std::size_t i = 0; i < widths.size(); ++i) {
    heading += pad(visible(table.columns[i].title), widths[i], right(i)) + "  ";
    for (std::size_t j = 0; j < widths[i]; ++j) rule += style.colour ? "─" : "-";
    rule += "  ";
  }
  out << paint(style, dim, strip_trailing_space(heading)) << "\n";
  out << paint(style, dim, strip_trailing_space(rule)) << "\n";
  for (const auto& line : cells) {
    std::string text = "  ";
    for (std::size_t i = 0; i < line.size(); ++i) text += pad(line[i], widths[i], right(i)) + "  ";
    out << strip_trailing_space(text) << "\n";
  }
}

// Words of `text` in lines of at most `width` columns, each after `indent` spaces.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
  std::string result, line(indent, ' ');
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    if (width_of(line) + 1 + width_of(word) > width && width_of(line) > indent) {
      result += line + "\n";
      line.assign(indent, ' ');
    }
    if (width_of(line) > indent) line += ' ';
    line += word;
    begin = end + 1;
  }
  return result + line + "\n";
}

void print_facts(const std::vector<Fact>& facts, std::ostream& out, const ConsoleStyle& style) {
  std::size_t width = 0;
  for (const Fact& fact : facts) width = std::max(width, width_of(visible(fact.title)));
  for (const Fact& fact : facts) {
    out << "  " << paint(style, dim, pad(visible(fact.title), width, false)) << "  " << visible(shown(fact))
        << "\n";
  }
}

void print_failures(const std::vector<Gate>& gates, std::ostream& out, const ConsoleStyle& style) {
  for (const Gate& gate : gates) {
    if (!gate.passed) out << paint(style, alarm, "GATE FAILED: " + visible(described(gate))) << "\n";
  }
}

void print_count(const std::vector<Gate>& gates, std::ostream& out, const ConsoleStyle& style) {
  const auto passed = std::count_if(gates.begin(), gates.end(), [](const Gate& gate) { return gate.passed; });
  out << paint(style, bold, fmt::format("gates: {} of {} passed", passed, gates.size())) << "\n";
}

}  // namespace

std::string percent(double fraction, int decimals) {
  if (!std::isfinite(fraction)) return fmt::format("{}", fraction);
  const double unit = std::pow(10.0, decimals);
  const double cut = std::floor(fraction * 100.0 * unit + 1e-9) / unit;
  return fmt::format("{:.{}f} %", fraction < 1.0 && cut >= 100.0 ? 100.0 - 1.0 / unit : cut, decimals);
}

std::string percent_at_most(double fraction, int decimals) {
  if (!std::isfinite(fraction)) return fmt::format("{}", fraction);
  const double unit = std::pow(10.0, decimals);
  return fmt::format("{:.{}f} %", (std::ceil(fraction * 100.0 * unit - 1e-9) + 0.0) / unit,
                     decimals);  // no -0
}

std::string shown(const Column& column, const Cell& cell) {
  const auto* const number = std::get_if<double>(&cell);
  const bool is_upper = column.title == "to" || column.title.ends_with("at most");
  const bool is_bound = column.kind == Column::Kind::percent && is_upper;
  return is_bound && number != nullptr ? percent_at_most(*number, column.decimals)
                                       : shown(cell, column.kind, column.decimals);
}

std::string shown(const Fact& fact) {
  return shown(Column{fact.id, fact.title, fact.kind, fact.decimals}, fact.value);
}

std::string shown(const Cell& cell, Column::Kind kind, int decimals) {
  struct Visit {
    Column::Kind kind;
    int decimals;
    std::string operator()(std::monostate) const { return "-"; }
    std::string operator()(const std::string& v) const { return v; }
    std::string operator()(bool v) const { return v ? "yes" : "no"; }
    std::string operator()(std::int64_t v) const {
      return kind == Column::Kind::text ? std::to_string(v) : grouped(v);
    }
    std::string operator()(double v) const {
      if (kind == Column::Kind::percent) return percent(v, decimals);
      if (v != 0 && std::isfinite(v) && std::fabs(v) < 0.5 * std::pow(10.0, -decimals)) {
        return fmt::format("{:.{}e}", v, decimals);
      }
      return fmt::format("{:.{}f}", v, decimals);
    }
  };
  return std::visit(Visit{kind, decimals}, cell);
}

void print(const Document& document, std::ostream& out, const ConsoleStyle& style) {
  const std::size_t width = std::max(style.width, 40);
  print_failures(document.gates, out, style);  // why a build stops stands first
  if (!document.headline.empty()) out << paint(style, bold, visible(document.headline)) << "\n";
  if (!document.warnings.empty()) out << "\n";
  for (const Warning& warning : document.warnings) {
    out << "  " << paint(style, alarm, "WARNING") << " "
        << wrapped(visible(warning.text.text() +
                           (warning.cause.empty() ? "" : "; likely cause: " + warning.cause.text())),
                   10, width)
               .substr(10);
  }
  if (!document.facts.empty()) {
    out << "\n";
    print_facts(document.facts, out, style);
  }
  for (const Table& table : document.tables) {
    if (table.detail && !style.details) continue;
    out << "\n";
    print_table(table, out, style);
  }
  if (!document.pictures.empty()) out << "\n" << paint(style, bold, "Pictures") << "\n";
  for (const Picture& picture : document.pictures) {
    out << "  " << visible(picture.path.string()) << "  " << paint(style, dim, visible(picture.title))
        << "\n";
  }
  if (!document.notices.empty()) out << "\n" << paint(style, bold, "Notices") << "\n";
  for (const std::string& notice : document.notices)
    out << "  ! " << wrapped(visible(notice), 4, width).substr(4);
  if (!document.definitions.empty()) out << "\n" << paint(style, bold, "Definitions") << "\n";
  for (const Definition& definition : document.definitions) {
    out << wrapped(visible(fmt::format("{}: {} [{}]", definition.term, definition.text, definition.source)),
                   2, width);
  }
  if (!document.gates.empty()) {
    out << "\n";
    print_count(document.gates, out, style);
  }
  if (!style.details || document.provenance.empty()) return;
  out << "\n" << paint(style, bold, "Rests on") << "\n";
  std::vector<Fact> facts;
  for (const auto& [key, value] : document.provenance) facts.push_back({key, key, value});
  print_facts(facts, out, style);
}

}  // namespace assay::report
