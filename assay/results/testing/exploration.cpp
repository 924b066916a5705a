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
#include "assay/support/text/text.h"

namespace assay::results {
namespace {

report::Cell finite_cell(double value) { return std::isfinite(value) ? report::Cell(value) : report::Cell(); }

// "3 3 8", the first output of each network, or how many items differ.
std::string answers_of(const explore::Finding& finding) {
  if (finding.items) return report::percent(finding.items->differing) + " of the items differ";
  std::vector<std::string> parts;
  for (const std::int64_t named : finding.classes) parts.push_back(std::to_string(named));
  for (std::size_t k = 0; finding.classes.empty() && k < finding.outputs.size(); ++k)
    parts.push_back(fmt::format("{:.3f}", finding.outputs[k].front()));
  return joined(parts, " ");
}

// The same with the networks' names: "lenet5 3, int8@all 2".
std::string named_answers_of(const explore::Finding& finding, const ExplorationResult& result) {
  if (finding.items) return answers_of(finding);
  std::vector<std::string> parts;
  for (std::size_t k = 0; k < result.networks.size(); ++k) {
    const std::string answer = finding.classes.empty() ? fmt::format("{:.3f}", finding.outputs[k].front())
                                                       : std::to_string(finding.classes[k]);
    parts.push_back(result.networks[k].name + " " + answer);
  }
  return joined(parts);
}

std::string voted_label(const explore::Finding& finding) {
  if (finding.majority) return std::to_string(*finding.majority);
  if (finding.items) return finding.median ? "by item" : "";
  return finding.median ? fmt::format("{:.3f}", finding.median->front()) : "";
}

double mean_of(const std::vector<explore::Finding>& findings, double explore::Finding::*field) {
  double sum = 0;
  std::size_t count = 0;
  for (const explore::Finding& finding : findings) {
    if (finding.differing) continue;
    sum += finding.*field;
    ++count;
  }
  return count > 0 ? sum / static_cast<double>(count) : NAN;
}

// What findings gain in networks [first, end) together; nothing where the criterion counts no items of
// records.
report::Cell total_gained(std::span<const explore::Finding> findings, std::size_t first, std::size_t end) {
  std::uint64_t total = 0;
  bool known = findings.empty();
  for (const explore::Finding& finding : findings) {
    for (std::size_t k = first; k < std::min(end, finding.gained.size()); ++k) {
      total += finding.gained[k].value_or(0);
      known |= finding.gained[k].has_value();
    }
  }
  return known ? report::count_cell(total) : report::Cell();
}

// Whether a network says something else than the majority.
bool is_odd_one(const explore::Finding& finding, std::size_t network) {
  return finding.majority && finding.classes[network] != *finding.majority;
}

report::Table network_table(const ExplorationResult& result) {
  report::Table table{"networks",
                      "Networks",
                      {{"network", "network"},
                       {"before", "coverage before", Kind::percent},
                       {"after", "coverage after", Kind::percent},
                       {"covered", "covered items"},
                       {"coverable", "coverable"},
                       {"gained", "items gained", Kind::count},
                       {"pushed", "made by pushing it", Kind::count},
                       {"odd", "unlike most", Kind::count}},
                      {},
                      false};
  for (std::size_t k = 0; k < result.networks.size(); ++k) {
    const coverage::Coverage &before = result.exploration.before[k], &after = result.exploration.after[k];
    std::int64_t pushed = 0, odd = 0;
    for (const explore::Finding& finding : result.exploration.findings) {
      pushed += !finding.differing && finding.target == k;
      odd += is_odd_one(finding, k);
    }
    const bool share = !after.coverable.empty();
    table.rows.push_back({result.networks[k].name, share ? report::Cell(before.value) : report::Cell(),
                          share ? report::Cell(after.value) : report::Cell(), after.covered, after.coverable,
                          total_gained(result.exploration.findings, k, k + 1), pushed, odd});
  }
  return table;
}

report::Table ending_table(const ExplorationResult& result) {
  report::Table table{"endings",
                      "How the searches ended",
                      {{"ending", "ending"}, {"seeds", "seeds", Kind::count}},
                      {},
                      false};
  for (const auto& [ending, count] : result.exploration.endings)
    table.rows.push_back({std::string(to_string(ending)), report::count_cell(count)});
  return table;
}

// The decisions of all networks, most frequent first.
report::Table answer_table(const ExplorationResult& result, std::size_t most) {
  std::string title;
  for (const explore::ExploredNetwork& network : result.networks)
    title += (title.empty() ? "" : ", ") + network.name;
  report::Table table{"answers",
                      "What the networks say (" + title + ")",
                      {{"answers", "classes"}, {"findings", "findings", Kind::count}},
                      {},
                      false};
  std::map<std::string, std::int64_t> counts;
  for (const explore::Finding& finding : result.exploration.findings) {
    if (!finding.classes.empty()) ++counts[answers_of(finding)];
  }
  std::vector<std::pair<std::string, std::int64_t>> sorted(counts.begin(), counts.end());
  std::ranges::stable_sort(sorted, std::greater(), &std::pair<std::string, std::int64_t>::second);
  for (std::size_t i = 0; i < std::min(most, sorted.size()); ++i)
    table.rows.push_back({sorted[i].first, sorted[i].second});
  return table;
}

report::Table finding_table(const ExplorationResult& result) {
  report::Table table{"findings",
                      "Findings",
                      {{"id", "id"},
                       {"seed", "seed"},
                       {"answers", "answers"},
                       {"label", "label of most"},
                       {"iterations", "iterations", Kind::count},
                       {"pushed", "network pushed"},
                       {"l0", "L0", Kind::number, 0},
                       {"l1", "L1", Kind::number, 2},
                       {"l2", "L2", Kind::number, 3},
                       {"linf", "Linf", Kind::number, 3},
                       {"gained", "items gained", Kind::count},
                       {"surprise", "surprise", Kind::number, 3}},
                      {},
                      true};
  const std::vector<std::string> names = explore::names_of(result.exploration.findings, result.seeds);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const explore::Finding& finding = result.exploration.findings[i];
    table.rows.push_back(
        {names[i], result.seeds.id(finding.seed), answers_of(finding), voted_label(finding),
         report::count_cell(finding.iterations),
         finding.differing ? std::string() : result.networks[finding.target].name, finding.l0, finding.l1,
         finding.l2, finding.linf, total_gained(std::span(&finding, 1), 0, result.networks.size()),
         result.plausibility ? finite_cell(result.plausibility->surprise[i]) : report::Cell()});
  }
  return table;
}

report::Table round_table(const ExplorationResult& result) {
  report::Table table{"rounds",
                      "Rounds",
                      {{"seeds", "seeds searched", Kind::count},
                       {"findings", "findings", Kind::count},
                       {"coverage", "coverage", Kind::percent},
                       {"seconds", "seconds", Kind::number, 2}},
                      {},
                      true};
  for (const explore::GoalPoint& point : result.exploration.rounds) {
    table.rows.push_back({report::count_cell(point.seeds), report::count_cell(point.findings),
                          point.share ? report::Cell(*point.share) : report::Cell(), point.seconds});
  }
  return table;
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
                            mean_of(e.findings, &explore::Finding::l1), Kind::number, 2});
  document.facts.push_back({"mean_l2", "mean L2 distance from the seed",
                            mean_of(e.findings, &explore::Finding::l2), Kind::number, 3});
}

