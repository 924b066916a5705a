#include "assay/results/networks/task.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "assay/results/document.h"
#include "assay/results/figures.h"
#include "assay/results/first_rows.h"
#include "assay/results/label_warnings.h"
#include "assay/results/warnings.h"

namespace assay::results {
namespace {

using task::Figure;
using task::ItemEvaluation;

std::string value_text(const Figure& figure, double value) {
  return figure.is_share ? report::percent(value) : fmt::format("{:.4g}", value);
}

std::string text_of(const Figure& figure) {
  std::string text = fmt::format("{} {}", figure.name, value_text(figure, figure.value));
  if (figure.interval)
    text += fmt::format(" ({} to {})", value_text(figure, figure.interval->first),
                        value_text(figure, figure.interval->second));
  return text;
}

// Of a mean over classes: how many it is over, those that have the figure. Nothing for other figures.
std::optional<std::size_t> classes_in_mean(const Figure& mean, const ItemEvaluation& evaluation) {
  for (const std::string_view prefix : {"mean-", "macro-"}) {
    if (!mean.name.starts_with(prefix)) continue;
    const auto count = std::ranges::count_if(evaluation.figures, [&](const Figure& figure) {
      return figure.of_class && figure.name == std::string_view(mean.name).substr(prefix.size());
    });
    if (count > 0) return static_cast<std::size_t>(count);
  }
  return std::nullopt;
}

// " over 2 of 3 classes" where a mean leaves some out.
std::string left_out_text(const Figure& figure, const ItemEvaluation& evaluation) {
  const std::size_t all = evaluation.sums.classes.size();
  const std::optional<std::size_t> some = classes_in_mean(figure, evaluation);
  return some && *some < all ? fmt::format(" over {} of {} classes", *some, all) : "";
}

std::vector<Figure> overall(const ItemEvaluation& evaluation) {
  std::vector<Figure> all;
  std::ranges::copy_if(evaluation.figures, std::back_inserter(all),
                       [](const Figure& figure) { return !figure.of_class; });
  return all;
}

report::Table figures_table(const ItemEvaluation& evaluation) {
  return table_of("figures", "Figures, with 95 % intervals over records", overall(evaluation),
                  {{"figure", &Figure::name},
                   {"value", 4, &Figure::value},
                   {"low", "from", 4, [](auto& figure) { return low_of(figure.interval); }},
                   {"high", "to", 4, [](auto& figure) { return high_of(figure.interval); }}});
}

// Classes that are nowhere have no row.
report::Table class_table(const ItemEvaluation& evaluation) {
  std::map<std::string, std::map<std::size_t, double>> values;  // by figure and class
  const auto counts = [&](std::size_t c) -> const task::Counts& { return evaluation.sums.classes[c]; };
  ColumnsOf<std::size_t> columns{{"class", [&](auto c) { return class_name(evaluation.class_names, c); }},
                                 {"wanted", "true items", [&](auto c) { return counts(c).wanted; }},
                                 {"decided", [&](auto c) { return counts(c).decided; }},
                                 {"right", [&](auto c) { return counts(c).matched; }}};
  for (const Figure& figure : evaluation.figures) {
    if (!figure.of_class) continue;
    const auto [of, is_new] = values.try_emplace(figure.name);
    of->second[*figure.of_class] = figure.value;
    if (!is_new) continue;
    columns.add({figure.name, figure.is_share ? Kind::percent : Kind::number,
                 [&by_class = of->second](auto c) { return value_at(by_class, c); }});
  }
  const auto is_somewhere = [&](std::size_t c) { return counts(c).wanted + counts(c).decided > 0; };
  return table_of("classes", "By class",
                  positions(evaluation.sums.classes.size()) | std::views::filter(is_somewhere), columns);
}

report::Table confusion_table(const ItemEvaluation& evaluation) {
  constexpr std::size_t most = 10;
  std::vector<std::pair<std::pair<std::int64_t, std::int64_t>, std::uint64_t>> pairs(
      evaluation.confusions.begin(), evaluation.confusions.end());
  std::ranges::stable_sort(pairs, std::greater<>(), [](const auto& pair) { return pair.second; });
  const auto name = [&](std::int64_t number) {
    return number == no_class ? "none (NaN)" : class_name(evaluation.class_names, number);
  };
  return table_of(
      "confusions", title_of_first("Most frequent confusions", std::min(most, pairs.size()), pairs.size()),
      pairs | std::views::take(most),
      {{"expected", [&](auto& pair) { return class_name(evaluation.class_names, pair.first.first); }},
       {"predicted", [&](auto& pair) { return name(pair.first.second); }},
       {"items", [](auto& pair) { return pair.second; }}});
}

report::Table worst_table(const ItemEvaluation& evaluation) {
  using Worst = ItemEvaluation::Worst;
  return table_of("worst", "Records with the smallest share of right items", evaluation.worst,
                  {{"record", &Worst::id},
                   {"items", &Worst::items},
                   {"right", &Worst::right},
                   {"share", Kind::percent, [](auto& one) { return share_of(one.right, one.items); }}});
}

}  // namespace

std::vector<report::Measurement> measurements_of(const ItemEvaluation& evaluation) {
  std::vector<report::Measurement> all;
  for (const Figure& figure : evaluation.figures) {
    all.push_back(number_figure(figure.name, figure.value, figure.higher_is_better));
    if (figure.of_class) all.back().class_name = class_name(evaluation.class_names, *figure.of_class);
  }
  return all;
}

FigureByGroup by_group(const task::PartsItemEvaluation& found, std::span<const groups::Group> groups) {
  std::vector<groups::Outcome> outcomes;
  for (const auto& [right, items] : found.right_of)
    outcomes.push_back({static_cast<double>(right), static_cast<double>(items)});
  return by_group(
      {.name = "right items",
       .weight_title = "items",
       .meaning = "items that are decided correctly, of all that count in the records of the group",
       .scale = groups::Scale::mean},
      groups, outcomes);
}

std::vector<report::Measurement> measurements_of(const task::PartsItemEvaluation& found,
                                                 std::span<const groups::Group> groups) {
  std::vector<report::Measurement> all;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const bool empty = found.parts[g].sums.items == 0;
    for (report::Measurement& m :
         in_group(measurements_of(empty ? found.whole : found.parts[g]), groups[g])) {
      if (!empty)
        all.push_back(std::move(m));
      else if (m.class_name.empty())
        all.push_back(nothing_counted(std::move(m)));
    }
  }
  return all;
}

