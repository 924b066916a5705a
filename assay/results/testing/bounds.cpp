#include "assay/results/testing/bounds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "assay/results/document.h"
#include "assay/results/figures.h"
#include "assay/support/numbers/distributions.h"

namespace assay::results {
namespace {

using bounds::Outcome;
using bounds::RecordBounds;

constexpr const char* page = "docs/bounds.md";
constexpr double quantiles[] = {0, 0.1, 0.25, 0.5, 0.75, 0.9, 1};

std::size_t count_of(std::span<const RecordBounds> found, Outcome outcome) {
  return std::ranges::count(found, outcome, &RecordBounds::outcome);
}

const char* name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::wrong:
      return "wrong";
    case Outcome::certified:
      return "certified";
    case Outcome::attacked:
      return "attacked";
    case Outcome::open:
      return "open";
  }
  return "";
}

// The least value that at least this share of the values does not exceed. REQUIRES some, ascending.
double quantile(const std::vector<double>& values, double share) {
  const double rank = std::ceil(share * values.size());
  return values[static_cast<std::size_t>(std::max(1.0, rank)) - 1];
}

std::vector<double> certified_radii(std::span<const RecordBounds> found) {
  std::vector<double> radii;
  for (const RecordBounds& one : found)
    if (one.outcome != Outcome::wrong) radii.push_back(one.certified_radius);
  std::ranges::sort(radii);
  return radii;
}

// Infinite where no attack succeeds.
std::vector<double> attacked_radii(std::span<const RecordBounds> found) {
  std::vector<double> radii;
  for (const RecordBounds& one : found)
    if (one.outcome != Outcome::wrong)
      radii.push_back(one.attacked_radius.value_or(std::numeric_limits<double>::infinity()));
  std::ranges::sort(radii);
  return radii;
}

report::Table outcomes_table(std::span<const RecordBounds> found) {
  const auto records = [&](Outcome outcome) { return count_of(found, outcome); };
  const auto share = [&](Outcome outcome) { return share_of(records(outcome), found.size()); };
  const auto interval = [&](Outcome outcome) {
    return wilson(share(outcome), static_cast<double>(found.size()), normal_quantile(0.975));
  };
  return table_of("outcomes", "Records, with 95 % intervals",
                  std::array{Outcome::certified, Outcome::attacked, Outcome::open, Outcome::wrong},
                  {{"outcome", name_of},
                   {"records", records},
                   {"share", "of all", Kind::percent, share},
                   {"low", "from", Kind::percent, [&](auto outcome) { return interval(outcome).low; }},
                   {"high", "to", Kind::percent, [&](auto outcome) { return interval(outcome).high; }}});
}

report::Table radii_table(std::span<const RecordBounds> found) {
  const std::vector<double> certified = certified_radii(found), attacked = attacked_radii(found);
  return table_of(
      "radii", "Radii of right records",
      std::span(quantiles).first(certified.empty() ? 0 : std::size(quantiles)),
      {{"share", "share of records up to", Kind::percent, std::identity()},
       {"certified", "certified radius", 5, [&](auto share) { return quantile(certified, share); }},
       {"attacked", "radius of an attack", 5,
        [&](auto share) { return if_finite(quantile(attacked, share)); }}});
}

report::Table records_table(std::span<const RecordBounds> found, const bounds::CertifyOptions& options,
                            const Dataset& data) {
  const auto radii = when(options.bisections > 0);
  const auto if_right = [](const RecordBounds& one, double value) {
    return one.outcome == Outcome::wrong ? std::nullopt : std::optional(value);
  };
  const auto margin = [&](const RecordBounds& one) {
    return std::isfinite(one.margin) ? if_right(one, one.margin) : std::nullopt;
  };
  const auto certified = [&](const RecordBounds& one) { return if_right(one, one.certified_radius); };
  return detailed(
      table_of("records", "Records", found,
               {{"record", [&](auto& one) { return data.id(one.record); }},
                {"class", [&](auto& one) { return class_name(data.class_names(), one.label); }},
                {"outcome", [](auto& one) { return name_of(one.outcome); }},
                {"margin", "margin at least", 4, margin},
                {radii, "certified_radius", "certified radius", 5, certified},
                {radii, "attacked_radius", "radius of an attack", 5, &RecordBounds::attacked_radius}}));
}

