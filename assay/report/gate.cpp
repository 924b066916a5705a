#include <assay/gate.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <assay/error.h>
#include "assay/report/exact_ratio.h"
#include "assay/report/gate_members.h"
#include "assay/support/text/text.h"

namespace assay::report {
namespace {

struct Number {
  ExactRatio ratio;
  std::string undefined;  // why there is none
};

bool is_count(const Measurement& m) { return !m.coverable.empty(); }

Number number_of(const Measurement& m) {
  if (!is_count(m)) {
    if (!std::isfinite(m.value)) return {{}, fmt::format("the measure is {}", m.value)};
    return {of_double(m.value), ""};
  }
  const auto covered = ExactCount::parse(m.covered), coverable = ExactCount::parse(m.coverable);
  if (!covered || !coverable) return {{}, fmt::format("'{}' of '{}' are not counts", m.covered, m.coverable)};
  if (coverable->is_zero()) return {{}, "nothing is coverable, so the coverage is undefined"};
  if (*covered > *coverable) return {{}, fmt::format("{} of {} cannot be", m.covered, m.coverable)};
  return {{false, *covered, *coverable}, ""};
}

bool selects(const std::string& wanted, const std::string& found) { return wanted == "*" || wanted == found; }

// Of a class or a context: `*` asks for each there is, and what is about all of them together is none.
bool selects_part(const std::string& wanted, const std::string& found) {
  return wanted == "*" ? !found.empty() : wanted == found;
}

// "a=1,b=c[d=2,e=3]" in parts; commas in brackets and in double quotes do not separate.
std::vector<std::string_view> split_options(std::string_view text) {
  std::vector<std::string_view> options;
  int depth = 0;
  bool quoted = false;
  for (std::size_t begin = 0, i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (quoted && c == '\\') ++i;
    quoted ^= c == '"';
    depth += quoted ? 0 : c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c != ',' || ((depth > 0 || quoted) && i < text.size())) continue;
    if (i > begin) options.push_back(text.substr(begin, i - begin));
    begin = i + 1;
  }
  return options;
}

// Those of "name[a=1,b=2]".
std::vector<std::string_view> options_of(std::string_view criterion) {
  const std::size_t open = criterion.find('[');
  if (open == std::string_view::npos || !criterion.ends_with(']')) return {};
  return split_options(criterion.substr(open + 1, criterion.size() - open - 2));
}

std::string_view key_of(std::string_view option) { return option.substr(0, option.find('=')); }

// What stands in double quotes, if anything does.
std::string unquoted(std::string_view value) {
  if (value.size() < 2 || !value.starts_with('"')) return std::string(value);
  std::string inside;
  for (std::size_t i = 1; i + 1 < value.size(); ++i) {
    if (value[i] == '\\' && i + 2 < value.size()) ++i;
    inside += value[i];
  }
  return inside;
}

// Value by characteristic of a context that is a group of records, "weather=fog,sex=f"; nothing of others.
std::map<std::string, std::string> group_of(std::string_view context) {
  std::map<std::string, std::string> group;
  for (const std::string_view option : split_options(context)) {
    const std::size_t equals = option.find('=');
    if (equals == std::string_view::npos || equals == 0) return {};
    group.emplace(option.substr(0, equals), unquoted(option.substr(equals + 1)));
  }
  return group;
}

// Contexts are named, or they are groups: weather=* selects each value, weather=*,sex=f those of pairs.
bool selects_context(const std::string& wanted, const std::string& found) {
  if (selects_part(wanted, found)) return true;
  const auto group = group_of(wanted), has = group_of(found);
  return !group.empty() && std::ranges::equal(group, has, [](const auto& one, const auto& other) {
    return one.first == other.first && selects(one.second, other.second);
  });
}

// Whether `found` is `wanted` with further options, those of an option's value among them: operator=gf asks
// for operator=gf[ratio=0.01] as well, target=* for each target.
bool is_variant(const std::string& wanted, const std::string& found) {
  if (base_name(wanted) != base_name(found)) return false;
  const std::vector<std::string_view> have = options_of(found);
  return std::ranges::all_of(options_of(wanted), [&](std::string_view need) {
    return std::ranges::any_of(have, [&](std::string_view one) {
      const bool any = need.ends_with("=*") && one.starts_with(need.substr(0, need.size() - 1));
      return one == need || any || (one.starts_with(need) && one.substr(need.size()).starts_with('['));
    });
  });
}

// The figures that a gate's name means: the figure of exactly this name, otherwise all variants of the
// criterion.
std::vector<const Measurement*> of_criterion(const std::string& wanted,
                                             std::span<const Measurement> measurements) {
  std::vector<const Measurement*> exact, variants;
  for (const Measurement& m : measurements) {
    if (selects(wanted, m.criterion)) exact.push_back(&m);
    if (is_variant(wanted, m.criterion)) variants.push_back(&m);
  }
  return exact.empty() ? variants : exact;
}

bool has_option(std::string_view criterion, std::string_view key, std::span<const Measurement> measurements) {
  return std::ranges::any_of(measurements, [&](const Measurement& m) {
    return base_name(m.criterion) == base_name(criterion) &&
           std::ranges::any_of(options_of(m.criterion), [&](auto option) { return key_of(option) == key; });
  });
}

std::string with_options(std::string_view criterion, const std::vector<std::string>& options) {
  const std::string name(base_name(criterion));
  return options.empty() ? name : fmt::format("{}[{}]", name, joined(options, ","));
}

// accuracy[weather=fog]: what is not an option of the criterion, but a characteristic of records, is the
// context.
Gate with_group(Gate gate, std::span<const Measurement> measurements) {
  std::set<std::string, std::less<>> characteristics;
  for (const Measurement& m : measurements)
    for (const auto& [name, value] : group_of(m.context)) characteristics.insert(name);
  std::vector<std::string> options, group;
  for (const std::string_view option : options_of(gate.criterion)) {
    const bool is_group =
        characteristics.contains(key_of(option)) && !has_option(gate.criterion, key_of(option), measurements);
    (is_group ? group : options).emplace_back(option);
  }
  if (group.empty() || !gate.context.empty()) return gate;
  gate.context = joined(group, ",");
  gate.criterion = with_options(gate.criterion, options);
  return gate;
}

// Those of a layer; without one those of all layers together, and each layer where they do not add up.
std::vector<const Measurement*> of_layer(const std::string& wanted, std::vector<const Measurement*> list) {
  if (!wanted.empty()) {
    std::erase_if(list, [&](const Measurement* m) { return !selects(wanted, m->layer); });
    return list;
  }
  const auto adds_up = [&](const Measurement* m) {
    return std::ranges::any_of(
        list, [&](const Measurement* o) { return o->criterion == m->criterion && o->layer == "all"; });
  };
  std::vector<const Measurement*> chosen;
  for (const Measurement* m : list) {
    if (m->layer == "all" || !adds_up(m)) chosen.push_back(m);
  }
  return chosen;
}

std::vector<const Measurement*> chosen_by(const Gate& gate, std::span<const Measurement> measurements) {
  std::vector<const Measurement*> list = of_layer(gate.layer, of_criterion(gate.criterion, measurements));
  std::erase_if(list, [&](const Measurement* m) {
    return !selects_part(gate.class_name, m->class_name) || !selects_context(gate.context, m->context);
  });
  return list;
}

// Figures of a target are measured under an option of the criterion or, by tasks, under a class; a gate may
// name either.
Gate with_target(Gate gate, std::span<const Measurement> measurements) {
  if (!chosen_by(gate, measurements).empty()) return gate;
  constexpr std::string_view key = "target=";
  Gate other = gate;
  std::vector<std::string> options;
  for (const std::string_view option : options_of(gate.criterion)) {
    if (option.starts_with(key) && gate.class_name.empty())
      other.class_name = unquoted(option.substr(key.size()));
    else
      options.emplace_back(option);
  }
  if (!gate.class_name.empty()) {
    options.push_back(std::string(key) + gate.class_name);
    other.class_name.clear();
  }
  other.criterion = with_options(gate.criterion, options);
  return chosen_by(other, measurements).empty() ? gate : other;
}

Gate as_measured(Gate gate, std::span<const Measurement> measurements) {
  return with_target(with_group(std::move(gate), measurements), measurements);
}

void record(Gate& gate, const Measurement& m) {
  gate.layer = m.layer;
  gate.class_name = m.class_name;
  gate.context = m.context;
  gate.covered = m.covered;
  gate.coverable = m.coverable;
  gate.value.reset();
  if (std::isfinite(m.value)) gate.value = m.value;
}

// Why no share can be compared with the threshold: a gate beyond what there is would always be open, or
// always shut.
std::string no_share(const Gate& gate, const ExactRatio& demand) {
  if (compare(demand, {false, ExactCount(1), ExactCount(1)}) > 0)
    return fmt::format("a coverage is at most 1; write {}% for a percentage", gate.threshold);
  return compare(demand, ExactRatio{}) < 0 ? "a coverage is at least 0" : "";
}

// Decides for one measurement. `demand`: the threshold.
void decide(Gate& gate, const Measurement& m, const ExactRatio& demand) {
  if (gate.relation == "=") gate.relation = m.higher_is_better ? ">=" : "<=";
  record(gate, m);
  const Number number = number_of(m);
  gate.reason = number.undefined;
  gate.passed = false;
  if (!number.undefined.empty()) {
    gate.value.reset();
    return;
  }
  const auto order = compare(number.ratio, demand);
  gate.passed = gate.relation == ">=" ? order >= 0 : order <= 0;
}

// The same of a threshold that somebody wrote.
void decide_written(Gate& gate, const Measurement& m, const ExactRatio& demand) {
  decide(gate, m, demand);
  const std::string why = is_count(m) ? no_share(gate, demand) : "";
  if (why.empty() || !gate.reason.empty()) return;
  gate.passed = false;
  gate.reason = why;
}

// Figures of groups by the same characteristics.
std::vector<const Measurement*> of_same_characteristics(const std::string& context,
                                                        std::vector<const Measurement*> list) {
  const auto wanted = group_of(context);
  std::erase_if(list, [&](const Measurement* m) {
    return wanted.empty() || !std::ranges::equal(
                                 wanted, group_of(m->context), {}, [](const auto& one) { return one.first; },
                                 [](const auto& one) { return one.first; });
  });
  return list;
}

// Of "accuracy[one=*]" where accuracies were measured, but not by groups of that name: what there is.
std::string no_groups(std::string_view criterion, std::span<const Measurement> measurements) {
  std::set<std::string> known;
  bool measured = false;
  for (const Measurement& m : measurements) {
    if (base_name(m.criterion) != base_name(criterion)) continue;
    measured = true;
    for (const auto& [name, value] : group_of(m.context)) known.insert(name);
  }
  const std::vector<std::string> names(known.begin(), known.end());
  for (const std::string_view option : options_of(criterion)) {
    const std::string key(key_of(option));
    if (!measured || known.contains(key) || has_option(criterion, key, measurements)) continue;
    return fmt::format(
        "; nor are there groups of records by '{}' ({}; one value in all records makes none)", key,
        names.empty() ? "meta= of the data names characteristics"
                      : fmt::format("there are some by {}{}", joined(names), did_you_mean(key, names)));
  }
  return {};
}

// Why nothing was selected: the first selector without a match, with the names there are.
std::string nothing_selected(const Gate& gate, std::span<const Measurement> measurements) {
  const auto names = [](const auto& list, std::string Measurement::*field) {
    std::set<std::string> found;
    for (const Measurement* m : list) found.insert((m->*field).empty() ? "(none)" : m->*field);
    return std::vector<std::string>(found.begin(), found.end());
  };
  const auto refusal = [&](std::string_view what, const std::string& wanted, const auto& list,
                           std::string Measurement::*field) {
    const std::vector<std::string> known = names(list, field);
    if (known.empty()) return std::string("nothing was measured");
    if (wanted == "*") return fmt::format("no single {} was measured, only all together", what);
    return fmt::format("no {} '{}' was measured; there are {}{}", what, wanted, joined(known),
                       did_you_mean(wanted, known));
  };
  std::vector<const Measurement*> all;
  for (const Measurement& m : measurements) all.push_back(&m);
  std::vector<const Measurement*> left = of_criterion(gate.criterion, measurements);
  if (left.empty())
    return refusal("criterion", gate.criterion, all, &Measurement::criterion) +
           no_groups(gate.criterion, measurements);
  const std::vector<const Measurement*> layers = of_layer(gate.layer, left);
  if (layers.empty()) return refusal("layer", gate.layer, left, &Measurement::layer);
  left = layers;
  std::erase_if(left, [&](const Measurement* m) { return !selects_part(gate.class_name, m->class_name); });
  if (left.empty()) return refusal("class", gate.class_name, layers, &Measurement::class_name);
  const std::vector<const Measurement*> similar = of_same_characteristics(gate.context, left);
  return refusal("context", gate.context, similar.empty() ? left : similar, &Measurement::context);
}

bool same_place(const Measurement& a, const Measurement& b) {
  return a.criterion == b.criterion && a.layer == b.layer && a.class_name == b.class_name &&
         a.context == b.context;
}

std::string place(const Measurement& m) {
  std::vector<std::string> selectors = {"layer=" + m.layer};
  if (!m.class_name.empty()) selectors.push_back("class=" + m.class_name);
  if (!m.context.empty()) selectors.push_back((group_of(m.context).empty() ? "context=" : "") + m.context);
  return fmt::format("{}[{}]", m.criterion, joined(selectors, ","));
}

// "512 of 1000 (51.20 %)", or a measure's value; empty where there is none.
std::string figure_of(const Gate& gate) {
  if (gate.coverable.empty()) return gate.value ? fmt::format("{}", *gate.value) : "";
  const std::string share = gate.value ? fmt::format(" ({})", percent(*gate.value)) : "";
  return fmt::format("{} of {}{}", gate.covered, gate.coverable, share);
}

// A figure with what the gate says of it.
struct Decided {
  const Measurement* figure;
  Gate gate;
  Number number;
};

// Failures before what holds, figures without a value before others, then by how far each is from the demand.
bool is_worse(const Decided& a, const Decided& b) {
  if (a.gate.passed != b.gate.passed) return b.gate.passed;
  const bool a_undefined = !a.number.undefined.empty(), b_undefined = !b.number.undefined.empty();
  if (a_undefined || b_undefined) return a_undefined && !b_undefined;
  if (a.gate.relation != b.gate.relation) return a.gate.relation < b.gate.relation;
  const auto order = compare(a.number.ratio, b.number.ratio);
  return a.gate.relation == ">=" ? order < 0 : order > 0;
}

// All figures that the gate is about; equal ones stay in the order of the measurements.
std::vector<Decided> worst_first(const Gate& gate, std::span<const Measurement> measurements) {
  const ExactRatio demand = of_decimal(gate.threshold);
  std::vector<Decided> all;
  for (const Measurement* m : chosen_by(gate, measurements)) {
    all.push_back({m, gate, number_of(*m)});
    decide_written(all.back().gate, *m, demand);
  }
  std::ranges::stable_sort(all, is_worse);
  return all;
}

// "fails for 2 of 5: kmnc[layer=b] 1 of 10 (10.00 %), kmnc[layer=a] 4 of 10 (40.00 %)", the worst first.
std::string failures_of(std::span<const Decided> worst_first) {
  constexpr std::size_t most_named = 12;
  std::vector<std::string> failing;
  for (const Decided& one : worst_first) {
    if (one.gate.passed) break;
    const std::string figure = figure_of(one.gate);
    failing.push_back(place(*one.figure) + (figure.empty() ? "" : " " + figure));
  }
  const std::size_t count = failing.size();
  const std::string more = count > most_named ? fmt::format(" and {} more", count - most_named) : "";
  failing.resize(std::min(count, most_named));
  return fmt::format("fails for {} of {}: {}{}", count, worst_first.size(), joined(failing), more);
}

Gate ratchet_of(const Measurement& then, std::span<const Measurement> measurements,
                const std::string& tolerance) {
  Gate gate;
  gate.criterion = then.criterion;
  gate.relation = then.higher_is_better ? ">=" : "<=";
  gate.threshold = is_count(then) ? then.covered + "/" + then.coverable : fmt::format("{}", then.value);
  gate.text = fmt::format("{} no worse than {}{}", place(then), gate.threshold,
                          tolerance == "0" ? "" : " less " + tolerance);
  gate.layer = then.layer;
  gate.class_name = then.class_name;
  gate.context = then.context;
  const auto now = std::find_if(measurements.begin(), measurements.end(),
                                [&](const Measurement& m) { return same_place(m, then); });
  if (now == measurements.end()) {
    gate.reason = "the baseline has it and this run does not";
    return gate;
  }
  const Number demand = number_of(then);
  if (!demand.undefined.empty()) {
    record(gate, *now);
    gate.passed = true;
    gate.reason = "the baseline makes no demand: " + demand.undefined;
    return gate;
  }
  if (is_count(then) != is_count(*now)) {
    gate.reason = "a count in one run and a measure in the other";
    return gate;
  }
  ExactRatio allowed = of_decimal(tolerance);
  allowed.negative = !then.higher_is_better;
  decide(gate, *now, difference(demand.ratio, allowed));
  return gate;
}

}  // namespace

