#include "assay/results/testing/audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "assay/report/percent.h"
#include "assay/results/document.h"
#include "assay/support/text/text.h"

namespace assay::results {
namespace {

using audit::Verdict;

std::optional<double> known(double value) { return std::isnan(value) ? std::nullopt : std::optional(value); }

// The getter of a number that may be NaN.
template <typename Row>
auto known(double Row::*number) {
  return [number](const Row& row) { return known(row.*number); };
}

// In a sentence that stands by itself.
std::string in_words(const audit::Tracking& tracking) {
  switch (tracking.verdict) {
    case Verdict::beyond_classes:
      return "tells strong subsets from weak ones of the same size, beyond the balance of classes";
    case Verdict::by_classes:
      return "tells strong subsets from weak ones of the same size, but is not shown to do more than the "
             "balance of classes does";
    case Verdict::silent:
      return "is not shown to tell strong subsets from weak ones of the same size";
    case Verdict::misleading:
      return "misleads: subsets of the same size that cover more find less";
    case Verdict::undecidable:
      break;
  }
  return tracking.reason;
}

report::Table verdict_table(const audit::Audit& result) {
  using audit::Tracking;
  return table_of("verdicts", "Does covering more mean finding more?", result.trackings,
                  {{"criterion", &Tracking::criterion},
                   {"faults", &Tracking::faults},
                   {"verdict", [](auto& tracking) { return to_string(tracking.verdict); }},
                   {"tau", "Kendall's tau", 3, known(&Tracking::tau)},
                   {"low", "from", 3, known(&Tracking::low)},
                   {"high", "to", 3, known(&Tracking::high)},
                   {"q", "q, chance", 4, known(&Tracking::q)},
                   {"q_within", "q, within classes", 4, known(&Tracking::q_within)},
                   {"baseline", &Tracking::baseline}});
}

// Further measurements of the same pairs.
report::Table word_table(const audit::Audit& result) {
  using audit::Tracking;
  return detailed(table_of("words", "The verdicts in words", result.trackings,
                           {{"criterion", &Tracking::criterion},
                            {"faults", &Tracking::faults},
                            {"words", "in words", in_words},
                            {"spearman", "Spearman's rho", 3, known(&Tracking::spearman)},
                            {"all_tau", "tau over all sizes", 3, known(&Tracking::all_tau)},
                            {"partial", "rho over all sizes, size held", 3, known(&Tracking::partial)}}));
}

report::Table order_table(const audit::Audit& result) {
  using audit::OrderScore;
  return table_of("orders", "Does choosing tests by it find faults earlier?", result.orders,
                  {{"order", "order by", &OrderScore::order},
                   {"faults", &OrderScore::faults},
                   {"apfd", "APFD", 4, known(&OrderScore::apfd)},
                   {"low", "from", 4, known(&OrderScore::low)},
                   {"high", "to", 4, known(&OrderScore::high)},
                   {"random", "random orders", 4, known(&OrderScore::random)},
                   {"p", "p, random as good", 4, known(&OrderScore::p)},
                   {"baseline", &OrderScore::baseline}});
}

report::Table criterion_table(const audit::Audit& result, const audit::Pool& pool) {
  using audit::Discrimination;
  ColumnsOf<Discrimination> columns{
      {"criterion", &Discrimination::criterion},
      {"by_classes", "ranks explained by classes", Kind::percent, &Discrimination::by_classes}};
  for (const std::size_t size : result.options.sizes)
    columns.add({fmt::format("mean_{}", size), fmt::format("mean of {} records", size), 4,
                 [size](auto& entry) { return known(value_at(entry.mean, size).value_or(NAN)); }});
  for (const auto& [name, again] : pool.again)
    columns.add({"again_" + name, "tau with " + name, 3,
                 [&name = name](auto& entry) { return known(value_at(entry.again, name).value_or(NAN)); }});
  return table_of("discrimination", "What moves the criterion", result.criteria, columns);
}

report::Table strata_table(const audit::Audit& result) {
  struct Row {
    const audit::Tracking& tracking;
    std::string sampler;
    std::size_t size;
    double tau;
  };
  std::vector<Row> rows;
  for (const audit::Tracking& tracking : result.trackings) {
    for (const auto& [stratum, tau] : tracking.strata)
      rows.push_back({tracking, stratum.first, stratum.second, tau});
  }
  return detailed(table_of("strata", "Kendall's tau by kind and size of subsets", rows,
                           {{"criterion", [](auto& row) { return row.tracking.criterion; }},
                            {"faults", [](auto& row) { return row.tracking.faults; }},
                            {"sampler", "subsets drawn", &Row::sampler},
                            {"size", "records", &Row::size},
                            {"tau", "Kendall's tau", 3, known(&Row::tau)}}));
}

report::Table agreement_table(const audit::Audit& result) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t a = 0; a < result.criteria.size(); ++a)
    for (std::size_t b = a + 1; b < result.criteria.size(); ++b) pairs.emplace_back(a, b);
  return detailed(
      table_of("agreement", "Kendall's tau between criteria", pairs,
               {{"criterion", [&](auto& pair) { return result.criteria[pair.first].criterion; }},
                {"other", "and", [&](auto& pair) { return result.criteria[pair.second].criterion; }},
                {"tau", 3, [&](auto& pair) { return known(result.agreement[pair.first][pair.second]); }}}));
}

