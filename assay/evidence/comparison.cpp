#include "assay/evidence/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

#include "assay/support/ascii.h"

namespace assay::evidence {
namespace {

using report::Cell;

// Facts about a run, not about the network: how much was new and how long it took.
bool is_of_the_run(std::string_view fact) {
  static const std::set<std::string_view> names{"ran", "reused", "seconds", "records_per_second"};
  return names.contains(fact);
}

std::string text_of(const Cell& cell) {
  struct Visit {
    std::string operator()(std::monostate) const { return "nothing"; }
    std::string operator()(const std::string& v) const { return v; }
    std::string operator()(bool v) const { return v ? "yes" : "no"; }
    std::string operator()(std::int64_t v) const { return std::to_string(v); }
    std::string operator()(double v) const { return fmt::format("{}", v); }
  };
  return std::visit(Visit{}, cell);
}

class Comparer {
 public:
  explicit Comparer(double tolerance) : tolerance_(tolerance) {}

  void compare(const Cell& then, const Cell& now, const std::string& place) {
    const auto *a = std::get_if<double>(&then), *b = std::get_if<double>(&now);
    const bool both_nan = a != nullptr && b != nullptr && std::isnan(*a) && std::isnan(*b);
    if (then == now || both_nan) {
      ++result.same;
    } else if (a != nullptr && b != nullptr &&
               std::abs(*a - *b) <= tolerance_ * std::max(std::abs(*a), std::abs(*b))) {
      ++result.close;
    } else {
      result.different.push_back(fmt::format("{}: {}, now {}", place, text_of(then), text_of(now)));
    }
  }

  void compare(const report::Table& then, const report::Table& now) {
    const auto ids = [](const report::Table& table) {
      std::vector<std::string> list;
      for (const report::Column& column : table.columns) list.push_back(column.id);
      return list;
    };
    if (then.rows.size() != now.rows.size() || ids(then) != ids(now)) {
      result.different.push_back(
          fmt::format("{}: {} rows, now {}, or other columns", then.id, then.rows.size(), now.rows.size()));
      return;
    }
    for (std::size_t r = 0; r < then.rows.size(); ++r) {
      for (std::size_t c = 0; c < then.columns.size(); ++c) {
        if (then.columns[c].id == "thumbnail") continue;
        compare(then.rows[r][c], now.rows[r][c],
                fmt::format("{}, row {}, {}", then.id, r + 1, then.columns[c].id));
      }
    }
  }

  FigureComparison result;

 private:
  double tolerance_;
};

// Ids and texts of warnings, but for criteria of a preset that were left out: the recorded command names
// those that were measured.
std::vector<std::string> warnings_of(const report::Document& document) {
  std::vector<std::string> texts;
  for (const report::Warning& warning : document.warnings)
    if (warning.id != "left-out") texts.push_back(fmt::format("{}: {}", warning.id, warning.text.text()));
  return texts;
}

// But for those on the number of warnings, which are compared themselves.
std::vector<std::string> gates_of(const report::Document& document) {
  std::vector<std::string> texts;
  for (const report::Gate& gate : document.gates)
    if (gate.criterion != "warnings")
      texts.push_back(fmt::format("{}: {}", gate.text, gate.passed ? "passed" : "failed"));
  return texts;
}

// With 0 for every number.
std::string without_numbers(const std::string& text) {
  std::string masked;
  for (const char c : text) {
    const bool digit = is_digit(c) || c == '.';
    if (!digit)
      masked += c;
    else if (!masked.ends_with('0'))
      masked += '0';
  }
  return masked;
}

// What a document says apart from its figures. Sentences hold figures: where these are only close, their
// numbers may differ.
void compare_words(const report::Document& then, const report::Document& now, FigureComparison& result) {
  if (gates_of(then) != gates_of(now)) result.different.emplace_back("gates: their outcome differs");
  const auto comparable = [&](const std::string& text) {
    return result.close > 0 ? without_numbers(text) : text;
  };
  const auto warnings = [&](const report::Document& document) {
    std::vector<std::string> texts = warnings_of(document);
    std::ranges::transform(texts, texts.begin(), comparable);
    return texts;
  };
  const auto sentence = [](const report::Document& document) {
    return document.headline.substr(0, document.headline.find(" [doubtful: "));
  };
  if (warnings(then) != warnings(now)) result.different.emplace_back("warnings: they differ");
  if (comparable(sentence(then)) != comparable(sentence(now)))
    result.different.push_back(fmt::format("headline: '{}', now '{}'", sentence(then), sentence(now)));
}

// Content hashes of networks and records.
void compare_hashes(const report::Document& then, const report::Document& now, FigureComparison& result) {
  const auto hashes_of = [](const report::Document& document) {
    std::map<std::string, Cell> hashes;
    for (const auto& [key, value] : document.provenance)
      if (key.find("_hash") != std::string::npos) hashes.emplace(key, value);
    return hashes;
  };
  if (hashes_of(then) != hashes_of(now))
    result.different.emplace_back("hashes: they belong to another network or other records");
}

// Parts that a result has lost since it was made.
void compare_absent(const report::Document& then, const report::Document& now, FigureComparison& result) {
  for (const report::Fact& fact : now.facts) {
    if (!is_of_the_run(fact.id) &&
        std::ranges::find(then.facts, fact.id, &report::Fact::id) == then.facts.end())
      result.different.push_back(fact.id + ": the result in the pack lacks it");
  }
  for (const report::Table& table : now.tables) {
    if (std::ranges::find(then.tables, table.id, &report::Table::id) == then.tables.end())
      result.different.push_back(table.id + ": the result in the pack lacks the table");
  }
}

}  // namespace

FigureComparison compare_figures(const report::Document& then, const report::Document& now,
                                 double tolerance) {
  Comparer comparer(tolerance);
  for (const report::Fact& fact : then.facts) {
    if (is_of_the_run(fact.id)) continue;
    const auto found = std::ranges::find(now.facts, fact.id, &report::Fact::id);
    comparer.compare(fact.value, found == now.facts.end() ? Cell() : found->value, fact.id);
  }
  for (const report::Table& table : then.tables) {
    const auto found = std::ranges::find(now.tables, table.id, &report::Table::id);
    if (found == now.tables.end())
      comparer.result.different.push_back(table.id + ": the table is not there any more");
    else
      comparer.compare(table, *found);
  }
  compare_absent(then, now, comparer.result);
  compare_hashes(then, now, comparer.result);
  compare_words(then, now, comparer.result);
  return comparer.result;
}

}  // namespace assay::evidence