report::Table counterexample_table(const bounds::Witness& witness) {
  std::vector<std::pair<std::string, double>> values;
  for (std::size_t i = 0; i < witness.input.size(); ++i)
    values.emplace_back(fmt::format("X_{}", i), witness.input[i]);
  for (std::size_t i = 0; i < witness.output.size(); ++i)
    values.emplace_back(fmt::format("Y_{}", i), witness.output[i]);
  return detailed(table_of("counterexample", "Counterexample", values,
                           {{"variable", [](auto& one) { return one.first; }},
                            {"value", 6, [](auto& one) { return one.second; }}}));
}

std::string method_words(bounds::Method method) {
  return method == bounds::Method::interval ? "intervals" : "linear functions";
}

void add_definitions(report::Document& document, const bounds::CertifyOptions& options) {
  document.definitions = {
      {"certified",
       fmt::format(
           "right records whose label has the greatest score for every change of each element by at most {} "
           "of the valid range, by {}. This holds for real arithmetic on the float32 weights and for every "
           "computation in float32 that adds products in any order, not for transforms such as Winograd's",
           options.radius,
           options.method == bounds::Method::interval ? "interval arithmetic" : "linear bounds (CROWN)"),
       "Gowal et al. 2018; Zhang et al., NeurIPS 2018; docs/bounds.md"},
      {"attacked", "right records of which " + options.attack + " found another decision within the radius",
       page},
      {"open", "right records of which neither is known", page}};
  if (options.bisections > 0)
    document.definitions.push_back(
        {"certified radius",
         fmt::format("greatest radius that is certified, by {} halvings between 0 and {}; the radius of an "
                     "attack is the least at which one succeeds. The true radius lies between them; "
                     "quantiles of both are over all right records",
                     options.bisections, options.radius),
         page});
}

}  // namespace

std::vector<report::Measurement> measurements_of(std::span<const RecordBounds> found,
                                                 const bounds::CertifyOptions& options) {
  const std::size_t all = std::max<std::size_t>(1, found.size());
  std::vector<report::Measurement> figures{
      counted_figure("certified", count_of(found, Outcome::certified), all),
      counted_figure("attacked", count_of(found, Outcome::attacked), all, false),
      counted_figure("open", count_of(found, Outcome::open), all, false),
      counted_figure("right", all - count_of(found, Outcome::wrong), all)};
  if (options.bisections == 0) return figures;
  const std::vector<double> radii = certified_radii(found);
  for (const double share : quantiles)
    figures.push_back(number_figure(fmt::format("certified-radius[quantile={}]", share),
                                    radii.empty() ? 0 : quantile(radii, share)));
  return figures;
}

report::Document document_of(std::span<const RecordBounds> found, const bounds::CertifyOptions& options,
                             const Graph& network, const Dataset& data, bool detailed) {
  const std::size_t certified = count_of(found, Outcome::certified),
                    attacked = count_of(found, Outcome::attacked), open = count_of(found, Outcome::open);
  const auto share = [&](std::size_t count) {
    return report::percent(share_of(count, std::max<std::size_t>(1, found.size())));
  };
  report::Document document;
  document.headline =
      fmt::format("{} on {}: within {} of the valid range {} certified, {} attacked, {} open, {} wrong",
                  network.name(), data.describe(), options.radius, share(certified), share(attacked),
                  share(open), share(count_of(found, Outcome::wrong)));
  document.facts = {
      count_fact("records", "records", found.size()),
      {"radius", "radius (maximum norm, share of the valid range)", options.radius, Kind::number, 5},
      {"method", "bounds by", method_words(options.method)},
      {"attack", "attack", options.attack}};
  document.tables.push_back(outcomes_table(found));
  if (options.bisections > 0) document.tables.push_back(radii_table(found));
  if (detailed) document.tables.push_back(records_table(found, options, data));
  document.tables.push_back(figures_for_gates(measurements_of(found, options)));
  if (options.attack == "none")
    document.notices.push_back(
        message("no attack was run, so that records that are not certified are all open{}",
                About{"", "; {attack=pgd} looks for counterexamples"}));
  add_definitions(document, options);
  return document;
}

