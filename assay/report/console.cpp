#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include <assay/gate.h>
#include <assay/report.h>
#include "assay/report/console_table.h"
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

// What is printed where: `limit` is the width that tables and facts keep to, 0 for none.
struct Target {
  std::ostream& out;
  const ConsoleStyle& style;
  std::size_t limit = 0;
  std::string_view remedy = {};
};

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

// Text in lines of the limit, after `indent` spaces on all but the first; words stay whole.
std::string continued(std::string_view text, std::size_t indent, std::size_t limit) {
  return limit == 0 ? std::string(text) + "\n"
                    : wrapped(text, indent, std::max(limit, indent + 20)).substr(indent);
}

// In bold, in lines of the limit.
std::string heading(std::string_view text, const Target& to) {
  const std::string lines = continued(visible(text), 0, to.limit);
  return paint(to.style, bold, lines.substr(0, lines.size() - 1)) + "\n";
}

void print_table(const Table& table, const Target& to) {
  std::ostream& out = to.out;
  if (!table.title.empty()) out << heading(table.title, to);
  if (table.rows.empty()) {
    out << "  (none)\n";
    return;
  }
  const TextTable text = text_table(table, {.width = to.limit, .boxes = to.style.colour});
  for (const std::string& line : text.heading) out << paint(to.style, dim, line) << "\n";
  for (const std::string& line : text.rows) out << line << "\n";
  if (text.left_out.empty()) return;
  const std::string hint = fmt::format("not shown: {}; {}", fmt::join(text.left_out, ", "), to.remedy);
  for (const std::string& line : lines_of(hint, to.limit - 2))
    out << "  " << paint(to.style, dim, line) << "\n";
}

std::size_t least_width(const ConsoleStyle& style) { return std::max(style.width, 40); }

void print_facts(const std::vector<Fact>& facts, const Target& to) {
  std::size_t width = 0;
  for (const Fact& fact : facts) width = std::max(width, width_of(visible(fact.title)));
  for (const Fact& fact : facts) {
    to.out << "  " << paint(to.style, dim, pad(visible(fact.title), width, false)) << "  "
           << continued(visible(shown(fact)), width + 4, to.limit);
  }
}

// The title has lines of its own where both do not fit into one.
void print_picture(const Picture& picture, const Target& to) {
  const std::string path = visible(picture.path.string()), title = visible(picture.title);
  const bool fits = to.limit == 0 || width_of(path) + width_of(title) + 4 <= to.limit;
  const std::string line = fits ? "  " + title : "\n      " + continued(title, 6, to.limit);
  to.out << "  " << path << paint(to.style, dim, line.substr(0, line.find_last_not_of('\n') + 1)) << "\n";
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

namespace {

void print_to(const Target& to, const Document& document) {
  std::ostream& out = to.out;
  const ConsoleStyle& style = to.style;
  const std::size_t width = to.limit > 0 ? to.limit : least_width(style);
  print_failures(document.gates, out, style);  // why a build stops stands first
  if (!document.headline.empty()) out << heading(document.headline, to);
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
    print_facts(document.facts, to);
  }
  for (const Table& table : document.tables) {
    if (table.detail && !style.details) continue;
    out << "\n";
    print_table(table, to);
  }
  if (!document.pictures.empty()) out << "\n" << paint(style, bold, "Pictures") << "\n";
  for (const Picture& picture : document.pictures) print_picture(picture, to);
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
  print_facts(facts, to);
}

}  // namespace

void print(const Document& document, std::ostream& out, const ConsoleStyle& style) {
  print_to({out, style}, document);
}

void print_fitted(const Document& document, std::ostream& out, const ConsoleStyle& style,
                  std::string_view remedy) {
  print_to({out, style, least_width(style), remedy}, document);
}

}  // namespace assay::report
