#include "assay/results/testing/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include <assay/dataset.h>
#include "assay/coverage/select.h"
#include "assay/coverage/settings.h"
#include "assay/results/document.h"
#include "assay/results/networks/evaluation.h"
#include "assay/results/testing/coverage_tables.h"
#include "assay/results/warnings.h"
#include "assay/support/files/hash.h"
#include "assay/support/text/parse.h"
#include "assay/support/text/so_many.h"
#include "assay/support/text/text.h"

namespace assay::results {
namespace {

void add_facts(report::Document& document, const coverage::CoverageState& state) {
  std::uint64_t labelled = 0, correct = 0;
  bool whole = true;
  for (const auto& part : state.parts()) {
    labelled += part->labelled;
    correct += part->correct;
    whole &= part->non_finite.empty();
  }
  document.facts.push_back(count_fact("records", "test records", state.records()));
  if (labelled > 0)
    document.facts.push_back({"test_accuracy",
                              whole ? "test accuracy" : "test accuracy, of the records that are left",
                              static_cast<double>(correct) / labelled, Kind::percent});
  document.facts.push_back(count_fact("training_records", "training records", state.profile().records));
  add_warnings(document, coverage_warnings(state));
}

// Of all layers together, or the range of what layers have that do not add up.
std::string figure_of(const std::vector<coverage::Coverage>& rows) {
  const coverage::Coverage& last = rows.back();
  const auto shown = [](const coverage::Coverage& row) {
    if (row.coverable == "0") return std::string("- (nothing is coverable)");
    if (row.coverable == "1") return std::string("has one combination only");
    return row.coverable.empty() ? fmt::format("{:.4g}", row.value) : report::percent(row.value);
  };
  if (last.layer == "all" || rows.size() == 1) return shown(last);
  const auto [low, high] = std::ranges::minmax_element(rows, {}, &coverage::Coverage::value);
  return fmt::format("{} ({}) to {} ({})", shown(*low), low->layer, shown(*high), high->layer);
}

std::string headline_of(const coverage::CoverageState& state, const std::string& subject) {
  constexpr std::size_t most = 4;  // criteria; the table has them all
  std::vector<std::string> texts;
  for (std::size_t c = 0; c < std::min(most, state.specs().size()); ++c) {
    const std::vector<coverage::Coverage> rows = state.result(c);
    texts.push_back(state.specs()[c].text() + " " + figure_of(rows));
  }
  if (state.specs().size() > most)
    texts.push_back(so_many(state.specs().size() - most, "more criterion", "more criteria"));
  return subject + ": " + joined(texts);
}

void add_details(report::Document& document, const coverage::CoverageState& state,
                 const CoverageDetails& details) {
  const bool one_part = state.parts().size() == 1;
  document.tables.push_back(neuron_table(state, one_part ? details.test : nullptr));
  document.tables.push_back(histogram_table(state.profile(), *details.seen));
  document.tables.push_back(growth_table(state, *details.seen));
  if (details.seen->records.empty()) return;
  const auto wrong = std::ranges::count_if(details.seen->records, [](const coverage::RecordFacts& record) {
    return record.label >= 0 && record.label != record.predicted;
  });
  document.facts.push_back({"misclassified", "misclassified records", std::int64_t{wrong}, Kind::count});
  document.tables.push_back(record_table(state, *details.seen, *details.test, details.records));
}

}  // namespace

std::string records_hash(const coverage::CoverageState& state) {
  const auto& parts = state.parts();
  if (parts.size() == 1 && parts[0]->walked.size() == parts[0]->data_size) return parts[0]->data_hash;
  Hasher hash;
  for (const auto& part : parts) {
    hash.text(part->context).text(part->data_hash);
    for (const auto& [begin, end] : part->walked.ranges())
      hash.number(static_cast<std::int64_t>(begin)).number(static_cast<std::int64_t>(end));
  }
  return hash.hex();
}

std::string records_text(const coverage::CoverageState& state, const Dataset& last) {
  const auto& parts = state.parts();
  if (parts.size() > 1)
    return fmt::format("the {} data sets of the state, {}, the last of them {}", parts.size(),
                       so_many(state.records(), "record"), last.describe());
  const std::size_t walked = parts.empty() ? 0 : parts[0]->walked.size();
  return walked == last.size() ? last.describe()
                               : fmt::format("{} of {}", so_many(walked, "record"), last.describe());
}

std::vector<report::Definition> definitions_of(const coverage::CoverageState& state) {
  std::vector<report::Definition> definitions;
  std::set<std::string> defined;
  for (const Spec& spec : state.specs()) {
    const coverage::CriterionInfo& info = coverage::criteria().find(spec.name);
    if (!defined.insert(info.name).second) continue;
    definitions.push_back({info.name, info.definition, info.paper});
    if (!info.limits.empty())
      definitions.push_back({info.name + " (limits)", info.limits, "docs/algorithms/criteria.md"});
  }
  const coverage::Profile& profile = state.profile();
  if (!profile.method.empty()) {
    definitions.push_back({"importance",
                           profile.method + ", summed over the correctly classified training records",
                           "Gerasimou et al., ICSE 2020, section 3.1; docs/algorithms/importance.md"});
    definitions.push_back({"clusters", profile.clusterer,
                           "Gerasimou et al., ICSE 2020, section 3.2; docs/algorithms/clustering.md"});
  }
  definitions.push_back({"attainable",
                         "items left when neurons that are constant over the training set, that agree with "
                         "another on every training record, "
                         "and items beyond the bounds of the activation function are taken out",
                         "docs/algorithms/criteria.md"});
  return definitions;
}

report::Document document_of(const coverage::CoverageState& state, const std::string& subject,
                             const CoverageDetails& details) {
  report::Document document;
  document.headline = headline_of(state, subject);
  add_facts(document, state);
  document.tables = {coverage_table(state)};
  if (report::Table idc = idc_table(state); !idc.rows.empty()) {
    document.tables.push_back(std::move(idc));
    document.tables.push_back(cluster_table(state.profile()));
    if (details.test != nullptr && state.parts().size() == 1) {
      if (details.uncovered > 0)
        document.tables.push_back(uncovered_table(state, *details.test, details.uncovered));
      if (details.combinations > 0)
        document.tables.push_back(combination_table(state, *details.test, details.combinations));
    }
  }
  if (!state.contexts().empty()) document.tables.push_back(context_table(state));
  document.tables.push_back(layer_table(state));
  if (details.seen != nullptr) add_details(document, state, details);
  document.definitions = definitions_of(state);
  return document;
}

report::Document combined_document_of(const coverage::CoverageState& state, const std::string& subject) {
  report::Document document;
  document.headline = headline_of(state, subject);
  add_facts(document, state);
  document.tables = {coverage_table(state)};
  if (!state.contexts().empty()) document.tables.push_back(context_table(state));
  document.tables.push_back(layer_table(state));
  document.tables.push_back(neuron_table(state, nullptr));
  document.definitions = definitions_of(state);
  document.provenance = {{"model_hash", state.profile().model_hash},
                         {"test_hash", records_hash(state)},
                         {"profile_hash", state.profile_hash()},
                         {"train", state.profile().data},
                         {"train_hash", state.profile().data_hash}};
  if (!state.profile().settings.empty())
    document.provenance.emplace_back("profile_settings", coverage::text_of(state.profile().settings));
  for (const auto& part : state.parts()) {
    document.provenance.emplace_back("data" + (part->context.empty() ? "" : " " + part->context),
                                     part->data + " (" + part->data_hash + ")");
  }
  return document;
}

report::Document document_of(const coverage::Learned& learned) {
  report::Document document;
  if (learned.importance.records > 0) add_scores(document, learned.importance.evaluation, "training");
  if (learned.non_finite > 0)
    document.warnings.push_back(dropped_records(learned.non_finite, "training", learned.non_finite_ids));
  return document;
}

std::vector<FigureByGroup> covered_by_group(const coverage::CoverageState& state,
                                            std::vector<std::vector<std::vector<std::uint64_t>>> items,
                                            std::span<const groups::Group> groups) {
  std::vector<FigureByGroup> figures;
  for (std::size_t c = 0; c < items.size(); ++c) {
    const std::vector<coverage::Coverage> result = state.result(c);
    const bool adds_up = result.size() == 1 || (!result.empty() && result.back().layer == "all");
    const selection::CoveredRows rows = coverage::rows_of(std::move(items[c]));
    if (!adds_up || result.back().coverable.empty() || rows.items.empty()) continue;
    const auto coverable = number_of<std::uint64_t>(result.back().coverable);
    if (!coverable) continue;  // more than items that records cover one by one could be
    figures.push_back(united_by_group(
        {.name = state.specs()[c].text(),
         .sum_title = "covered",
         .weight_title = "coverable",
         .meaning = "what the records of the group cover together"},
        groups, [&](std::size_t record) { return rows.row(record); }, *coverable));
  }
  return figures;
}

}  // namespace assay::results
