#include "assay/results/domain.h"

#include <fmt/format.h>

#include <algorithm>

#include "assay/results/document.h"
#include "assay/results/figures.h"
#include "assay/support/text/so_many.h"
#include "assay/support/text/text.h"

namespace assay::results {
namespace {

constexpr std::size_t most_rows = 1000;

// Less is better.
report::Measurement amount(std::string name, double value) {
  return number_figure(std::move(name), value, false);
}

report::Table values_table(const groups::Distribution& found) {
  using groups::ValueShare;
  return table_of(
      "distribution", "Records by characteristic, here and in the training data", found.values,
      {{"characteristic", &ValueShare::characteristic},
       {"value", &ValueShare::value},
       {"here", &ValueShare::here},
       {"there", "training", &ValueShare::there},
       {"share", "share here", Kind::percent, [&](auto& one) { return share_of(one.here, found.here); }},
       {"training_share", "in training", Kind::percent,
        [&](auto& one) { return share_of(one.there, found.there); }}});
}

report::Table shifts_table(const groups::Distribution& found) {
  return table_of("shifts", "Distance of the distributions", found.shifts,
                  {{"characteristic", &groups::Shift::characteristic},
                   {"distance", "total variation", Kind::percent, &groups::Shift::distance},
                   {"p", "p (Holm)", 4, &groups::Shift::p}});
}

report::Table absent_table(const groups::Distribution& found) {
  return table_of("absent", "Not here, though in the training data",
                  found.absent | std::views::take(most_rows), {{"group", std::identity()}});
}

std::string remark_of(const groups::DomainCoverage::Value& value) {
  if (value.few) return value.records == 0 ? "missing" : "too few";
  return value.off ? "share" : "";
}

report::Table domain_table(const groups::DomainCoverage& found) {
  using Value = groups::DomainCoverage::Value;
  return table_of(
      "domain", "Records by value of the operational domain", found.values,
      {{"characteristic", &Value::characteristic},
       {"value", &Value::value},
       {"records", &Value::records},
       {"share", Kind::percent, [&](auto& value) { return share_of(value.records, found.records); }},
       {"declared", Kind::percent, &Value::declared},
       {"remark", [](auto& value) { return unless_empty(remark_of(value)); }}});
}

report::Table combinations_table(const groups::DomainCoverage& found) {
  const auto covered = [&](std::size_t t) { return found.covered[t].first; };
  const auto all = [&](std::size_t t) { return found.covered[t].second; };
  return table_of("domain_combinations", "Combinations of the operational domain",
                  positions(found.covered.size()),
                  {{"strength", "characteristics combined", [](auto t) { return t + 1; }},
                   {"covered", "with records", covered},
                   {"coverable", "possible", all},
                   {"coverage", Kind::percent, [&](auto t) { return defined_share(covered(t), all(t)); }}});
}

report::Table missing_table(const groups::DomainCoverage& found) {
  report::Table table =
      table_of("domain_missing", "Combinations without a record", found.missing | std::views::take(most_rows),
               {{"combination", [](const groups::DomainCell& cell) {
                   return groups::Group{cell.is, {}}.name();
                 }}});
  table.detail = table.rows.size() > 20;
  return table;
}

void tell_outside(report::Document& document, const groups::DomainCoverage& found) {
  if (found.outside == 0) return;
  document.warnings.push_back({"outside-domain",
                               fmt::format("{} outside of the operational domain: {}; such as {}",
                                           so_many(found.outside, "record is", "records are"),
                                           joined(found.outside_values), joined(found.outside_ids)),
                               "values that are spelt otherwise than in the domain, missing cells, or a "
                               "domain that is declared too small"});
}

}  // namespace

void add_characteristics(report::Document& document, const Dataset& data) {
  std::vector<groups::Group> single = groups::groups_of(data);
  std::erase_if(single, [](const groups::Group& group) { return group.is.size() != 1; });
  for (const std::string& name : groups::constant_characteristics(data))
    document.notices.push_back(fmt::format("characteristic '{}' has one value in all records", name));
  if (single.empty()) return;
  const auto records = [](const groups::Group& group) { return group.records.size(); };
  document.tables.push_back(table_of(
      "characteristics", "Records by characteristic", single,
      {{"characteristic", [](auto& group) { return group.is[0].first; }},
       {"value", [](auto& group) { return group.is[0].second; }},
       {"records", records},
       {"share", Kind::percent, [&](auto& group) { return share_of(records(group), data.size()); }}}));
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
       "where none has a value of the other. p: chi-squared test of equal distributions, adjusted by Holm "
       "over the characteristics; with many records a small p may stand beside a small distance",
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
  document.definitions.push_back(
      {"domain coverage",
       "combinations of values of so many characteristics that a record has, of all that are not excluded "
       "(t-way coverage). A value has too few records below its `least`; a share is remarked where it is "
       "further from the declared one than the tolerance",
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
    all.push_back(counted_figure(fmt::format("domain-coverage[strength={}]", t + 1), covered, coverable));
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
