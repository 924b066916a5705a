#include "apps/assay/exploration_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "apps/assay/heat_map.h"
#include "apps/assay/triples.h"
#include "assay/support/file.h"
#include "assay/support/text.h"

namespace assay::app {
namespace {

using Kind = Column::Kind;
using Json = nlohmann::json;

std::int64_t whole(std::size_t number) { return static_cast<std::int64_t>(number); }

Cell number_or_none(double value) { return std::isfinite(value) ? Cell(value) : Cell(); }

// "3 3 8", or the first output of each network.
std::string answers_of(const Finding& finding) {
  std::vector<std::string> parts;
  for (const std::int64_t named : finding.classes) parts.push_back(std::to_string(named));
  for (std::size_t k = 0; finding.classes.empty() && k < finding.outputs.size(); ++k) parts.push_back(fmt::format("{:.3f}", finding.outputs[k].front()));
  return joined(parts, " ");
}

std::string label_of(const Finding& finding) {
  if (finding.majority) return std::to_string(*finding.majority);
  return finding.median ? fmt::format("{:.3f}", finding.median->front()) : "";
}

double mean_of(const std::vector<Finding>& findings, double Finding::* field) {
  double sum = 0;
  std::size_t count = 0;
  for (const Finding& finding : findings) {
    if (finding.differing) continue;
    sum += finding.*field;
    ++count;
  }
  return count > 0 ? sum / static_cast<double>(count) : NAN;
}

std::uint64_t total_gained(const Finding& finding, std::size_t network) { return network < finding.gained.size() ? finding.gained[network].value_or(0) : 0; }

// Whether a network says something else than the majority.
bool is_odd_one(const Finding& finding, std::size_t network) { return finding.majority && finding.classes[network] != *finding.majority; }

Table network_table(const ExplorationResult& result) {
  Table table{"networks", "Networks",
              {{"network", "network"}, {"before", "coverage before", Kind::percent}, {"after", "coverage after", Kind::percent}, {"covered", "covered items"}, {"coverable", "coverable"},
               {"gained", "items gained", Kind::count}, {"pushed", "made by pushing it", Kind::count}, {"odd", "otherwise than most", Kind::count}}, {}, false};
  for (std::size_t k = 0; k < result.networks.size(); ++k) {
    const Coverage &before = result.exploration.before[k], &after = result.exploration.after[k];
    std::int64_t gained = 0, pushed = 0, odd = 0;
    for (const Finding& finding : result.exploration.findings) {
      gained += static_cast<std::int64_t>(total_gained(finding, k));
      pushed += !finding.differing && finding.target == k;
      odd += is_odd_one(finding, k);
    }
    const bool share = !after.coverable.empty();
    table.rows.push_back({result.networks[k].name, share ? Cell(before.value) : Cell(), share ? Cell(after.value) : Cell(), after.covered, after.coverable, gained, pushed, odd});
  }
  return table;
}

Table ending_table(const ExplorationResult& result) {
  Table table{"endings", "How the searches ended", {{"ending", "ending"}, {"seeds", "seeds", Kind::count}}, {}, false};
  for (const auto& [ending, count] : result.exploration.endings) table.rows.push_back({std::string(to_string(ending)), whole(count)});
  return table;
}

// What networks say together, most frequent first.
Table answer_table(const ExplorationResult& result, std::size_t most) {
  std::string title;
  for (const ExploredNetwork& network : result.networks) title += (title.empty() ? "" : ", ") + network.name;
  Table table{"answers", "What the networks say (" + title + ")", {{"answers", "classes"}, {"findings", "findings", Kind::count}}, {}, false};
  std::map<std::string, std::int64_t> counts;
  for (const Finding& finding : result.exploration.findings) {
    if (!finding.classes.empty()) ++counts[answers_of(finding)];
  }
  std::vector<std::pair<std::string, std::int64_t>> sorted(counts.begin(), counts.end());
  std::ranges::stable_sort(sorted, std::greater(), &std::pair<std::string, std::int64_t>::second);
  for (std::size_t i = 0; i < std::min(most, sorted.size()); ++i) table.rows.push_back({sorted[i].first, sorted[i].second});
  return table;
}

Table finding_table(const ExplorationResult& result) {
  Table table{"findings", "Findings",
              {{"id", "id"}, {"seed", "seed"}, {"answers", "answers"}, {"label", "label of most"}, {"iterations", "iterations", Kind::count}, {"pushed", "network pushed"},
               {"l0", "L0", Kind::number, 0}, {"l1", "L1", Kind::number, 2}, {"l2", "L2", Kind::number, 3}, {"linf", "Linf", Kind::number, 3}, {"gained", "items gained", Kind::count},
               {"surprise", "surprise", Kind::number, 3}}, {}, true};
  const std::vector<std::string> names = names_of(result.exploration.findings, result.seeds);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Finding& finding = result.exploration.findings[i];
    std::int64_t gained = 0;
    for (std::size_t k = 0; k < result.networks.size(); ++k) gained += static_cast<std::int64_t>(total_gained(finding, k));
    table.rows.push_back({names[i], result.seeds.id(finding.seed), answers_of(finding), label_of(finding), whole(finding.iterations),
                          finding.differing ? std::string() : result.networks[finding.target].name, finding.l0, finding.l1, finding.l2, finding.linf, gained,
                          result.plausibility ? number_or_none(result.plausibility->surprise[i]) : Cell()});
  }
  return table;
}

Table round_table(const ExplorationResult& result) {
  Table table{"rounds", "Rounds", {{"seeds", "seeds searched", Kind::count}, {"findings", "findings", Kind::count}, {"coverage", "coverage", Kind::percent}, {"seconds", "seconds", Kind::number, 2}}, {}, true};
  for (const GoalPoint& point : result.exploration.rounds) {
    table.rows.push_back({whole(point.seeds), whole(point.findings), point.share ? Cell(*point.share) : Cell(), point.seconds});
  }
  return table;
}

}  // namespace

