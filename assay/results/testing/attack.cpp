#include "assay/results/testing/attack.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include <assay/attack.h>
#include "assay/attack/changes.h"
#include "assay/engine/elements.h"
#include "assay/results/document.h"
#include "assay/results/networks/pictures.h"
#include "assay/task/standing.h"

namespace assay::results {
namespace {

report::Table summary_table(const std::vector<attack::AttackSummary>& summaries) {
  using Summary = attack::AttackSummary;
  const auto of_successes = [](double Summary::*mean) {
    return [mean](const Summary& s) { return s.succeeded > 0 ? std::optional(s.*mean) : std::nullopt; };
  };
  return table_of("attacks", "Attacks", summaries,
                  {{"attack", [](auto& s) { return s.spec.text(); }},
                   {"records", &Summary::attacked},
                   {"successes", &Summary::succeeded},
                   {"success", "success rate", Kind::percent,
                    [](auto& s) { return defined_share(s.succeeded, s.attacked); }},
                   {"l0", "mean L0", 1, of_successes(&Summary::l0)},
                   {"l2", "mean L2", 3, of_successes(&Summary::l2)},
                   {"linf", "mean Linf", 3, of_successes(&Summary::linf)},
                   {"forward", "forward passes", 1, &Summary::forward},
                   {"backward", "backward passes", 1, &Summary::backward},
                   {"seconds", &Summary::seconds},
                   {"file", &Summary::data}});
}

report::Table ending_table(const std::vector<attack::AttackSummary>& summaries) {
  struct Ending {
    std::string attack, ending;
    std::size_t records;
  };
  std::vector<Ending> endings;
  for (const attack::AttackSummary& s : summaries)
    for (const auto& [ending, records] : s.endings) endings.push_back({s.spec.text(), ending, records});
  return table_of("endings", "Searches that ended without success", endings,
                  {{"attack", &Ending::attack}, {"ending", &Ending::ending}, {"records", &Ending::records}});
}

std::string success_definition(const Dataset& data, const attack::AttackOptions& options) {
  const std::string after = "judged on the record as read back from its file";
  if (options.task)
    return fmt::format("{}{}; {}",
                       options.goal.kind == attack::ItemGoal::Kind::appear
                           ? ""
                           : "of the items that the network decides correctly, ",
                       attack::goal_in_words(options, *options.task), after);
  if (data.target_width() > 0)
    return fmt::format(
        "the output moved by more than {} away from its target (upwards where it is the target), {}",
        options.margin, after);
  return "the network names another class than before (with a target: the target), " + after;
}

void add_attack(report::Document& document, const attack::AttackSummary& summary,
                const attack::AttackOptions& options) {
  if (summary.lost > 0)
    document.notices.push_back(
        fmt::format("{}: {} of the successes found are no longer successes once stored{}", summary.spec.name,
                    summary.lost, summary.levels ? " as 8-bit levels" : ""));
  const auto broken = std::ranges::count(summary.records, false, &attack::AttackedRecord::finite);
  if (broken > 0)
    document.notices.push_back(fmt::format(
        "{}: {} of {} attacked records give a NaN or an infinity: wrong decisions, but no successes",
        summary.spec.name, broken, summary.attacked));
  if (summary.attacked == 0)
    document.notices.push_back(
        options.left_out.empty()
            ? message("{}: there was nothing to attack, since the network is wrong on every record{}",
                      summary.spec.name, About{"", "; {all} attacks these too"})
            : message("{}: there was nothing left to attack", summary.spec.name));
  if (const auto flat = summary.endings.find(std::string(attack::no_gradient)); flat != summary.endings.end())
    document.warnings.push_back(
        {"no-gradient",
         fmt::format("{}: for {} of {} attacked records every gradient was 0, so the attack had nothing to "
                     "follow: that it failed there says nothing about the network",
                     summary.spec.text(), flat->second, summary.attacked),
         "functions at the end of the network that saturate (clipped or averaged probabilities), units "
         "that are off for these records, or steps; attack the scores before them, or without gradients"});
  const attack::AttackInfo& info = attack::attacks().find(summary.spec.name);
  document.definitions.push_back({info.name, info.definition, info.paper});
}

// Records that are right, and remain so under every attack, of all; undefined where records were attacked
// that are wrong already, or at a class.
std::optional<double> robust_accuracy(const std::vector<attack::AttackSummary>& summaries,
                                      const attack::AttackOptions& options, const Dataset& data) {
  std::set<std::size_t> fooled;
  for (const attack::AttackSummary& s : summaries) {
    const auto target = s.spec.options.find("target");
    if (target != s.spec.options.end() && target->second != "none") return std::nullopt;
    for (const attack::AttackedRecord& record : s.records)
      if (record.success || !record.finite) fooled.insert(record.original);
  }
  if (options.all || summaries.empty() || data.size() == 0 || !data.has_labels()) return std::nullopt;
  std::size_t attacked = 0;
  for (const attack::AttackSummary& s : summaries) attacked = std::max(attacked, s.attacked);
  return share_of(attacked - fooled.size(), data.size());
}

// The change of a decision: "7 is taken for 2".
std::string fate_of(const attack::AttackedRecord& record, const Dataset& data) {
  if (data.target_width() > 0) return record.success ? "the output moves" : "the output stays";
  const std::vector<std::string> names = data.class_names();
  const std::string taken = "is taken for " + class_name(names, record.predicted);
  return data.has_labels() ? class_name(names, data.label(record.original)) + " " + taken : taken;
}

}  // namespace

report::Document document_of(const std::vector<attack::AttackSummary>& summaries,
                             const attack::AttackOptions& options, const Graph& network,
                             const Dataset& data) {
  report::Document document;
  // Attacks at a class leave out the records of that class.
  std::size_t attacked = 0;
  for (const attack::AttackSummary& s : summaries) attacked = std::max(attacked, s.attacked);
  document.facts = {
      count_fact("records", "records", data.size()),
      count_fact("attacked", options.all ? "of them attacked" : "of them attacked (the network is right)",
                 attacked)};
  const std::optional<double> robust = robust_accuracy(summaries, options, data);
  if (robust)
    document.facts.push_back(
        {"robust_accuracy", "still right under every attack, of all records", *robust, Kind::percent});
  document.headline = fmt::format("{} on {}: success of", network.name(), data.describe());
  for (const attack::AttackSummary& s : summaries) {
    const std::string rate = s.attacked > 0 ? report::percent(share_of(s.succeeded, s.attacked))
                                            : "undefined (no record was attacked)";
    document.headline += fmt::format("{} {} {}", &s == &summaries.front() ? "" : ",", s.spec.name, rate);
    add_attack(document, s, options);
  }
  document.tables = {summary_table(summaries)};
  if (report::Table endings = ending_table(summaries); !endings.rows.empty())
    document.tables.push_back(std::move(endings));
  document.definitions.push_back(
      {"success", success_definition(data, options), "docs/algorithms/attacks.md"});
  return document;
}

std::vector<FigureByGroup> by_group(const std::vector<attack::AttackSummary>& summaries,
                                    const attack::AttackOptions& options, const Dataset& data,
                                    std::span<const groups::Group> groups) {
  std::vector<FigureByGroup> figures;
  if (options.only_successful) return figures;  // which others were attacked the files do not say
  std::vector<groups::Outcome> robust(data.size(), {0, 1});
  for (const attack::AttackSummary& summary : summaries)
    for (const attack::AttackedRecord& record : summary.records) robust[record.original].value = 1;
  std::vector<Spec> specs;
  for (const attack::AttackSummary& summary : summaries) specs.push_back(summary.spec);
  const std::vector<std::string> names = attack::names_of(specs);
  for (std::size_t a = 0; a < summaries.size(); ++a) {
    const attack::AttackSummary& summary = summaries[a];
    std::vector<groups::Outcome> outcomes(data.size(), {0, 0});
    for (const attack::AttackedRecord& record : summary.records) {
      outcomes[record.original] = {record.success ? 1.0 : 0.0, 1};
      if (record.success) robust[record.original].value = 0;
    }
    figures.push_back(by_group({.name = "success of " + names[a],
                                .higher_is_better = false,
                                .sum_title = "hits",
                                .meaning = "successes of the attack, of the attacked records of the group"},
                               groups, outcomes));
  }
  if (robust_accuracy(summaries, options, data))
    figures.push_back(
        by_group({.name = "robust accuracy",
                  .sum_title = "hits",
                  .meaning = "records that are right and that no attack fooled, of all of the group"},
                 groups, robust));
  return figures;
}

namespace {

// What the network decides of the items of records; nothing without a task.
std::vector<task::Marks> decided_marks(const Session& session, const task::Task* task, const Batch& batch) {
  std::vector<task::Marks> marks(batch.indices.size());
  if (task == nullptr) return marks;
  const ValueId decision = session.logits();
  const std::vector<float> outputs =
      floats_of(session.run(session.bind(batch), std::span(&decision, 1)).at(decision));
  const std::size_t width = outputs.size() / marks.size();
  for (std::size_t r = 0; r < marks.size(); ++r)
    marks[r] = task->marks(task->decide(std::span(outputs).subspan(r * width, width)));
  return marks;
}

}  // namespace

std::vector<report::Picture> draw_attacked(const attack::AttackSummary& summary, const Session& session,
                                           const Dataset& data, const task::Task* task, std::size_t count,
                                           const std::filesystem::path& folder) {
  if (!is_picture(data)) return {};
  std::vector<std::size_t> rows, originals;
  for (std::size_t row = 0; row < summary.records.size() && rows.size() < count; ++row) {
    if (summary.records[row].success || summary.succeeded == 0) rows.push_back(row);
  }
  if (rows.empty()) return {};
  for (const std::size_t row : rows) originals.push_back(summary.records[row].original);
  const Batch before = data.read(originals), after = open_dataset(summary.data)->read(rows);
  const auto from = before.inputs.as<float>(), to = after.inputs.as<float>();
  const std::size_t size = from.size() / rows.size();
  const std::vector<task::Marks> first = decided_marks(session, task, before),
                                 second = decided_marks(session, task, after);
  std::vector<ChangedRecord> records;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const attack::AttackedRecord& record = summary.records[rows[i]];
    records.push_back({from.subspan(i * size, size), to.subspan(i * size, size),
                       fmt::format("{}, record '{}': {}, L2 {:.3g}", summary.spec.name,
                                   data.id(record.original), fate_of(record, data), record.l2),
                       first[i], second[i]});
  }
  return draw_triples(data, records, folder, summary.file.stem().string());
}

}  // namespace assay::results