std::string_view base_name(std::string_view criterion) { return criterion.substr(0, criterion.find('[')); }

Gate evaluate(Gate written, std::span<const Measurement> measurements) {
  Gate gate = as_measured(std::move(written), measurements);
  gate.passed = false;
  const std::vector<Decided> all = worst_first(gate, measurements);
  if (all.empty()) {
    gate.reason = nothing_selected(gate, measurements);
    if (gate.relation == "=") gate.relation = ">=";
    return gate;
  }
  Gate worst = all.front().gate;
  if (all.size() == 1) return worst;
  worst.reason =
      worst.passed ? fmt::format("the worst of {} figures, all of which pass", all.size())
                   : fmt::format("{}{}{}", worst.reason, worst.reason.empty() ? "" : "; ", failures_of(all));
  return worst;
}

std::vector<Gate> evaluate_each(Gate written, std::span<const Measurement> measurements) {
  Gate gate = as_measured(std::move(written), measurements);
  gate.passed = false;
  std::vector<Gate> each;
  for (const Decided& one : worst_first(gate, measurements)) {
    each.push_back(one.gate);
    each.back().criterion = one.figure->criterion;
  }
  return each;
}

std::string figure_name(const Gate& gate) {
  std::string name = gate.criterion;
  if (!gate.layer.empty() && gate.layer != "all") name += ", layer " + gate.layer;
  if (!gate.class_name.empty()) name += ", class " + gate.class_name;
  if (!gate.context.empty()) name += ", context " + gate.context;
  return name;
}