void describe(Document& document, const ExplorationResult& result) {
  const Exploration& e = result.exploration;
  const std::size_t changed = static_cast<std::size_t>(std::ranges::count(e.findings, false, &Finding::differing));
  document.headline = fmt::format("{} records on which {} networks disagree, from {} seeds; all confirmed from the file {}", e.findings.size(), result.networks.size(), e.searched,
                                  result.stored.file.string());
  document.facts = {{"seeds", "seeds searched", whole(e.searched), Kind::count},
                    {"findings", "findings", whole(e.findings.size()), Kind::count},
                    {"found", "of them made by the search", whole(changed), Kind::count},
                    {"duplicates", "near-duplicates left out", whole(e.duplicates), Kind::count},
                    {"voted", "with a label that most networks name", whole(result.stored.voted_count), Kind::count},
                    {"data", "findings as a data set", result.stored.data}};
  if (result.stored.voted_count > 0) document.facts.push_back({"voted_data", "the same with these labels", result.stored.voted_data});
  document.facts.push_back({"iterations", "iterations of all searches", whole(e.iterations), Kind::count});
  if (changed > 0) {
    document.facts.push_back({"mean_l1", "mean L1 distance from the seed", mean_of(e.findings, &Finding::l1), Kind::number, 2});
    document.facts.push_back({"mean_l2", "mean L2 distance from the seed", mean_of(e.findings, &Finding::l2), Kind::number, 3});
  }
  if (e.share_after) {
    document.facts.push_back({"coverage_before", "coverage of all networks before", *e.share_before, Kind::percent});
    document.facts.push_back({"coverage", "coverage of all networks after", *e.share_after, Kind::percent});
  }
  if (result.plausibility) {
    const Plausibility& p = *result.plausibility;
    if (!e.findings.empty()) {
      document.facts.push_back({"implausible", "share of findings called implausible", static_cast<double>(p.implausible_count()) / static_cast<double>(e.findings.size()), Kind::percent});
    }
    document.definitions.push_back({"implausible", fmt::format("{} of layer '{}' of {} above {:.4g}, which {} of {} seeds do not exceed, or without a value", p.measure, p.layer,
                                                               result.networks.front().name, p.bound, percent(p.share, 0), p.seeds), "docs/algorithms/exploration.md"});
  }
  document.facts.push_back({"ended_by", "ended because", e.ended_by});
  document.facts.push_back({"seconds", "seconds of searching", e.seconds, Kind::number, 2});
  if (e.seconds > 0 && e.resumed == 0) document.facts.push_back({"per_second", "findings per second", static_cast<double>(e.findings.size()) / e.seconds, Kind::number, 1});
  if (e.resumed > 0) document.facts.push_back({"resumed", "searches taken from an earlier run", whole(e.resumed), Kind::count});
  if (e.left_out > 0) document.facts.push_back({"left_out", "seeds left out: the first network gets them wrong", whole(e.left_out), Kind::count});
  if (result.stored.lost > 0) document.notices.push_back(fmt::format("{} findings were dropped: the networks agree on them once they are read back", result.stored.lost));
  document.tables = {network_table(result), ending_table(result)};
  if (Table answers = answer_table(result, 15); !answers.rows.empty()) document.tables.push_back(std::move(answers));
  document.tables.push_back(round_table(result));
  document.tables.push_back(finding_table(result));
}

