#include "assay/results/domain.h"

#include <fmt/format.h>

#include <algorithm>

#include "assay/results/document.h"
#include "assay/support/text/text.h"

namespace assay::results {
namespace {

constexpr std::size_t most_rows = 1000;

double share_of(std::size_t records, std::size_t all) {
  return static_cast<double>(records) / static_cast<double>(all);
}

// Less is better.
report::Measurement amount(std::string name, double value) {
  report::Measurement m;
  m.criterion = std::move(name);
  m.value = value;
  m.higher_is_better = false;
  return m;
}

report::Table values_table(const groups::Distribution& found) {
  report::Table table{"distribution",
                      "Records by characteristic, here and in the training data",
                      {{"characteristic", "characteristic"},
                       {"value", "value"},
                       {"here", "here", Kind::count},
                       {"there", "training", Kind::count},
                       {"share", "share here", Kind::percent},
                       {"training_share", "in training", Kind::percent}},
                      {}};
  for (const groups::ValueShare& one : found.values)
    table.rows.push_back({one.characteristic, one.value, report::count_cell(one.here),
                          report::count_cell(one.there), share_of(one.here, found.here),
                          share_of(one.there, found.there)});
  return table;
}

report::Table shifts_table(const groups::Distribution& found) {
  report::Table table{"shifts",
                      "Distance of the distributions",
                      {{"characteristic", "characteristic"},
                       {"distance", "total variation", Kind::percent},
                       {"p", "p (Holm)", Kind::number, 4}},
                      {}};
  for (const groups::Shift& shift : found.shifts)
    table.rows.push_back({shift.characteristic, shift.distance, shift.p});
  return table;
}

report::Table absent_table(const groups::Distribution& found) {
  report::Table table{"absent", "Not here, though in the training data", {{"group", "group"}}, {}};
  for (const std::string& name : found.absent) {
    if (table.rows.size() < most_rows) table.rows.push_back({name});
  }
  return table;
}

std::string remark_of(const groups::DomainCoverage::Value& value) {
  if (value.few) return value.records == 0 ? "missing" : "too few";
  return value.off ? "share" : "";
}

report::Table domain_table(const groups::DomainCoverage& found) {
  report::Table table{"domain",
                      "Records by value of the operational domain",
                      {{"characteristic", "characteristic"},
                       {"value", "value"},
                       {"records", "records", Kind::count},
                       {"share", "share", Kind::percent},
                       {"declared", "declared", Kind::percent},
                       {"remark", "remark"}},
                      {}};
  for (const auto& value : found.values)
    table.rows.push_back({value.characteristic, value.value, report::count_cell(value.records),
                          share_of(value.records, found.records), optional_cell(value.declared),
                          text_cell(remark_of(value))});
  return table;
}

report::Table combinations_table(const groups::DomainCoverage& found) {
  report::Table table{"domain_combinations",
                      "Combinations of the operational domain",
                      {{"strength", "characteristics combined", Kind::count},
                       {"covered", "with records", Kind::count},
                       {"coverable", "possible", Kind::count},
                       {"coverage", "coverage", Kind::percent}},
                      {}};
  for (std::size_t t = 0; t < found.covered.size(); ++t) {
    const auto [covered, all] = found.covered[t];
    table.rows.push_back({report::count_cell(t + 1), report::count_cell(covered), report::count_cell(all),
                          all == 0 ? report::Cell() : report::Cell(share_of(covered, all))});
  }
  return table;
}

report::Table missing_table(const groups::DomainCoverage& found) {
  report::Table table{
      "domain_missing", "Combinations without a record", {{"combination", "combination"}}, {}};
  for (const groups::DomainCell& cell : found.missing) {
    if (table.rows.size() < most_rows) table.rows.push_back({groups::Group{cell.is, {}}.name()});
  }
  table.detail = table.rows.size() > 20;
  return table;
}

void tell_outside(report::Document& document, const groups::DomainCoverage& found) {
  if (found.outside == 0) return;
  document.warnings.push_back(
      {"outside-domain",
       fmt::format("{} records are outside of the operational domain: {}; such as {}", found.outside,
                   joined(found.outside_values), joined(found.outside_ids)),
       "values that are spelt otherwise than in the domain, missing cells, or a domain that is declared too "
       "small"});
}

}  // namespace

void add_characteristics(report::Document& document, const Dataset& data) {
  report::Table table{"characteristics",
                      "Records by characteristic",
                      {{"characteristic", "characteristic"},
                       {"value", "value"},
                       {"records", "records", Kind::count},
                       {"share", "share", Kind::percent}},
                      {}};
  for (const groups::Group& group : groups::groups_of(data)) {
    if (group.is.size() == 1)
      table.rows.push_back({group.is[0].first, group.is[0].second, report::count_cell(group.records.size()),
                            share_of(group.records.size(), data.size())});
  }
  for (const std::string& name : groups::constant_characteristics(data))
    document.notices.push_back(fmt::format("characteristic '{}' has one value in all records", name));
  if (!table.rows.empty()) document.tables.push_back(std::move(table));
}

void add_distribution(report::Document& document, const groups::Distribution& found) {
  document.tables.push_back(values_table(found));
  document.tables.push_back(shifts_table(found));
  if (!found.absent.empty()) document.tables.push_back(absent_table(found));
  document.facts.push_back(
      count_fact("absent", "values and pairs of the training data that are not here", found.absent.size()));
  document.definitions.push_back(
      {"total variation",
       "half the sum over the values of |share here - share in training|: 0 for equal distributions, 100 % "
       "where "
       "none has a value of the other. p: chi-squared test of equal distributions, adjusted by Holm over the "
       "characteristics; with many records a small p may stand beside a small distance",
       "Pearson 1900; Holm 1979; docs/characteristics.md"});
}

void add_domain(report::Document& document, const groups::Domain& domain,
                const groups::DomainCoverage& found) {
  document.tables.push_back(domain_table(found));
  document.tables.push_back(combinations_table(found));
  if (!found.missing.empty()) document.tables.push_back(missing_table(found));
  document.facts.push_back({"domain", "operational domain", domain.file});
  document.facts.push_back(
      count_fact("domain_missing", "combinations without a record", found.missing.size()));
  document.facts.push_back(count_fact("outside", "records outside of the domain", found.outside));
  tell_outside(document, found);
  document.definitions.push_back({"domain coverage",
                                  "combinations of values of so many characteristics that a record has, of "
                                  "all that are not excluded (t-way "
                                  "coverage). A value has too few records below its `least`; a share is "
                                  "remarked where it is further from the "
                                  "declared one than the tolerance",
                                  "Kuhn, Kacker and Lei, NIST SP 800-142, 2010; docs/characteristics.md"});
}

std::vector<report::Measurement> measurements_of(const groups::Distribution& found) {
  std::vector<report::Measurement> all;
  for (const groups::Shift& shift : found.shifts)
    all.push_back(amount(fmt::format("shift[characteristic={}]", shift.characteristic), shift.distance));
  all.push_back(amount("absent-values", static_cast<double>(found.absent.size())));
  return all;
}

std::vector<report::Measurement> measurements_of(const groups::DomainCoverage& found) {
  std::vector<report::Measurement> all;
  for (std::size_t t = 0; t < found.covered.size(); ++t) {
    const auto [covered, coverable] = found.covered[t];
    report::Measurement m;
    m.criterion = fmt::format("domain-coverage[strength={}]", t + 1);
    m.covered = std::to_string(covered);
    m.coverable = std::to_string(coverable);
    m.value = coverable == 0 ? 0 : share_of(covered, coverable);
    all.push_back(std::move(m));
  }
  const auto count = [&](auto member) {
    return static_cast<double>(
        std::ranges::count_if(found.values, [&](const auto& value) { return value.*member; }));
  };
  all.push_back(amount("domain-outside", static_cast<double>(found.outside)));
  all.push_back(amount("domain-few", count(&groups::DomainCoverage::Value::few)));
  all.push_back(amount("domain-shares", count(&groups::DomainCoverage::Value::off)));
  return all;
}

}  // namespace assay::results