std::string impossible(const Gate& written, std::span<const Measurement> measurements) {
  const Gate gate = as_measured(written, measurements);
  const std::vector<const Measurement*> asked =
      of_layer(gate.layer, of_criterion(gate.criterion, measurements));
  if (asked.empty()) return nothing_selected(gate, measurements);
  const bool counts = std::ranges::any_of(asked, [](const Measurement* m) { return is_count(*m); });
  return counts ? no_share(gate, of_decimal(gate.threshold)) : "";
}

std::vector<Gate> no_worse_than(const Document& baseline, std::span<const Measurement> measurements,
                                const Ratchet& ratchet) {
  const std::vector<Measurement> then = measurements_of(baseline);
  if (then.empty())
    fail(Fault::data, "the baseline holds no measured criterion; give {}",
         About{"the result of a measuring command", "a document that a measuring command wrote with {json}"});
  std::set<const Measurement*> chosen;
  for (const std::string& text : ratchet.only) {
    const Gate selector = as_measured(parse_gate(text + "=0"), then);
    auto found = of_layer(selector.layer, of_criterion(selector.criterion, then));
    std::erase_if(found, [&](const Measurement* m) {
      return (!selector.class_name.empty() && !selects_part(selector.class_name, m->class_name)) ||
             (!selector.context.empty() && !selects_context(selector.context, m->context));
    });
    if (found.empty())
      fail(Fault::usage, "'{}' matches no figure of the baseline: {}", text,
           nothing_selected(selector, then));
    chosen.insert(found.begin(), found.end());
  }
  const std::string tolerance = parse_gate("tolerance=" + ratchet.tolerance).threshold;
  if (tolerance.starts_with('-')) fail(Fault::usage, "a tolerance of {} is less than 0", tolerance);
  std::vector<Gate> gates;
  for (const Measurement& m : then) {
    if (ratchet.only.empty() || chosen.contains(&m)) gates.push_back(ratchet_of(m, measurements, tolerance));
  }
  return gates;
}

std::string outcome_of(const Gate& gate) {
  std::string text = figure_of(gate);
  if (!text.empty() && !gate.reason.empty()) text += ": ";
  return text + gate.reason;
}

std::string described(const Gate& gate) {
  const std::string outcome = outcome_of(gate);
  return outcome.empty() ? gate.text : gate.text + ": " + outcome;
}

bool any_failed(const Document& document) {
  return std::any_of(document.gates.begin(), document.gates.end(),
                     [](const Gate& gate) { return !gate.passed; });
}

}  // namespace assay::report