auto items_of(double audit::Prediction::*count) {
  return [count](const audit::Prediction& one) { return static_cast<std::int64_t>(one.*count); };
}

report::Table prediction_table(const audit::Audit& result) {
  using audit::Prediction;
  return table_of("predictions",
                  "Share of the faults that the other set finds, predicted from what it covers",
                  result.predictions,
                  {{"criterion", &Prediction::criterion},
                   {"faults", &Prediction::faults},
                   {"share", "predicted", Kind::percent, known(&Prediction::share)},
                   {"low", "from", Kind::percent, known(&Prediction::low)},
                   {"high", "to", Kind::percent, known(&Prediction::high)},
                   {"r2", "R squared", 3, known(&Prediction::r2)},
                   {"rmse", "error", Kind::percent, &Prediction::rmse},
                   {"form", &Prediction::form},
                   {"covered", "covers", items_of(&Prediction::covered)},
                   {"least", "subsets: from", items_of(&Prediction::least)},
                   {"most", "subsets: to", items_of(&Prediction::most)},
                   {"reason", "why not predicted", &Prediction::reason},
                   {"baseline", &Prediction::baseline}});
}

report::Table form_table(const audit::Audit& result) {
  struct Row {
    const audit::Prediction& prediction;
    std::string form;
    double error;
  };
  std::vector<Row> rows;
  for (const audit::Prediction& one : result.predictions)
    for (const auto& [form, error] : one.errors) rows.push_back({one, form, error});
  return detailed(table_of("prediction_forms", "Cross-validated error of each form of a curve", rows,
                           {{"criterion", [](auto& row) { return row.prediction.criterion; }},
                            {"faults", [](auto& row) { return row.prediction.faults; }},
                            {"form", &Row::form},
                            {"rmse", "error", Kind::percent, &Row::error},
                            {"taken", [](auto& row) { return row.form == row.prediction.form; }}}));
}

// By the criterion that predicts best; null where none does.
const audit::Prediction* best_of(const audit::Audit& result, const audit::Faults& faults, bool baseline) {
  const audit::Prediction* best = nullptr;
  for (const audit::Prediction& one : result.predictions) {
    if (one.faults != faults.name || one.baseline != baseline || !one.reason.empty()) continue;
    if (best == nullptr || one.r2 > best->r2) best = &one;
  }
  return best;
}

// "predicted for new.npz: mutants killed 63.1 % (52.0 % to 74.2 %, by nc, R squared 0.81)".
std::string predicting(const audit::Audit& result, const audit::Pool& pool) {
  std::vector<std::string> parts;
  for (const audit::Faults& faults : pool.faults) {
    const audit::Prediction* const best = best_of(result, faults, false);
    parts.push_back(best == nullptr
                        ? fmt::format("no share of {}", faults.title)
                        : fmt::format("{} {} ({} to {}, by {}, R squared {:.2f})", faults.title,
                                      report::percent(best->share), report::percent(best->low),
                                      report::percent_at_most(best->high), best->criterion, best->r2));
  }
  return fmt::format("predicted for {}: {}", pool.predicted_name, joined(parts));
}

// What counting records would tell as well.
void add_needless(report::Document& document, const audit::Audit& result, const audit::Pool& pool) {
  for (const audit::Faults& faults : pool.faults) {
    const audit::Prediction *const best = best_of(result, faults, false), *const records =
                                                                              best_of(result, faults, true);
    if (best != nullptr && records != nullptr && records->r2 >= best->r2)
      document.notices.push_back(fmt::format(
          "{}: no criterion predicts the share better than the number of records does (R squared {:.2f} and "
          "{:.2f})",
          faults.title, best->r2, records->r2));
  }
}

