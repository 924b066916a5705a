#include <algorithm>
#include <cmath>

#include <assay/error.h>
#include <assay/gate.h>
#include "assay/report/table_of.h"
#include "assay/support/numbers/exact_count.h"

namespace assay::report {
namespace {

Cell count_cell(const std::string& digits) {
  constexpr std::size_t fits_int64 = 18;
  if (digits.empty()) return std::monostate{};
  const bool small = digits.size() <= fits_int64 && ExactCount::parse(digits);
  return small ? Cell(static_cast<std::int64_t>(std::stoll(digits))) : Cell(digits);
}

class CriteriaRow {
 public:
  CriteriaRow(const Table& table, const std::vector<Cell>& cells) : table_(table), cells_(cells) {}

  // Nothing for an absent column.
  const Cell& cell(std::string_view id) const {
    static const Cell nothing;
    const auto at = std::find_if(table_.columns.begin(), table_.columns.end(),
                                 [&](const Column& c) { return c.id == id; });
    const std::size_t index = at - table_.columns.begin();
    return index < cells_.size() ? cells_[index] : nothing;
  }

  std::string text(std::string_view id) const {
    const Cell& found = cell(id);
    if (const auto* text = std::get_if<std::string>(&found)) return *text;
    if (const auto* integer = std::get_if<std::int64_t>(&found)) return std::to_string(*integer);
    if (std::holds_alternative<std::monostate>(found)) return "";
    fail(Fault::data, "table criteria: column '{}' is neither text nor an integer", id);
  }

  std::string count(std::string_view id) const {
    std::string digits = text(id);
    if (!digits.empty() && !ExactCount::parse(digits))
      fail(Fault::data, "table criteria: {} '{:.40}' is not a count", id, digits);
    return digits;
  }

  double number(std::string_view id) const {
    const Cell& found = cell(id);
    if (const auto* value = std::get_if<double>(&found)) return *value;
    if (const auto* integer = std::get_if<std::int64_t>(&found)) return *integer;
    return std::nan("");
  }

 private:
  const Table& table_;
  const std::vector<Cell>& cells_;
};

// A row says one thing only: what is covered is among what is coverable, and their ratio is the coverage.
// Digits beyond a float64's do not contradict, nor is a ratio that somebody has rounded to six digits.
void require_consistent(const Measurement& m) {
  constexpr double rounding = 1e-6;
  const auto covered = ExactCount::parse(m.covered), coverable = ExactCount::parse(m.coverable);
  if (!covered || !coverable) return;
  if (*covered > *coverable)
    fail(Fault::data,
         "table criteria: {} of layer '{}' covers {} of {}, which cannot be; the result was changed by hand "
         "or damaged, so measure it again",
         m.criterion, m.layer, m.covered, m.coverable);
  if (coverable->is_zero() || !std::isfinite(m.value) || !std::isfinite(coverable->to_double())) return;
  const double ratio = covered->to_double() / coverable->to_double();
  if (std::fabs(ratio - m.value) > rounding)
    fail(
        Fault::data,
        "table criteria: {} of layer '{}' covers {} of {}, and its coverage is said to be {}; the result was "
        "changed by hand or damaged, so measure it again",
        m.criterion, m.layer, m.covered, m.coverable, m.value);
}

}  // namespace

Table criteria_table(std::span<const Measurement> measurements) {
  const auto share = [](const Measurement& m) {
    return m.coverable.empty() || m.coverable == "0" ? std::nullopt : std::optional(m.value);
  };
  const auto measure = [](const Measurement& m) {
    return m.coverable.empty() ? std::optional(m.value) : std::nullopt;
  };
  return table_of("criteria", "Criteria", measurements,
                  {{"criterion", &Measurement::criterion},
                   {"layer", &Measurement::layer},
                   {"class", [](auto& m) { return unless_empty(m.class_name); }},
                   {"context", [](auto& m) { return unless_empty(m.context); }},
                   {"covered", Column::Kind::count, [](auto& m) { return count_cell(m.covered); }},
                   {"coverable", Column::Kind::count, [](auto& m) { return count_cell(m.coverable); }},
                   {"coverage", Column::Kind::percent, share},
                   {"measure", 4, measure},
                   {"better", [](auto& m) { return m.higher_is_better ? "higher" : "lower"; }}});
}

std::vector<Measurement> measurements_of(const Document& document) {
  std::vector<Measurement> measurements;
  for (const Table& table : document.tables) {
    if (table.id != "criteria") continue;
    for (const auto& cells : table.rows) {
      const CriteriaRow row(table, cells);
      Measurement m{row.text("criterion"),
                    row.text("layer"),
                    row.text("class"),
                    row.text("context"),
                    row.count("covered"),
                    row.count("coverable"),
                    0,
                    row.text("better") != "lower"};
      const bool counted = !m.coverable.empty();
      m.value = row.number(
          counted || std::holds_alternative<std::monostate>(row.cell("measure")) ? "coverage" : "measure");
      if (m.criterion.empty()) fail(Fault::data, "table criteria: a row names no criterion");
      if (counted != !m.covered.empty())
        fail(Fault::data, "table criteria: {} has one of covered and coverable only", m.criterion);
      if (m.layer.empty()) m.layer = "all";
      if (counted) require_consistent(m);
      measurements.push_back(std::move(m));
    }
  }
  return measurements;
}

}  // namespace assay::report
