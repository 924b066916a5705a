#include "assay/results/testing/exploration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include <assay/extend/constraint.h>
#include <assay/extend/criteria.h>
#include "assay/results/document.h"
#include "assay/results/networks/pictures.h"
#include "assay/support/text/so_many.h"
#include "assay/support/text/text.h"

namespace assay::results {
namespace {

// "3 3 8", the first output of each network, or how many items differ.
std::string answers_of(const explore::Finding& finding) {
  if (finding.items) return report::percent(finding.items->differing) + " of the items differ";
  std::vector<std::string> parts;
  for (const std::int64_t named : finding.classes) parts.push_back(std::to_string(named));
  for (std::size_t k = 0; finding.classes.empty() && k < finding.outputs.size(); ++k)
    parts.push_back(fmt::format("{:.3f}", finding.outputs[k].front()));
  return joined(parts, " ");
}

// The same with the names of networks and classes: "lenet5 3, int8@all 2".
std::string named_answers_of(const explore::Finding& finding, const ExplorationResult& result) {
  if (finding.items) return answers_of(finding);
  const std::vector<std::string> names = result.seeds.class_names();
  std::vector<std::string> parts;
  for (std::size_t k = 0; k < result.networks.size(); ++k) {
    const std::string answer = finding.classes.empty() ? fmt::format("{:.3f}", finding.outputs[k].front())
                                                       : class_name(names, finding.classes[k]);
    parts.push_back(result.networks[k].name + " " + answer);
  }
  return joined(parts);
}

std::string voted_label(const explore::Finding& finding) {
  if (finding.majority) return std::to_string(*finding.majority);
  if (finding.items) return finding.median ? "by item" : "";
  return finding.median ? fmt::format("{:.3f}", finding.median->front()) : "";
}

double mean_of_field(const std::vector<explore::Finding>& findings, double explore::Finding::*field) {
  double sum = 0;
  std::size_t count = 0;
  for (const explore::Finding& finding : findings) {
    if (finding.differing) continue;
    sum += finding.*field;
    ++count;
  }
  return count > 0 ? sum / count : NAN;
}

// What findings gain in networks [first, end) together; nothing where the criterion counts no items of
// records.
std::optional<std::uint64_t> total_gained(std::span<const explore::Finding> findings, std::size_t first,
                                          std::size_t end) {
  std::uint64_t total = 0;
  bool known = findings.empty();
  for (const explore::Finding& finding : findings) {
    for (std::size_t k = first; k < std::min(end, finding.gained.size()); ++k) {
      total += finding.gained[k].value_or(0);
      known |= finding.gained[k].has_value();
    }
  }
  return known ? std::optional(total) : std::nullopt;
}

// Whether a network says something else than the majority.
bool is_odd_one(const explore::Finding& finding, std::size_t network) {
  return finding.majority && finding.classes[network] != *finding.majority;
}

report::Table network_table(const ExplorationResult& result) {
  const explore::Exploration& e = result.exploration;
  const auto count = [&](const auto& holds) {
    return static_cast<std::size_t>(std::ranges::count_if(e.findings, holds));
  };
  const auto pushed = [&](std::size_t k) {
    return count([k](const explore::Finding& finding) { return !finding.differing && finding.target == k; });
  };
  const auto odd = [&](std::size_t k) {
    return count([k](const explore::Finding& finding) { return is_odd_one(finding, k); });
  };
  const auto share = [&](const std::vector<coverage::Coverage>& of, std::size_t k) {
    return e.after[k].coverable.empty() ? std::nullopt : std::optional(of[k].value);
  };
  return table_of("networks", "Networks", positions(result.networks.size()),
                  {{"network", [&](auto k) { return result.networks[k].name; }},
                   {"before", "coverage before", Kind::percent, [&](auto k) { return share(e.before, k); }},
                   {"after", "coverage after", Kind::percent, [&](auto k) { return share(e.after, k); }},
                   {"covered", "covered items", [&](auto k) { return e.after[k].covered; }},
                   {"coverable", [&](auto k) { return e.after[k].coverable; }},
                   {"gained", "items gained", [&](auto k) { return total_gained(e.findings, k, k + 1); }},
                   {"pushed", "made by pushing it", pushed},
                   {"odd", "unlike most", odd}});
}

report::Table ending_table(const ExplorationResult& result) {
  return table_of("endings", "How the searches ended", result.exploration.endings,
                  {{"ending", [](auto& entry) { return to_string(entry.first); }},
                   {"seeds", [](auto& entry) { return entry.second; }}});
}

// The decisions of all networks, most frequent first.
report::Table answer_table(const ExplorationResult& result, std::size_t most) {
  std::vector<std::string> names;
  for (const explore::ExploredNetwork& network : result.networks) names.push_back(network.name);
  std::map<std::string, std::int64_t> counts;
  for (const explore::Finding& finding : result.exploration.findings) {
    if (!finding.classes.empty()) ++counts[answers_of(finding)];
  }
  std::vector<std::pair<std::string, std::int64_t>> sorted(counts.begin(), counts.end());
  std::ranges::stable_sort(sorted, std::greater(), &std::pair<std::string, std::int64_t>::second);
  return table_of("answers", "What the networks say (" + joined(names) + ")", sorted | std::views::take(most),
                  {{"answers", "classes", [](auto& entry) { return entry.first; }},
                   {"findings", [](auto& entry) { return entry.second; }}});
}

report::Table finding_table(const ExplorationResult& result) {
  const std::vector<std::string> names = explore::names_of(result.exploration.findings, result.seeds);
  const auto finding = [&](std::size_t i) -> const explore::Finding& {
    return result.exploration.findings[i];
  };
  const auto pushed = [&](std::size_t i) {
    return finding(i).differing ? std::string() : result.networks[finding(i).target].name;
  };
  const auto gained = [&](std::size_t i) {
    return total_gained(std::span(&finding(i), 1), 0, result.networks.size());
  };
  const auto surprise = [&](std::size_t i) {
    return result.plausibility ? if_finite(result.plausibility->surprise[i]) : std::nullopt;
  };
  return detailed(table_of("findings", "Findings", positions(names.size()),
                           {{"id", [&](auto i) { return names[i]; }},
                            {"seed", [&](auto i) { return result.seeds.id(finding(i).seed); }},
                            {"answers", [&](auto i) { return answers_of(finding(i)); }},
                            {"label", "label of most", [&](auto i) { return voted_label(finding(i)); }},
                            {"iterations", [&](auto i) { return finding(i).iterations; }},
                            {"pushed", "network pushed", pushed},
                            {"l0", "L0", 0, [&](auto i) { return finding(i).l0; }},
                            {"l1", "L1", [&](auto i) { return finding(i).l1; }},
                            {"l2", "L2", 3, [&](auto i) { return finding(i).l2; }},
                            {"linf", "Linf", 3, [&](auto i) { return finding(i).linf; }},
                            {"gained", "items gained", gained},
                            {"surprise", 3, surprise}}));
}

report::Table round_table(const ExplorationResult& result) {
  using explore::GoalPoint;
  return detailed(table_of("rounds", "Rounds", result.exploration.rounds,
                           {{"seeds", "seeds searched", &GoalPoint::seeds},
                            {"findings", &GoalPoint::findings},
                            {"coverage", Kind::percent, &GoalPoint::share},
                            {"seconds", &GoalPoint::seconds}}));
}

report::Definition implausible_definition(const ExplorationResult& result) {
  const explore::Plausibility& p = *result.plausibility;
  return {
      "implausible",
      fmt::format(
          "{} of layer '{}' of {} above {:.4g}, which {} of {} seeds do not exceed, or without a value",
          p.measure, p.layer, result.networks.front().name, p.bound, report::percent(p.share, 0), p.seeds),
      "docs/algorithms/exploration.md"};
}

void add_definitions(report::Document& document, const Dataset& seeds,
                     const explore::ExploreOptions& options) {
  const explore::SearchOptions& search = options.search;
  document.definitions.push_back(
      {"finding",
       fmt::format(
           "a record on which {}, run again as read back from its file",
           search.disagreement.task ? fmt::format("two networks decide more than {} of the items differently",
                                                  search.disagreement.margin)
           : seeds.target_width() > 0
               ? fmt::format("outputs of two networks are more than {} apart", search.disagreement.margin)
               : "two networks name different classes"),
       "Pei et al., DeepXplore, SOSP 2017"});
  document.definitions.push_back(
      {"search",
       fmt::format("gradient ascent of sum of others' scores of the class - {} * the pushed network's + {} * "
                   "activations that would cover more of {}, step {}, {} iterations at most",
                   search.lambda1, search.lambda2, options.criterion.spec().text(), search.step,
                   search.iterations),
       "docs/algorithms/exploration.md"});
  for (const explore::ConstraintChoice& choice : options.constraints) {
    const explore::ConstraintInfo& info = explore::constraints().find(choice.spec().name);
    document.definitions.push_back({choice.spec().text(), info.definition, info.paper});
  }
  const coverage::CriterionInfo& criterion = coverage::criteria().find(options.criterion.spec().name);
  document.definitions.push_back({options.criterion.spec().text(), criterion.definition, criterion.paper});
  document.definitions.push_back(
      {"distances",
       "from the seed, in units of the valid range; means are over findings that the search made",
       "docs/algorithms/exploration.md"});
}

void add_search_facts(report::Document& document, const ExplorationResult& result) {
  const explore::Exploration& e = result.exploration;
  const auto changed =
      static_cast<std::size_t>(std::ranges::count(e.findings, false, &explore::Finding::differing));
  document.facts = {count_fact("seeds", "seeds searched", e.seeds)};
  if (e.searched != e.seeds)
    document.facts.push_back(count_fact("searches", "searches, in all passes", e.searched));
  const std::vector<report::Fact> found{
      count_fact("findings", "findings", e.findings.size()),
      count_fact("found", "of them made by the search", changed),
      count_fact("duplicates", "near-duplicates left out", e.duplicates),
      count_fact("voted", "with a label that most networks name", result.stored.voted_count),
      {"data", "findings as a data set", result.stored.data}};
  document.facts.insert(document.facts.end(), found.begin(), found.end());
  if (result.stored.voted_count > 0)
    document.facts.push_back({"voted_data", "the same with these labels", result.stored.voted_data});
  document.facts.push_back(count_fact("iterations", "iterations of all searches", e.iterations));
  if (changed == 0) return;
  document.facts.push_back({"mean_l1", "mean L1 distance from the seed",
                            mean_of_field(e.findings, &explore::Finding::l1), Kind::number, 2});
  document.facts.push_back({"mean_l2", "mean L2 distance from the seed",
                            mean_of_field(e.findings, &explore::Finding::l2), Kind::number, 3});
}

void add_run_facts(report::Document& document, const explore::Exploration& e) {
  document.facts.push_back({"ended_by", "ended because", e.ended_by});
  document.facts.push_back({"seconds", "seconds of searching", e.seconds, Kind::number, 2});
  if (e.seconds > 0 && e.resumed == 0)
    document.facts.push_back(
        {"per_second", "findings per second", e.findings.size() / e.seconds, Kind::number, 1});
  if (e.resumed > 0)
    document.facts.push_back(count_fact("resumed", "searches taken from an earlier run", e.resumed));
  if (e.left_out > 0)
    document.facts.push_back(
        count_fact("left_out", "seeds left out: the first network gets them wrong", e.left_out));
}

}  // namespace

report::Document document_of(const ExplorationResult& result, const explore::ExploreOptions& options) {
  const explore::Exploration& e = result.exploration;
  report::Document document;
  document.headline = fmt::format("{} on which {} networks disagree, from {}; all confirmed from the file {}",
                                  so_many(e.findings.size(), "record"), result.networks.size(),
                                  so_many(e.seeds, "seed"), result.stored.file.string());
  add_search_facts(document, result);
  if (e.share_after) {
    document.facts.push_back(
        {"coverage_before", "coverage of all networks before", *e.share_before, Kind::percent});
    document.facts.push_back({"coverage", "coverage of all networks after", *e.share_after, Kind::percent});
  }
  if (result.plausibility) {
    if (!e.findings.empty())
      document.facts.push_back(
          {"implausible", "share of findings called implausible",
           static_cast<double>(result.plausibility->implausible_count()) / e.findings.size(), Kind::percent});
    document.definitions.push_back(implausible_definition(result));
  }
  add_run_facts(document, e);
  if (result.stored.lost > 0)
    document.notices.push_back(fmt::format("{} dropped: the networks agree there once records are read back",
                                           so_many(result.stored.lost, "finding was", "findings were")));
  document.tables = {network_table(result), ending_table(result)};
  if (report::Table answers = answer_table(result, 15); !answers.rows.empty())
    document.tables.push_back(std::move(answers));
  document.tables.push_back(round_table(result));
  document.tables.push_back(finding_table(result));
  add_definitions(document, result.seeds, options);
  for (const explore::ExploredNetwork& network : result.networks)
    document.provenance.emplace_back("model_hash_" + network.name, network.session->graph().hash());
  add_provenance(document, "data", result.seeds);
  return document;
}

std::vector<report::Picture> draw_findings(const ExplorationResult& result, std::size_t count,
                                           const std::filesystem::path& folder) {
  const std::vector<explore::Finding>& findings = result.exploration.findings;
  if (!is_picture(result.seeds) || count == 0 || findings.empty()) return {};
  // Answers that were not drawn yet come first, so that the pictures show what there is; seeds that differ by
  // themselves last.
  std::vector<std::size_t> chosen, rest, unchanged;
  std::set<std::string> drawn;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    (findings[i].differing                          ? unchanged
     : drawn.insert(answers_of(findings[i])).second ? chosen
                                                    : rest)
        .push_back(i);
  }
  chosen.insert(chosen.end(), rest.begin(), rest.end());
  chosen.insert(chosen.end(), unchanged.begin(), unchanged.end());
  chosen.resize(std::min(chosen.size(), count));
  const DatasetPtr stored = open_dataset(result.stored.data);
  std::vector<std::size_t> originals;
  for (const std::size_t i : chosen) originals.push_back(findings[i].seed);
  const Batch before = result.seeds.read(originals), after = stored->read(chosen);
  const auto old_values = before.inputs.as<float>(), new_values = after.inputs.as<float>();
  const std::size_t size = old_values.size() / std::max<std::size_t>(1, chosen.size());
  std::vector<ChangedRecord> records;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    records.push_back({old_values.subspan(i * size, size), new_values.subspan(i * size, size),
                       fmt::format("seed '{}': {}", result.seeds.id(originals[i]),
                                   named_answers_of(findings[chosen[i]], result))});
  }
  return draw_triples(result.seeds, records, folder, "finding");
}

}  // namespace assay::results