std::vector<report::Warning> item_warnings(const task::PartsItemEvaluation& found, const Dataset& data) {
  const ItemEvaluation& whole = found.whole;
  std::vector<report::Warning> warnings;
  std::vector<std::string> absent, without_items;
  for (std::size_t c = 0; c < whole.sums.classes.size(); ++c) {
    if (whole.sums.classes[c].wanted == 0)
      absent.push_back(class_name(whole.class_names, static_cast<std::int64_t>(c)));
  }
  const bool has_means = std::ranges::any_of(
      whole.figures, [&](const Figure& figure) { return classes_in_mean(figure, whole).has_value(); });
  if (!absent.empty() && has_means)
    warnings.push_back({"absent-classes",
                        fmt::format("{} of {} classes without an item that counts: {}", absent.size(),
                                    whole.sums.classes.size(), first_of(absent)),
                        "whether the network finds these classes is not tested; too few records, or labels "
                        "of another numbering"});
  for (std::size_t r = 0; r < found.right_of.size(); ++r) {
    if (found.right_of[r].second == 0) without_items.push_back(data.id(r));
  }
  if (!without_items.empty() && whole.uncounted > 0)
    warnings.push_back({"no-counted-items",
                        fmt::format("{} of {} records without an item that counts: {}", without_items.size(),
                                    found.right_of.size(), first_of(without_items)),
                        "masks or labels that only hold what does not count, or another label for it (option "
                        "ignore or missing of the task)"});
  for (const Figure& figure : whole.figures) {
    if (figure.name == "empty-labels" && figure.value > 0)
      warnings.push_back({"empty-labels",
                          report::percent(figure.value) + " of the records have an empty text as label",
                          "labels that are missing, or records without a text: whatever the network writes "
                          "there is wrong"});
    if (figure.name == "outside-alphabet" && !figure.of_class && figure.value > 0)
      warnings.push_back(
          {"outside-alphabet",
           report::percent(figure.value) + " of the characters of the labels are not in the alphabet",
           "the alphabet of another network or script, or another order of its lines; the network "
           "cannot write these characters"});
  }
  return warnings;
}

report::Document document_of(const ItemEvaluation& evaluation, const Graph& network, const Dataset& data) {
  report::Document document;
  const std::vector<Figure> figures = overall(evaluation);
  std::string said;
  for (std::size_t i = 0; i < std::min<std::size_t>(2, figures.size()); ++i)
    said += (i == 0 ? "" : ", ") + text_of(figures[i]) + left_out_text(figures[i], evaluation);
  document.headline = fmt::format("{} on {}: {}", network.name(), data.describe(), said);
  document.facts = {{"task", "task", evaluation.task},
                    count_fact("records", "records", data.size()),
                    count_fact("whole", "records with all items right", evaluation.sums.whole),
                    count_fact("items", "items", evaluation.sums.items),
                    count_fact("right", "right items", evaluation.sums.right)};
  if (evaluation.uncounted > 0)
    document.facts.push_back(count_fact("uncounted", "items that do not count", evaluation.uncounted));
  for (const Figure& figure : figures) {
    const std::string text = left_out_text(figure, evaluation);
    if (!text.empty())
      document.facts.push_back(
          {figure.name + "-classes", figure.name, "the mean" + text + ": the others have none"});
  }
  document.tables = {figures_table(evaluation)};
  for (report::Table& table : std::vector<report::Table>{class_table(evaluation), confusion_table(evaluation),
                                                         worst_table(evaluation)}) {
    if (!table.rows.empty()) document.tables.push_back(std::move(table));
  }
  document.tables.push_back(figures_for_gates(measurements_of(evaluation)));
  if (evaluation.non_finite > 0)
    document.warnings.push_back(non_finite_records(
        evaluation.non_finite, data.size(), evaluation.non_finite_ids, "; a NaN counts as a wrong answer"));
  return document;
}

}  // namespace assay::results