void add_run_facts(report::Document& document, const explore::Exploration& e) {
  document.facts.push_back({"ended_by", "ended because", e.ended_by});
  document.facts.push_back({"seconds", "seconds of searching", e.seconds, Kind::number, 2});
  if (e.seconds > 0 && e.resumed == 0)
    document.facts.push_back({"per_second", "findings per second",
                              static_cast<double>(e.findings.size()) / e.seconds, Kind::number, 1});
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
  document.headline =
      fmt::format("{} records on which {} networks disagree, from {} seeds; all confirmed from the file {}",
                  e.findings.size(), result.networks.size(), e.seeds, result.stored.file.string());
  add_search_facts(document, result);
  if (e.share_after) {
    document.facts.push_back(
        {"coverage_before", "coverage of all networks before", *e.share_before, Kind::percent});
    document.facts.push_back({"coverage", "coverage of all networks after", *e.share_after, Kind::percent});
  }
  if (result.plausibility) {
    if (!e.findings.empty())
      document.facts.push_back({"implausible", "share of findings called implausible",
                                static_cast<double>(result.plausibility->implausible_count()) /
                                    static_cast<double>(e.findings.size()),
                                Kind::percent});
    document.definitions.push_back(implausible_definition(result));
  }
  add_run_facts(document, e);
  if (result.stored.lost > 0)
    document.notices.push_back(fmt::format(
        "{} findings were dropped: the networks agree on them once they are read back", result.stored.lost));
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
