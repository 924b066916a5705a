#include "assay/results/testing/selection.h"

#include <fmt/format.h>

#include <algorithm>

#include "assay/results/document.h"
#include "assay/results/first_rows.h"
#include "assay/support/text/so_many.h"

namespace assay::results {
namespace {

report::Table chosen_table(const coverage::Selection& chosen, const std::string& by, const Dataset& test) {
  constexpr std::size_t most = 10;
  const std::size_t all = chosen.records.size(), shown = std::min(most, all);
  return table_of(
      "chosen", title_of_first("Chosen records", shown, all), positions(shown),
      {{"place", [](auto i) { return i + 1; }},
       {"record", [&](auto i) { return test.id(chosen.records[i]); }},
       {when(!chosen.scores.empty()), "score", by, 4, [&](auto i) { return if_finite(chosen.scores[i]); }}});
}

// What the choice is by.
report::Definition definition_of(const coverage::SelectOptions& options) {
  if (const auto criterion = coverage::criterion_of(options)) {
    const coverage::CriterionInfo& info = coverage::criteria().find(criterion->name);
    if (coverage::selects_by_coverage(options.by)) return {info.name, info.definition, info.paper};
    // What the criterion makes of the surprise of records does not matter.
    return {options.by, info.definition.substr(0, info.definition.find("; buckets")), info.paper};
  }
  if (!selection::doubts().contains(options.by))
    return {options.by, "all orders are equally likely; the seed decides", "docs/algorithms/selection.md"};
  const selection::Doubt& doubt = selection::doubts().find(options.by);
  return {doubt.name,
          doubt.formula + ", with the probabilities p of classes" +
              (options.task ? "; of a record the mean over its items" : ""),
          doubt.source};
}

void add_cover(report::Document& document, const selection::Cover& cover, bool minimised) {
  document.facts.push_back(count_fact("covered", "items covered", cover.covered));
  document.facts.push_back(count_fact("coverable", "items that all records cover", cover.coverable));
  if (minimised) {
    document.facts.push_back({"optimal", "proven to be the smallest", cover.optimal});
    document.facts.push_back(count_fact("forced", "of them alone in covering something", cover.forced));
    document.facts.push_back(count_fact("lower_bound", "no subset is smaller than", cover.lower_bound));
  }
  document.facts.push_back(
      {"factor", minimised ? "at most so many times the smallest" : "at least this share of the best",
       cover.factor, Kind::number, 3});
  document.definitions.push_back(
      {"choice",
       minimised ? "records that alone cover something are taken and records and items that others make "
                   "superfluous dropped, exactly; then greedy cover without redundant records, then branch "
                   "and bound where little is left. The bound is what was taken and a fractional bound of "
                   "the rest"
                 : "greedy choice",
       "docs/algorithms/selection.md"});
}

// Coverage after so many of the chosen records, at most 200 points.
report::Table growth_of(const selection::Cover& cover, const std::string& criterion) {
  constexpr std::size_t most = 200;
  const std::size_t every = std::max<std::size_t>(1, (cover.gain.size() + most - 1) / most);
  std::vector<std::pair<std::size_t, std::uint64_t>> points;  // records, and what they cover
  std::uint64_t covered = 0;
  for (std::size_t i = 0; i < cover.gain.size(); ++i) {
    covered += cover.gain[i];
    if ((i + 1) % every == 0 || i + 1 == cover.gain.size()) points.emplace_back(i + 1, covered);
  }
  return detailed(table_of("growth", "Coverage by the chosen records, in the order of choice", points,
                           {{"criterion", [&](auto&) { return criterion; }},
                            {"records", [](auto& point) { return point.first; }},
                            {"coverage", "of what all records cover", Kind::percent,
                             [&](auto& point) { return share_of(point.second, cover.coverable); }}}));
}

void add_apfd(report::Document& document, const selection::Apfd& apfd, const std::string& order) {
  document.facts.push_back(count_fact("faults", "misclassified records", apfd.faults));
  document.facts.push_back({"apfd", "APFD", cell_of(apfd.value), Kind::number, 4});
  document.tables.push_back(detailed(
      table_of("apfd", "Misclassified records found", apfd.curve,
               {{"order", [&](auto&) { return order; }},
                {"records", "share of records", Kind::percent, [](auto& point) { return point.first; }},
                {"found", "share found", Kind::percent, [](auto& point) { return point.second; }}})));
  document.definitions.push_back({"APFD",
                                  "1 - (sum of the 1-based places of the misclassified records) / (faults * "
                                  "records) + 1 / (2 * records)",
                                  "Rothermel et al. 2001; docs/algorithms/selection.md"});
}

}  // namespace

report::Document document_of(const coverage::Selection& selection, const coverage::SelectOptions& options,
                             const Dataset& test) {
  report::Document document;
  document.headline = fmt::format("{} of {} of {} by {}", selection.records.size(),
                                  so_many(test.size(), "record"), test.describe(), options.by);
  if (selection.cover && options.by == "minimise")
    document.headline +=
        selection.cover->optimal
            ? ", proved to be the fewest that keep all coverage"
            : fmt::format(", which keep all coverage; at least {} are needed", selection.cover->lower_bound);
  document.facts = {count_fact("records", "records", test.size()),
                    count_fact("chosen", "chosen", selection.records.size())};
  document.definitions.push_back(definition_of(options));
  if (selection.undefined > 0)
    document.notices.push_back(so_many(selection.undefined, "record has no score and comes first",
                                       "records have no score and come first"));
  if (selection.cover) {
    add_cover(document, *selection.cover, options.by == "minimise");
    document.tables.push_back(growth_of(*selection.cover, options.criterion.text()));
  }
  if (selection.apfd) add_apfd(document, *selection.apfd, options.by);
  document.tables.push_back(chosen_table(selection, options.by, test));
  return document;
}

void add_beyond(report::Document& document, const coverage::Selection& selection, const std::string& state) {
  const bool nothing = selection.cover && selection.cover->coverable == 0;
  document.headline += (nothing ? ": none covers anything beyond " : ", beyond ") + state;
  document.facts.push_back({"beyond", "beyond the state", state});
  document.facts.push_back(count_fact("known", "items of these records that it covers", selection.known));
}

}  // namespace assay::results
