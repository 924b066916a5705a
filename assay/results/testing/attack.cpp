#include "assay/results/testing/attack.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include <assay/attack.h>
#include "assay/attack/changes.h"
#include "assay/engine/elements.h"
#include "assay/results/document.h"
#include "assay/results/networks/marks.h"
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

std::string nothing_attacked(const attack::AttackSummary& summary, const attack::AttackOptions& options) {
  const std::string& name = summary.spec.name;
  if (!options.left_out.empty()) return fmt::format("{}: there was nothing left to attack", name);
  if (!options.task)
    return message("{}: there was nothing to attack, since the network is wrong on every record{}", name,
                   About{"", "; {all} attacks these too"});
  if (options.goal.kind == attack::ItemGoal::Kind::appear)
    return fmt::format("{}: there was nothing to attack, since in no record an item of '{}' can appear", name,
                       class_name(options.task->class_names(), options.goal.of_class));
  return fmt::format(
      "{}: there was nothing to attack, since the network decides no item{} that counts as it is labelled",
      name,
      options.goal.kind == attack::ItemGoal::Kind::hide
          ? fmt::format(" of '{}'", class_name(options.task->class_names(), options.goal.of_class))
          : "");
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
  if (summary.attacked == 0) document.notices.push_back(nothing_attacked(summary, options));
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

// What is decided of a record's items, before and after an attack.
struct ItemsOfRecord {
  task::Items before = {}, after = {};
  task::Items at_stake = {};  // what the attack is to change; nothing where items are to appear
  std::size_t changed = 0;    // of these
};

task::Items items_at_stake(const attack::AttackOptions& options, const Array& output, const Batch& batch,
                           const Dataset& data) {
  if (options.goal.kind == attack::ItemGoal::Kind::appear) return {};
  task::Items items = task::right_items(*options.task, output, batch, data).at(0);
  if (options.goal.kind == attack::ItemGoal::Kind::hide)
    task::keep_class(*options.task, options.goal.of_class, items);
  return items;
}

ItemsOfRecord items_of_record(const Session& session, const attack::AttackOptions& options,
                              const Batch& before, const Batch& after, const Dataset& data) {
  const ValueId decision = session.logits();
  const auto output = [&](const Batch& batch) {
    return in_memory(session.run(session.bind(batch), std::span(&decision, 1)).at(decision), DType::float32);
  };
  const task::Task& task = *options.task;
  const Array first = output(before), second = output(after);
  ItemsOfRecord items{task.decide(first.as<float>()), task.decide(second.as<float>()),
                      items_at_stake(options, first, before, data)};
  if (!task::any_counts(items.at_stake)) return items;
  const std::vector<task::Lead> leads = task.leads(second.as<float>(), items.at_stake);
  items.changed = task::standing_of(leads, items.at_stake, task::all_items).changed;
  return items;
}

// The items that each class has.
std::map<std::int64_t, std::size_t> class_counts(const task::Task& task, const task::Items& items) {
  std::map<std::int64_t, std::size_t> counts;
  for (std::size_t i = 0; i < items.classes.size(); ++i) {
    const std::int64_t of_class = task::counted_class(task, items, i);
    if (of_class != no_class) ++counts[of_class];
  }
  return counts;
}

// The classes whose numbers of items changed most: "; car: 2 before, 0 after".
std::string changed_counts(const task::Task& task, const ItemsOfRecord& items) {
  constexpr std::size_t most_named = 3;
  if (task.items_are_numbers()) return "";
  std::map<std::int64_t, std::pair<std::size_t, std::size_t>> counts;
  for (const auto& [of_class, count] : class_counts(task, items.before)) counts[of_class].first = count;
  for (const auto& [of_class, count] : class_counts(task, items.after)) counts[of_class].second = count;
  std::erase_if(counts, [](const auto& one) { return one.second.first == one.second.second; });
  std::vector<std::pair<std::int64_t, std::pair<std::size_t, std::size_t>>> most(counts.begin(),
                                                                                 counts.end());
  std::ranges::stable_sort(most, std::greater<>(), [](const auto& one) {
    return std::max(one.second.first, one.second.second) - std::min(one.second.first, one.second.second);
  });
  std::string text;
  for (std::size_t i = 0; i < std::min(most.size(), most_named); ++i)
    text += fmt::format("; {}: {} before, {} after", class_name(task.class_names(), most[i].first),
                        most[i].second.first, most[i].second.second);
  return text;
}

// "2 of 3 items decided otherwise; car: 2 before, 0 after".
std::string fate_of_items(const ItemsOfRecord& items, const attack::AttackOptions& options) {
  const task::Task& task = *options.task;
  const std::string counts = changed_counts(task, items);
  const auto name = [&] { return class_name(task.class_names(), options.goal.of_class); };
  if (options.goal.kind == attack::ItemGoal::Kind::appear)
    return fmt::format("'{}' is to appear{}", name(),
                       counts.empty() ? "; each class has as many items as before" : counts);
  const auto count = items.at_stake.classes.size() -
                     static_cast<std::size_t>(std::ranges::count(items.at_stake.classes, no_class));
  const std::string of =
      options.goal.kind == attack::ItemGoal::Kind::hide ? fmt::format(" of '{}'", name()) : "";
  return fmt::format("{} of {}{} decided otherwise{}", items.changed,
                     count == 1 ? "1 item" : fmt::format("{} items", count), of, counts);
}

// "4", or "[1, 4]" where records have several axes.
std::string place_of(std::size_t element, const Shape& shape) {
  std::vector<std::size_t> places;
  for (std::size_t axis = shape.size(); axis-- > 0; element /= static_cast<std::size_t>(shape[axis])) {
    if (shape[axis] > 1) places.insert(places.begin(), element % static_cast<std::size_t>(shape[axis]));
  }
  if (places.empty()) return "0";
  return places.size() == 1 ? fmt::to_string(places.front()) : fmt::format("[{}]", fmt::join(places, ", "));
}

// "4: 0.25 to 0.35; 7: 0.5 to 0.4", of those that changed most.
std::string most_changed(const ChangedRecord& record, const std::vector<std::size_t>& changed,
                         const Shape& shape) {
  constexpr std::size_t most_named = 3;
  std::vector<std::size_t> order = changed;
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t element) {
    return std::abs(record.after[element] - record.before[element]);
  });
  order.resize(std::min(order.size(), most_named));
  std::vector<std::string> texts;
  for (const std::size_t element : order)
    texts.push_back(fmt::format("{}: {:.7g} to {:.7g}", place_of(element, shape), record.before[element],
                                record.after[element]));
  return fmt::format("{}", fmt::join(texts, "; "));
}