void write_manifest(const ExplorationResult& result, const std::filesystem::path& file) {
  const std::vector<std::string> names = names_of(result.exploration.findings, result.seeds);
  Json findings = Json::array();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Finding& finding = result.exploration.findings[i];
    Json outputs = Json::object(), gained = Json::object();
    for (std::size_t k = 0; k < result.networks.size(); ++k) {
      Json& own = outputs[result.networks[k].name];
      own["outputs"] = finding.outputs[k];
      if (!finding.classes.empty()) own["class"] = finding.classes[k];
      if (finding.gained.size() > k && finding.gained[k]) gained[result.networks[k].name] = *finding.gained[k];
    }
    Json entry{{"id", names[i]}, {"row", i}, {"seed", result.seeds.id(finding.seed)}, {"networks", std::move(outputs)}, {"gained", std::move(gained)},
               {"iterations", finding.iterations}, {"pass", finding.pass}, {"distance", {{"l0", finding.l0}, {"l1", finding.l1}, {"l2", finding.l2}, {"linf", finding.linf}}},
               {"seed_differs", finding.differing}};
    if (!finding.differing) entry["pushed"] = result.networks[finding.target].name;
    if (result.seeds.has_labels()) entry["seed_label"] = result.seeds.label(finding.seed);
    if (finding.majority) entry["label"] = *finding.majority;
    if (finding.median) entry["label"] = *finding.median;
    if (result.plausibility) {
      if (std::isfinite(result.plausibility->surprise[i])) entry["surprise"] = result.plausibility->surprise[i];
      entry["implausible"] = static_cast<bool>(result.plausibility->implausible[i]);
    }
    findings.push_back(std::move(entry));
  }
  Json names_json = Json::array();
  for (const ExploredNetwork& network : result.networks) names_json.push_back({{"name", network.name}, {"hash", network.session->graph().hash()}});
  const Json manifest{{"schema", "assay/findings"}, {"version", 1}, {"data", result.stored.data}, {"seeds", result.seeds.describe()}, {"networks", names_json}, {"findings", findings}};
  write_file(file, manifest.dump(1) + "\n");
}

std::vector<Picture> draw_findings(const ExplorationResult& result, std::size_t count, const std::filesystem::path& folder) {
  const std::vector<Finding>& findings = result.exploration.findings;
  if (!is_picture(result.seeds) || count == 0 || findings.empty()) return {};
  // Answers that were not drawn yet come first, so that the pictures show what there is; seeds that differ by themselves last.
  std::vector<std::size_t> chosen, rest, unchanged;
  std::set<std::string> drawn;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    (findings[i].differing ? unchanged : drawn.insert(answers_of(findings[i])).second ? chosen : rest).push_back(i);
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
                       fmt::format("seed '{}': {}", result.seeds.id(originals[i]), answers_of(findings[chosen[i]]))});
  }
  return draw_triples(result.seeds, records, folder, "finding");
}

}  // namespace assay::app
