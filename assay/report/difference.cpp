#include "assay/report/difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include <assay/error.h>
#include <assay/gate.h>
#include "assay/report/table_of.h"

namespace assay::report {
namespace {

using Pair = std::pair<std::string, std::string>;  // what the first and the second have; empty: nothing

// In the order of the first, then what only the second has.
class Beside {
 public:
  void add(const std::string& key, const std::string& text, bool of_first) {
    const auto [at, is_new] = pairs_.try_emplace(key);
    if (is_new) order_.push_back(key);
    (of_first ? at->second.first : at->second.second) = text;
  }
  // Rows of what differs.
  Table table(std::string id, std::string title, const std::string& of) const {
    Table made{std::move(id), std::move(title), {{"of", of}, {"first", "first"}, {"second", "second"}}, {}};
    for (const std::string& key : order_) {
      const auto& [first, second] = pairs_.at(key);
      if (first != second) made.rows.push_back({key, first, second});
    }
    return made;
  }

 private:
  std::map<std::string, Pair> pairs_;
  std::vector<std::string> order_;
};

Table differing_facts(const Document& first, const Document& second) {
  Beside beside;
  for (const bool of_first : {true, false}) {
    for (const Fact& fact : (of_first ? first : second).facts)
      beside.add(fact.title, shown(fact.value, fact.kind, fact.decimals), of_first);
  }
  return beside.table("differing_facts", "Facts that differ", "fact");
}

Table differing_gates(const Document& first, const Document& second) {
  Beside beside;
  for (const bool of_first : {true, false}) {
    for (const Gate& gate : (of_first ? first : second).gates)
      beside.add(gate.text, gate.passed ? "passed" : "failed", of_first);
  }
  return beside.table("differing_gates", "Gates with another outcome", "gate");
}

Table differing_warnings(const Document& first, const Document& second) {
  Beside beside;
  for (const bool of_first : {true, false}) {
    for (const Warning& warning : (of_first ? first : second).warnings)
      beside.add(warning.id, "warned", of_first);
  }
  return beside.table("differing_warnings", "Warnings of one of them", "warning");
}

// "model_hash" as people read it.
std::string in_words(std::string key) {
  std::ranges::replace(key, '_', ' ');
  return key;
}

Table differing_origin(const Document& first, const Document& second) {
  Beside beside;
  for (const bool of_first : {true, false}) {
    for (const auto& [key, value] : (of_first ? first : second).provenance)
      beside.add(in_words(key), shown(value, Column::Kind::text, 3), of_first);
  }
  Table table = beside.table("differing_provenance", "What they rest on, where it differs", "what");
  table.detail = true;
  return table;
}

struct TwoFigures {
  const Measurement* first = nullptr;
  const Measurement* second = nullptr;

  const Measurement& any() const { return first != nullptr ? *first : *second; }
  // Above 0: the second is better. 0 where one is missing or not a number.
  double gain() const {
    if (first == nullptr || second == nullptr) return 0;
    const double change = second->value - first->value;
    return std::isfinite(change) ? (second->higher_is_better ? change : -change) : 0;
  }
  // The gain by the greater of both, so that figures of all scales can be ranked.
  double relative_gain() const {
    const double change = gain();
    return change == 0 ? 0 : change / std::max(std::abs(first->value), std::abs(second->value));
  }
  std::string outcome() const {
    if (first == nullptr) return "only second";
    if (second == nullptr) return "only first";
    return gain() > 0 ? "better" : gain() < 0 ? "worse" : "same";
  }
};

bool are_of_one_figure(const Measurement& a, const Measurement& b) {
  return a.criterion == b.criterion && a.layer == b.layer && a.class_name == b.class_name &&
         a.context == b.context;
}

std::vector<TwoFigures> in_pairs(const std::vector<Measurement>& first,
                                 const std::vector<Measurement>& second) {
  std::vector<TwoFigures> all;
  for (const Measurement& m : first) all.push_back({&m, nullptr});
  for (const Measurement& m : second) {
    const auto found = std::ranges::find_if(
        all, [&](const TwoFigures& two) { return two.first && are_of_one_figure(*two.first, m); });
    if (found == all.end())
      all.push_back({nullptr, &m});
    else
      found->second = &m;
  }
  return all;
}

Table figures_beside(const std::vector<TwoFigures>& all) {
  const auto value = [](const Measurement* of) { return of ? std::optional(of->value) : std::nullopt; };
  const auto change = [](const TwoFigures& two) {
    return two.first && two.second ? std::optional(two.second->value - two.first->value) : std::nullopt;
  };
  return table_of("figures", "Figures side by side", all,
                  {{"figure", [](auto& two) { return two.any().criterion; }},
                   {"layer", [](auto& two) { return two.any().layer; }},
                   {"class", [](auto& two) { return two.any().class_name; }},
                   {"context", [](auto& two) { return two.any().context; }},
                   {"first", 4, [&](auto& two) { return value(two.first); }},
                   {"second", 4, [&](auto& two) { return value(two.second); }},
                   {"change", 4, change},
                   {"outcome", "second is", &TwoFigures::outcome}});
}

// "accuracy of class 2".
std::string in_words(const Measurement& figure) {
  std::string text = figure.criterion;
  if (figure.layer != "all") text += " of layer " + figure.layer;
  if (!figure.class_name.empty()) text += " of class " + figure.class_name;
  return figure.context.empty() ? text : text + " in " + figure.context;
}

std::string headline_of_pairs(const std::vector<TwoFigures>& all, const std::string& command) {
  const auto count = [&](const char* outcome) {
    return std::ranges::count_if(all, [&](const TwoFigures& two) { return two.outcome() == outcome; });
  };
  std::string text = fmt::format("{}: of {} figures {} better, {} worse, {} the same in the second", command,
                                 all.size(), count("better"), count("worse"), count("same"));
  const auto worst = std::ranges::min_element(all, {}, &TwoFigures::relative_gain);
  if (worst != all.end() && worst->gain() < 0)
    text += fmt::format("; most lost: {}, {:.4g} after {:.4g}", in_words(worst->any()), worst->second->value,
                        worst->first->value);
  return text;
}

}  // namespace

Document difference_of(const Document& first, const Document& second) {
  if (first.command != second.command) {
    fail(Fault::usage,
         "results of '{}' and '{}' have no figures in common; compare two results of one command",
         first.command, second.command);
  }
  const std::vector<Measurement> of_first = measurements_of(first), of_second = measurements_of(second);
  const std::vector<TwoFigures> all = in_pairs(of_first, of_second);
  Document document;
  document.headline = headline_of_pairs(all, first.command);
  document.facts = {{"first", "first", first.headline}, {"second", "second", second.headline}};
  for (Table& table :
       std::vector<Table>{figures_beside(all), differing_facts(first, second), differing_gates(first, second),
                          differing_warnings(first, second), differing_origin(first, second)}) {
    if (!table.rows.empty()) document.tables.push_back(std::move(table));
  }
  if (document.tables.empty())
    document.notices.push_back(Message("the two results do not differ in anything"));
  return document;
}

}  // namespace assay::report