// "mutants killed: told by lsc, dsc (2 of 17 criteria)".
std::string telling(const audit::Audit& result, const audit::Faults& faults) {
  std::vector<std::string> names;
  std::size_t criteria = 0, undecidable = 0;
  std::string reason;
  for (const audit::Tracking& tracking : result.trackings) {
    if (tracking.baseline || tracking.faults != faults.name) continue;
    ++criteria;
    if (tracking.verdict == Verdict::undecidable && ++undecidable == 1) reason = tracking.reason;
    if (tracking.verdict == Verdict::beyond_classes || tracking.verdict == Verdict::by_classes)
      names.push_back(tracking.criterion);
  }
  if (undecidable == criteria)
    return fmt::format("{}: undecidable{}{}", faults.title, reason.empty() ? "" : ", ", reason);
  return names.empty() ? fmt::format("{}: told by none of {} criteria", faults.title, criteria)
                       : fmt::format("{}: told by {} ({} of {} criteria)", faults.title, joined(names),
                                     names.size(), criteria);
}

std::string headline_of(const audit::Audit& result, const audit::Pool& pool, const std::string& subject) {
  std::vector<std::string> parts{subject};
  for (const audit::Faults& faults : pool.faults) parts.push_back(telling(result, faults));
  if (!result.predictions.empty()) parts.push_back(predicting(result, pool));
  return joined(parts, "; ");
}

}  // namespace

report::Document document_of(const audit::Audit& result, const audit::Pool& pool,
                             const std::string& subject) {
  report::Document document;
  document.headline = headline_of(result, pool, subject);
  document.facts = {count_fact("records", "records", result.records),
                    count_fact("subsets", "subsets", result.subsets),
                    count_fact("permutations", "permutations at most", result.options.permutations)};
  for (const audit::Faults& faults : pool.faults)
    document.facts.push_back(
        count_fact("faults_" + faults.name, faults.title + ", at most", result.faults.at(faults.name)));
  document.facts.push_back({"level", "false discovery rate", result.options.level, Kind::number, 3});
  document.tables = {verdict_table(result), order_table(result),  criterion_table(result, pool),
                     word_table(result),    strata_table(result), agreement_table(result)};
  if (!result.predictions.empty())
    document.tables.insert(document.tables.begin() + 1, {prediction_table(result), form_table(result)});
  document.notices.assign(result.notices.begin(), result.notices.end());
  add_needless(document, result, pool);
  const std::string page = "docs/algorithms/audit.md";
  document.definitions = {
      {"Kendall's tau",
       "tau-b between covered items and revealed faults within subsets of one size and kind, the mean over "
       "these; 95 % interval by a bootstrap of subsets and a jackknife of faults, which does not speak for "
       "other "
       "records",
       "Kendall 1945; " + page},
      {"q, chance",
       "false discovery rate (Benjamini and Hochberg 1995) of a permutation test: the items of records "
       "exchanged among all records",
       page},
      {"q, within classes", "the same with records of one class (and cluster) only, towards the sign of tau",
       page},
      {"ranks explained by classes",
       "adjusted R squared of a regression of the ranks of subsets on their shares of classes", page},
      {"APFD",
       "1 - (sum of the places of the first record that reveals each fault) / (faults * records) + 1 / (2 * "
       "records); orders are by additional coverage, and by falling score for sums",
       "Rothermel et al. 2001; docs/algorithms/selection.md"}};
  if (!result.predictions.empty())
    document.definitions.push_back(
        {"predicted share",
         "regression of the share of found faults on the number of covered items over all subsets (line, "
         "parabola, exponential, rising steps or regression tree, whichever has the least error of five-fold "
         "cross-validation); 95 % interval by the residuals of cross-validation, for a subset of these "
         "records that covers as much",
         "TEASMA, arXiv:2308.01311; " + page});
  for (const std::string& name : result.options.samplers) {
    const audit::SamplerInfo& sampler = audit::samplers().find(name);
    document.definitions.push_back({"subsets drawn: " + sampler.name, sampler.definition, page});
  }
  return document;
}

std::vector<FigureByGroup> by_group(const audit::Pool& pool, std::span<const groups::Group> groups) {
  std::vector<FigureByGroup> figures;
  const auto add = [&](const std::string& name, const std::string& meaning,
                       const selection::CoveredRows& rows, double all) {
    figures.push_back(united_by_group(
        {.name = name, .sum_title = "found", .weight_title = "of all", .meaning = meaning}, groups,
        [&](std::size_t record) { return rows.row(record); }, static_cast<std::uint64_t>(all)));
  };
  for (const audit::Faults& faults : pool.faults) {
    const std::set<std::uint32_t> all(faults.rows.items.begin(), faults.rows.items.end());
    add(faults.name, "faults that a record of the group reveals, of those that any record reveals",
        faults.rows, static_cast<double>(all.size()));
  }
  for (const audit::Measured& criterion : pool.criteria) {
    if (criterion.scores.empty() && criterion.coverable > 0)
      add(criterion.name, "what the records of the group cover together", criterion.rows,
          criterion.coverable);
  }
  return figures;
}

}  // namespace assay::results