std::vector<report::Measurement> measurements_of(const bounds::Answer& answer) {
  return {number_figure("holds", answer.verdict == bounds::Verdict::holds ? 1.0 : 0.0),
          number_figure("violated", answer.verdict == bounds::Verdict::violated ? 1.0 : 0.0, false)};
}

report::Document document_of(const bounds::Answer& answer, const bounds::Query& query,
                             const bounds::SolveOptions& options, const Graph& network) {
  const bool holds = answer.verdict == bounds::Verdict::holds,
             violated = answer.verdict == bounds::Verdict::violated;
  report::Document document;
  document.headline = fmt::format(
      "{}: {}", network.name(),
      holds      ? "unsat: no input is a counterexample, up to the rounding that is stated"
      : violated ? "sat: a counterexample was found"
                 : fmt::format("unknown: {} of {} boxes are left open", answer.open, answer.boxes));
  document.facts = {{"answer", "answer",
                     holds      ? "unsat"
                     : violated ? "sat"
                                : "unknown"},
                    count_fact("cases", "cases", query.cases.size()),
                    count_fact("boxes", "boxes bounded", answer.boxes),
                    count_fact("open", "boxes left open", answer.open),
                    {"method", "bounds by", method_words(options.method)}};
  if (query.empty_cases > 0)
    document.warnings.push_back({"empty-cases",
                                 fmt::format("{} of {} cases of the query hold no input", query.empty_cases,
                                             query.cases.size() + query.empty_cases),
                                 "bounds on an input contradict each other; that such a case has no "
                                 "counterexample says nothing of the network"});
  if (answer.witness) document.tables.push_back(counterexample_table(*answer.witness));
  document.tables.push_back(figures_for_gates(measurements_of(answer)));
  document.definitions = {
      {"unsat",
       "bounds of the outputs exclude every case of the query, for real arithmetic on the float32 weights "
       "and for every computation in float32 that adds products in any order",
       page},
      {"sat", "an input of float32 numbers within a case, whose outputs by this network meet its constraints",
       page},
      {"unknown", "neither was found before the limit on boxes", page}};
  return document;
}

std::vector<report::Measurement> measurements_of(const bounds::WitnessCheck& check) {
  return {number_figure("counterexample", check.counterexample() ? 1.0 : 0.0, false)};
}

report::Document document_of(const bounds::WitnessCheck& check, const bounds::Query& query,
                             const Graph& network) {
  report::Document document;
  const std::string why = !check.outputs_agree() ? "the network gives other outputs than are claimed"
                          : check.counterexample()
                              ? "the network gives the claimed outputs, and they are of a case"
                              : "box or constraints of every case are missed";
  document.headline =
      fmt::format("{}: {} counterexample: {}", network.name(), check.counterexample() ? "a" : "no", why);
  document.facts = {
      {"counterexample", "counterexample by the competition's rules", check.counterexample()},
      {"strict", "counterexample without tolerances", check.excess <= 0},
      {"difference", "difference from claimed outputs", check.difference, Kind::number, 6},
      {"claimed_excess", "nearest case missed by (claimed outputs)", check.claimed_excess, Kind::number, 6},
      {"excess", "nearest case missed by (the network's outputs)", check.excess, Kind::number, 6},
      count_fact("cases", "cases", query.cases.size())};
  document.tables.push_back(figures_for_gates(measurements_of(check)));
  document.definitions = {
      {"counterexample",
       "as VNN-COMP scores: the greatest difference of outputs is at most 0.001 of the greatest that is "
       "claimed, and box and constraints hold up to 0.0001 for the claimed outputs",
       page}};
  return document;
}

}  // namespace assay::results
