#include "assay/evidence/samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "assay/report/table_of.h"
#include "assay/support/numbers/binomial.h"
#include "assay/support/text/so_many.h"

namespace assay::evidence {
namespace {

std::optional<std::size_t> count_of(const std::string& digits) {
  std::size_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [at, fault] = std::from_chars(digits.data(), end, value);
  if (digits.empty() || fault != std::errc() || at != end) return std::nullopt;
  return value;
}

std::optional<std::string> interval_text(const std::string& covered, const std::string& coverable) {
  const auto hits = count_of(covered), trials = count_of(coverable);
  if (!hits || !trials || *trials == 0 || *hits > *trials) return std::nullopt;
  const Interval interval = clopper_pearson(*hits, *trials, interval_miss / 2);
  // An end is rounded away from the figure, so that the interval shown is no narrower than the true one.
  constexpr double unit = 1e4;
  return fmt::format("{:.2f} % to {:.2f} %", std::floor(interval.low * unit) / 100,
                     std::ceil(interval.high * unit) / 100);
}

std::string name_of(const report::Measurement& figure) {
  std::string name = figure.criterion;
  if (figure.layer != "all" && !figure.layer.empty()) name += ", layer " + figure.layer;
  if (!figure.class_name.empty()) name += ", class " + figure.class_name;
  if (!figure.context.empty()) name += ", " + figure.context;
  return name;
}

// Columns of the ends of intervals are called so in all results; minima of activations are not.
bool has_intervals(const report::Table& table) {
  return std::ranges::any_of(table.columns, [](const report::Column& column) {
    return column.id == "low" && column.title == "from";
  });
}

// Of a figure over all records, as a table of figures in its result has it.
std::optional<std::string> own_interval(const std::string& criterion, const report::Document& document) {
  const auto table = std::ranges::find_if(document.tables, [](const report::Table& one) {
    return has_intervals(one) && one.columns.front().id == "figure";
  });
  if (table == document.tables.end()) return std::nullopt;
  const auto end_of = [&](const std::vector<report::Cell>& row, std::string_view id) {
    const auto column = std::ranges::find(table->columns, id, &report::Column::id);
    return column == table->columns.end() ? nullptr
                                          : std::get_if<double>(&row[column - table->columns.begin()]);
  };
  for (const std::vector<report::Cell>& row : table->rows) {
    if (row.front() != report::Cell(criterion)) continue;
    const double *low = end_of(row, "low"), *high = end_of(row, "high");
    if (low != nullptr && high != nullptr) return fmt::format("{:.6g} to {:.6g}", *low, *high);
  }
  return std::nullopt;
}

struct Sample {
  std::string step, figure, measured, interval, of;
};

void add_figures(std::vector<Sample>& samples, const StepResult& result) {
  const std::string of = sampled_by(result.step.command);
  if (of.empty()) return;
  for (const report::Measurement& figure : report::measurements_of(result.document)) {
    if (!figure.context.empty() || !std::isfinite(figure.value)) continue;
    const auto interval = interval_of(figure, result);
    const bool counted = !figure.coverable.empty();
    if (counted && !interval) continue;
    samples.push_back({result.step.name, name_of(figure),
                       counted ? fmt::format("{} of {} ({})", figure.covered, figure.coverable,
                                             report::percent(figure.value))
                               : fmt::format("{:.6g}", figure.value),
                       interval.value_or("not computed: the result keeps no spread"), of});
  }
}

void add_own_intervals(std::vector<Sample>& samples, const StepResult& result) {
  for (const report::Table& one : result.document.tables) {
    if (has_intervals(one) && !one.rows.empty())
      samples.push_back({result.step.name, "table " + one.id, so_many(one.rows.size(), "row"),
                         "in the columns from and to", sampled_by(result.step.command)});
  }
}

}  // namespace

std::string sampled_by(const std::string& command) {
  static const std::map<std::string, std::string> samples{{"evaluate", "records"},    {"robust", "records"},
                                                          {"bounds", "records"},      {"monitor", "records"},
                                                          {"reliability", "records"}, {"mutate", "mutants"}};
  const auto found = samples.find(command);
  return found == samples.end() ? "" : found->second;
}

std::optional<std::string> interval_of(const report::Measurement& figure, const StepResult& result) {
  if (sampled_by(result.step.command).empty() || !figure.context.empty()) return std::nullopt;
  if (!figure.coverable.empty()) return interval_text(figure.covered, figure.coverable);
  return figure.class_name.empty() ? own_interval(figure.criterion, result.document) : std::nullopt;
}

std::optional<std::string> interval_of(const report::Gate& gate, const StepResult& result) {
  if (sampled_by(result.step.command).empty()) return std::nullopt;
  if (!gate.coverable.empty()) return interval_text(gate.covered, gate.coverable);
  const bool of_all = gate.class_name.empty() && gate.context.empty();
  return of_all ? own_interval(gate.criterion, result.document) : std::nullopt;
}

report::Table sample_table(std::span<const StepResult> results) {
  std::vector<Sample> samples;
  for (const StepResult& result : results) {
    add_figures(samples, result);
    add_own_intervals(samples, result);
  }
  return report::table_of("samples", "Figures that are samples", samples,
                          {{"step", &Sample::step},
                           {"figure", &Sample::figure},
                           {"measured", &Sample::measured},
                           {"interval", "95 % interval", &Sample::interval},
                           {"sample", "sample of", &Sample::of}});
}

}  // namespace assay::evidence