report::Table& attacked_table(report::Document& document) {
  const auto found = std::ranges::find(document.tables, "attacked", &report::Table::id);
  if (found != document.tables.end()) return *found;
  using Kind = report::Column::Kind;
  return document.tables.emplace_back(report::Table{"attacked",
                                                    "What attacked records are taken for",
                                                    {{"attack", "attack"},
                                                     {"record", "record"},
                                                     {"fate", "what happens"},
                                                     {"l2", "L2", Kind::number, 4},
                                                     {"changed", "values changed", Kind::count},
                                                     {"most", "those that changed most"}},
                                                    {}});
}

// What pictures show, of a record that is none.
void tabulate(report::Document& document, const attack::AttackSummary& summary,
              const attack::AttackedRecord& record, const ChangedRecord& change, const Dataset& data) {
  std::vector<std::size_t> changed;
  for (std::size_t element = 0; element < change.before.size(); ++element) {
    if (change.before[element] != change.after[element]) changed.push_back(element);
  }
  attacked_table(document).rows.push_back({summary.spec.text(), data.id(record.original), change.caption,
                                           record.l2, report::count_cell(changed.size()),
                                           most_changed(change, changed, data.record_shape())});
}

void draw(report::Document& document, const attack::AttackSummary& summary, const Dataset& data,
          const attack::AttackOptions& options, std::vector<ChangedRecord>& records,
          const std::vector<std::size_t>& rows, const std::filesystem::path& folder) {
  for (std::size_t i = 0; i < records.size(); ++i) {
    ChangedRecord& record = records[i];
    const attack::AttackedRecord& attacked = summary.records[rows[i]];
    record.caption = fmt::format("{}, record '{}': {}, L2 {:.3g}", summary.spec.name,
                                 data.id(attacked.original), record.caption, attacked.l2);
    for (const task::Marks* const marks : {&record.decided_before, &record.decided_after}) {
      if (options.task) name_colours(document, *marks, options.task->class_names());
    }
  }
  std::ranges::move(draw_triples(data, records, folder, summary.file.stem().string()),
                    std::back_inserter(document.pictures));
}

}  // namespace

void show_attacked(report::Document& document, const attack::AttackSummary& summary, const Session& session,
                   const Dataset& data, const attack::AttackOptions& options, std::size_t count,
                   const std::filesystem::path& folder) {
  std::vector<std::size_t> rows, originals;
  for (std::size_t row = 0; row < summary.records.size() && rows.size() < count; ++row) {
    if (summary.records[row].success || summary.succeeded == 0) rows.push_back(row);
  }
  if (rows.empty()) return;
  for (const std::size_t row : rows) originals.push_back(summary.records[row].original);
  const DatasetPtr attacked = open_dataset(summary.data);
  const std::vector<float> before = floats_of(data.read(originals).inputs),
                           after = floats_of(attacked->read(rows).inputs);
  const std::span<const float> from(before), to(after);
  const std::size_t size = from.size() / rows.size();
  std::vector<ChangedRecord> records;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const attack::AttackedRecord& record = summary.records[rows[i]];
    ChangedRecord changed{from.subspan(i * size, size), to.subspan(i * size, size), fate_of(record, data)};
    if (options.task) {
      const ItemsOfRecord items = items_of_record(session, options, data.read(std::span(&originals[i], 1)),
                                                  attacked->read(std::span(&rows[i], 1)), data);
      changed.caption = fate_of_items(items, options);
      changed.decided_before = options.task->marks(items.before);
      changed.decided_after = options.task->marks(items.after);
    }
    records.push_back(std::move(changed));
  }
  if (is_picture(data)) return draw(document, summary, data, options, records, rows, folder);
  for (std::size_t i = 0; i < rows.size(); ++i)
    tabulate(document, summary, summary.records[rows[i]], records[i], data);
}

}  // namespace assay::results
