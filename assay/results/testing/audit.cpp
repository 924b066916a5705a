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

report::Cell known_cell(double value) { return std::isnan(value) ? report::Cell() : report::Cell(value); }

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
  report::Table table{"verdicts",
                      "Does covering more mean finding more?",
                      {{"criterion", "criterion"},
                       {"faults", "faults"},
                       {"verdict", "verdict"},
                       {"tau", "Kendall's tau", Kind::number, 3},
                       {"low", "from", Kind::number, 3},
                       {"high", "to", Kind::number, 3},
                       {"q", "q, chance", Kind::number, 4},
                       {"q_within", "q, within classes", Kind::number, 4},
                       {"baseline", "baseline"}},
                      {},
                      false};
  for (const audit::Tracking& tracking : result.trackings) {
    table.rows.push_back({tracking.criterion, tracking.faults, to_string(tracking.verdict),
                          known_cell(tracking.tau), known_cell(tracking.low), known_cell(tracking.high),
                          known_cell(tracking.q), known_cell(tracking.q_within), tracking.baseline});
  }
  return table;
}

// Further measurements of the same pairs.
report::Table word_table(const audit::Audit& result) {
  report::Table table{"words",
                      "The verdicts in words",
                      {{"criterion", "criterion"},
                       {"faults", "faults"},
                       {"words", "in words"},
                       {"spearman", "Spearman's rho", Kind::number, 3},
                       {"all_tau", "tau over all sizes", Kind::number, 3},
                       {"partial", "rho over all sizes, size held", Kind::number, 3}},
                      {},
                      true};
  for (const audit::Tracking& tracking : result.trackings) {
    table.rows.push_back({tracking.criterion, tracking.faults, in_words(tracking),
                          known_cell(tracking.spearman), known_cell(tracking.all_tau),
                          known_cell(tracking.partial)});
  }
  return table;
}

report::Table order_table(const audit::Audit& result) {
  report::Table table{"orders",
                      "Does choosing tests by it find faults earlier?",
                      {{"order", "order by"},
                       {"faults", "faults"},
                       {"apfd", "APFD", Kind::number, 4},
                       {"low", "from", Kind::number, 4},
                       {"high", "to", Kind::number, 4},
                       {"random", "random orders", Kind::number, 4},
                       {"p", "p, random as good", Kind::number, 4},
                       {"baseline", "baseline"}},
                      {},
                      false};
  for (const audit::OrderScore& order : result.orders)
    table.rows.push_back({order.order, order.faults, known_cell(order.apfd), known_cell(order.low),
                          known_cell(order.high), known_cell(order.random), known_cell(order.p),
                          order.baseline});
  return table;
}

report::Table criterion_table(const audit::Audit& result, const audit::Pool& pool) {
  report::Table table{
      "discrimination",
      "What moves the criterion",
      {{"criterion", "criterion"}, {"by_classes", "ranks explained by classes", Kind::percent}},
      {},
      false};
  for (const std::size_t size : result.options.sizes)
    table.columns.push_back(
        {fmt::format("mean_{}", size), fmt::format("mean of {} records", size), Kind::number, 4});
  for (const auto& [name, again] : pool.again)
    table.columns.push_back({"again_" + name, fmt::format("tau with {}", name), Kind::number, 3});
  for (const audit::Discrimination& entry : result.criteria) {
    std::vector<report::Cell> row{entry.criterion, optional_cell(entry.by_classes)};
    for (const auto& [size, mean] : entry.mean) row.push_back(known_cell(mean));
    for (const auto& [name, again] : pool.again) {
      const auto tau = entry.again.find(name);
      row.push_back(tau == entry.again.end() ? report::Cell() : known_cell(tau->second));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

report::Table strata_table(const audit::Audit& result) {
  report::Table table{"strata",
                      "Kendall's tau by kind and size of subsets",
                      {{"criterion", "criterion"},
                       {"faults", "faults"},
                       {"sampler", "subsets drawn"},
                       {"size", "records", Kind::count},
                       {"tau", "Kendall's tau", Kind::number, 3}},
                      {},
                      true};
  for (const audit::Tracking& tracking : result.trackings) {
    for (const auto& [stratum, tau] : tracking.strata)
      table.rows.push_back({tracking.criterion, tracking.faults, stratum.first,
                            report::count_cell(stratum.second), known_cell(tau)});
  }
  return table;
}

report::Table agreement_table(const audit::Audit& result) {
  report::Table table{"agreement",
                      "Kendall's tau between criteria",
                      {{"criterion", "criterion"}, {"other", "and"}, {"tau", "tau", Kind::number, 3}},
                      {},
                      true};
  for (std::size_t a = 0; a < result.criteria.size(); ++a) {
    for (std::size_t b = a + 1; b < result.criteria.size(); ++b)
      table.rows.push_back(
          {result.criteria[a].criterion, result.criteria[b].criterion, known_cell(result.agreement[a][b])});
  }
  return table;
}

report::Table prediction_table(const audit::Audit& result) {
  report::Table table{"predictions",
                      "Share of the faults that the other set finds, predicted from what it covers",
                      {{"criterion", "criterion"},
                       {"faults", "faults"},
                       {"share", "predicted", Kind::percent},
                       {"low", "from", Kind::percent},
                       {"high", "to", Kind::percent},
                       {"r2", "R squared", Kind::number, 3},
                       {"rmse", "error", Kind::percent},
                       {"form", "form"},
                       {"covered", "covers", Kind::count},
                       {"least", "subsets: from", Kind::count},
                       {"most", "subsets: to", Kind::count},
                       {"reason", "why not predicted"},
                       {"baseline", "baseline"}},
                      {}};
  for (const audit::Prediction& one : result.predictions)
    table.rows.push_back({one.criterion, one.faults, known_cell(one.share), known_cell(one.low),
                          known_cell(one.high), known_cell(one.r2), one.rmse, one.form,
                          static_cast<std::int64_t>(one.covered), static_cast<std::int64_t>(one.least),
                          static_cast<std::int64_t>(one.most), one.reason, one.baseline});
  return table;
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
    document.tables.insert(document.tables.begin() + 1, prediction_table(result));
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
         "parabola or rising steps, whichever has the least error of five-fold cross-validation); 95 % "
         "interval by the residuals of cross-validation, for a subset of these records that covers as much",
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
