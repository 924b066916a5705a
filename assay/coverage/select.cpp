#include "assay/coverage/select.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <assay/coverage.h>
#include <assay/error.h>
#include <assay/extend/abilities.h>
#include <assay/selection.h>
#include "assay/coverage/item_doubts.h"
#include "assay/support/ranks/ranks.h"
#include "assay/support/text/text.h"

namespace assay::coverage {
namespace {

const std::vector<std::string>& coverage_ways() {
  static const std::vector<std::string> ways{"minimise", "budget", "additional"};
  return ways;
}

// Ways by surprise, and the criterion that computes it.
const std::map<std::string, std::string>& surprise_ways() {
  static const std::map<std::string, std::string> ways{{"lsa", "lsc"}, {"dsa", "dsc"}, {"mdsa", "mdsc"}};
  return ways;
}

// For choices that need no training data: a profile of the network that has learned nothing.
std::shared_ptr<const Profile> plain_profile(const Session& session) {
  auto profile = std::make_shared<Profile>();
  profile->model_hash = session.graph().hash();
  return profile;
}

// The position of the criterion in a state that holds it.
std::size_t position_in(const CoverageState& state, const Spec& criterion) {
  const auto& specs = state.specs();
  return std::ranges::find(specs, criterion.text(), &Spec::text) - specs.begin();
}

// Takes what a state covers out of what records cover; the number of these items.
std::uint64_t take_out(std::vector<std::vector<std::uint64_t>>& items, const Criterion& covered) {
  std::unordered_set<std::uint64_t> open;
  for (const auto& of_record : items) open.insert(of_record.begin(), of_record.end());
  const std::size_t all = open.size();
  ability<Itemised>(covered)->each_covered([&](std::uint64_t item) { open.erase(item); });
  for (auto& of_record : items)
    std::erase_if(of_record, [&](std::uint64_t item) { return !open.contains(item); });
  return all - open.size();
}

selection::CoveredRows covered_rows(Observations& seen, const Spec& criterion, bool beyond) {
  selection::CoveredRows rows = rows_of(std::move(seen.items.at(0)));
  if (rows.items.empty() && !beyond)
    fail(Fault::usage, "{} has no items that records cover one by one; choose another criterion",
         criterion.text());
  return rows;
}

Selection ordered(const std::vector<double>& scores) {
  selection::ScoreOrder order = selection::order_by_score(scores);
  std::vector<double> in_order;
  for (const std::size_t r : order.order) in_order.push_back(scores[r]);
  return {.records = std::move(order.order),
          .scores = std::move(in_order),
          .cover = {},
          .undefined = order.undefined,
          .apfd = {}};
}

Selection choose(const CoverageState& state, Observations& seen, const Dataset& test,
                 const SelectOptions& options) {
  const bool beyond = options.beyond != nullptr;
  if (options.by == "random")
    return {.records = selection::order_random(test.size(), options.seed), .cover = {}, .apfd = {}};
  if (options.by == "additional")
    return {.records = selection::order_additional(covered_rows(seen, options.criterion, beyond),
                                                   options.size > 0 ? options.size : test.size()),
            .cover = {},
            .apfd = {}};
  if (selects_by_coverage(options.by)) {
    selection::CoveredRows rows = covered_rows(seen, options.criterion, beyond);
    selection::Cover cover = options.by == "minimise" ? selection::minimise(rows)
                                                      : selection::budgeted(std::move(rows), options.size);
    return {.records = cover.records, .cover = std::move(cover), .apfd = {}};
  }
  std::vector<double> scores(test.size(), std::nan(""));
  if (surprise_ways().contains(options.by)) {
    const auto total = state.total(0);
    const RecordValues values = required<Valued>(*total, state.specs()[0].text()).values();
    for (const auto& [record, value] : values.values) scores[record] = value;
    return ordered(scores);
  }
  if (seen.records.size() != test.size())
    fail(Fault::usage,
         "{} {} is by doubt between classes, and the network names none for a record; choose by coverage "
         "(minimise, budget, additional) or by how surprising records are (lsa, mdsa)",
         About{"choosing by", "{by}"}, options.by);
  for (const RecordFacts& record : seen.records) scores[record.record] = record.doubt(options.by);
  return ordered(scores);
}

// How early an order of all records finds those that the network gets wrong.
std::optional<selection::Apfd> apfd_of(const std::vector<std::size_t>& order, const Observations& seen) {
  if (order.size() != seen.records.size()) return {};
  std::vector<bool> fault(order.size(), false);
  bool labelled = false;
  for (const RecordFacts& record : seen.records) {
    labelled |= record.label >= 0;
    fault[record.record] = record.label >= 0 && record.label != record.predicted;
  }
  if (!labelled) return {};
  return selection::apfd(order, fault);
}

}  // namespace

selection::CoveredRows rows_of(std::vector<std::vector<std::uint64_t>> items) {
  selection::CoveredRows rows;
  std::size_t entries = 0;
  for (const auto& of_record : items) entries += of_record.size();
  rows.items.reserve(entries);
  std::unordered_map<std::uint64_t, std::uint32_t> dense;
  std::vector<std::uint32_t> row;
  for (auto& of_record : items) {
    row.clear();
    for (const std::uint64_t item : of_record)
      row.push_back(dense.emplace(item, static_cast<std::uint32_t>(dense.size())).first->second);
    rows.add(row);
    of_record = {};  // a million records have many
  }
  return rows;
}

std::vector<std::string> selection_ways() {
  std::vector<std::string> ways = coverage_ways();
  for (const selection::Doubt& doubt : selection::doubts()) ways.emplace_back(doubt.name);
  for (const char* by : {"lsa", "dsa", "mdsa", "random"}) ways.emplace_back(by);
  return ways;
}

bool selects_by_coverage(const std::string& by) {
  return std::ranges::find(coverage_ways(), by) != coverage_ways().end();
}

void check_choice(const SelectOptions& options, bool beyond) {
  if (beyond && !selects_by_coverage(options.by))
    fail(Fault::usage,
         "a choice by {} does not use coverage, so what is covered already cannot change it; choose by {}",
         options.by, joined(coverage_ways(), " or "));

  if (options.by == "budget" && options.size == 0)
    fail(Fault::usage, "a choice by budget needs a size, the number of records to choose");
  if (options.by == "minimise" && options.size > 0)
    fail(Fault::usage,
         "minimise finds how many records keep all coverage, so {} cannot be given; budget covers the most "
         "with a given number",
         options.size);
}

std::optional<Spec> criterion_of(const SelectOptions& options) {
  if (selects_by_coverage(options.by)) return options.criterion;
  const auto surprise = surprise_ways().find(options.by);
  if (surprise == surprise_ways().end()) return {};
  return parse_spec("criterion", surprise->second);
}

Selection select_records(const Session& session, std::shared_ptr<const Profile> profile,
                         const DatasetPtr& test, const SelectOptions& options, Progress& progress) {
  check_choice(options, options.beyond != nullptr);
  const auto cut = [&](Selection selection) {
    if (options.size == 0 || selection.records.size() <= options.size) return selection;
    selection.records.resize(options.size);
    if (!selection.scores.empty()) selection.scores.resize(options.size);
    return selection;
  };
  if (options.task && selection::doubts().contains(options.by)) {
    const auto doubt = selection::doubts().find(options.by).score;
    const std::vector<double> scores =
        doubts_of_items(session, test, *options.task, doubt, options.batch, progress);
    ranks().leave_to_first();
    return cut(ordered(scores));
  }
  const std::optional<Spec> criterion = criterion_of(options);
  CoverageState state(profile ? std::move(profile) : plain_profile(session),
                      criterion ? std::vector<CriterionChoice>{*criterion} : std::vector<CriterionChoice>{},
                      false);
  if (selects_by_coverage(options.by)) required<Itemised>(*state.total(0), options.criterion.text());
  Observations seen = measure(session, state, test,
                              {.batch = options.batch,
                               .remember_records = true,
                               .remember_items = criterion.has_value(),
                               .items = options.items},
                              progress);
  ranks().leave_to_first();
  const std::uint64_t known =
      options.beyond ? take_out(seen.items.at(0),
                                *options.beyond->total(position_in(*options.beyond, options.criterion)))
                     : 0;
  Selection selection = choose(state, seen, *test, options);
  selection.known = known;
  selection.apfd = apfd_of(selection.records, seen);
  return cut(std::move(selection));
}

}  // namespace assay::coverage
