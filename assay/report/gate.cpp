#include <assay/gate.h>

#include <algorithm>
#include <cmath>
#include <set>

#include <assay/error.h>
#include "assay/support/exact_count.h"
#include "assay/support/text.h"

namespace assay::report {
namespace {

// A sign and numerator / denominator, exactly.
struct Ratio {
  bool negative = false;
  ExactCount numerator = ExactCount(0), denominator = ExactCount(1);
};

std::strong_ordering compare(const Ratio& a, const Ratio& b) {
  const bool a_negative = a.negative && !a.numerator.is_zero(),
             b_negative = b.negative && !b.numerator.is_zero();
  if (a_negative != b_negative)
    return a_negative ? std::strong_ordering::less : std::strong_ordering::greater;
  const auto order = a.numerator.times(b.denominator) <=> b.numerator.times(a.denominator);
  return a_negative ? 0 <=> order : order;
}

// REQUIRES: as parse_gate() writes thresholds.
Ratio of_decimal(std::string_view text) {
  Ratio ratio;
  ratio.negative = text.starts_with('-');
  if (ratio.negative) text.remove_prefix(1);
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::string_view fraction = text.substr(std::min(point + 1, text.size()));
  const auto digits = ExactCount::parse(std::string(text.substr(0, point)) + std::string(fraction));
  if (!digits) fail(Fault::usage, "'{}' is no decimal number", text);
  ratio.numerator = *digits;
  ratio.denominator = ExactCount(1).times_power(10, fraction.size());
  return ratio;
}

// The exact value of a float64. REQUIRES: finite.
Ratio of_double(double value) {
  Ratio ratio;
  ratio.negative = std::signbit(value);
  int exponent = 0;
  const double mantissa = std::ldexp(std::frexp(std::fabs(value), &exponent), 53);
  exponent -= 53;
  ratio.numerator = *ExactCount::parse(std::to_string(static_cast<std::uint64_t>(mantissa)));
  ExactCount& scaled = exponent >= 0 ? ratio.numerator : ratio.denominator;
  scaled = scaled.times_power(2, static_cast<std::size_t>(std::abs(exponent)));
  return ratio;
}

struct Number {
  Ratio ratio;
  std::string undefined;  // why there is none
};

bool is_count(const Measurement& m) { return !m.coverable.empty(); }

Number number_of(const Measurement& m) {
  if (!is_count(m)) {
    if (!std::isfinite(m.value)) return {{}, fmt::format("the measure is {}", m.value)};
    return {of_double(m.value), ""};
  }
  const auto covered = ExactCount::parse(m.covered), coverable = ExactCount::parse(m.coverable);
  if (!covered || !coverable) return {{}, fmt::format("'{}' of '{}' are no counts", m.covered, m.coverable)};
  if (coverable->is_zero()) return {{}, "nothing is coverable, so the coverage is undefined"};
  if (*covered > *coverable) return {{}, fmt::format("{} of {} cannot be", m.covered, m.coverable)};
  return {{false, *covered, *coverable}, ""};
}

bool selects(const std::string& wanted, const std::string& found) { return wanted == "*" || wanted == found; }

void record(Gate& gate, const Measurement& m) {
  gate.layer = m.layer;
  gate.class_name = m.class_name;
  gate.context = m.context;
  gate.covered = m.covered;
  gate.coverable = m.coverable;
  gate.value.reset();
  if (std::isfinite(m.value)) gate.value = m.value;
}

// Decides for one measurement. `demand`: the threshold.
void decide(Gate& gate, const Measurement& m, const Ratio& demand) {
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
  if (gate.relation == ">=" && is_count(m) && compare(demand, {false, ExactCount(1), ExactCount(1)}) > 0) {
    gate.reason = fmt::format("a coverage is at most 1; write {}% for per cent", gate.threshold);
  }
}

// Why nothing was selected: the first selector without a match, with the names there are.
std::string nothing_selected(const Gate& gate, std::span<const Measurement> measurements) {
  struct Selector {
    std::string_view what;
    const std::string& wanted;
    std::string Measurement::*field;
  };
  std::vector<const Measurement*> left;
  for (const Measurement& m : measurements) left.push_back(&m);
  for (const Selector& s : {Selector{"criterion", gate.criterion, &Measurement::criterion},
                            {"layer", gate.layer, &Measurement::layer},
                            {"class", gate.class_name, &Measurement::class_name},
                            {"context", gate.context, &Measurement::context}}) {
    std::set<std::string> names;
    for (const Measurement* m : left) names.insert((m->*s.field).empty() ? "(none)" : m->*s.field);
    std::erase_if(left, [&](const Measurement* m) { return !selects(s.wanted, m->*s.field); });
    if (!left.empty()) continue;
    const std::vector<std::string> known(names.begin(), names.end());
    if (known.empty()) return "nothing was measured";
    return fmt::format("no {} '{}' was measured; there are {}{}", s.what, s.wanted, joined(known),
                       did_you_mean(s.wanted, known));
  }
  return "nothing was measured";
}

bool same_place(const Measurement& a, const Measurement& b) {
  return a.criterion == b.criterion && a.layer == b.layer && a.class_name == b.class_name &&
         a.context == b.context;
}

std::string place(const Measurement& m) {
  std::vector<std::string> selectors = {"layer=" + m.layer};
  if (!m.class_name.empty()) selectors.push_back("class=" + m.class_name);
  if (!m.context.empty()) selectors.push_back("context=" + m.context);
  return fmt::format("{}[{}]", m.criterion, joined(selectors, ","));
}

Gate ratchet(const Measurement& then, std::span<const Measurement> measurements) {
  Gate gate;
  gate.criterion = then.criterion;
  gate.relation = then.higher_is_better ? ">=" : "<=";
  gate.threshold = is_count(then) ? then.covered + "/" + then.coverable : fmt::format("{}", then.value);
  gate.text = fmt::format("{} no worse than {}", place(then), gate.threshold);
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
  decide(gate, *now, demand.ratio);
  return gate;
}

}  // namespace

Gate evaluate(Gate gate, std::span<const Measurement> measurements) {
  gate.passed = false;
  Gate wanted = gate;
  if (wanted.layer.empty()) wanted.layer = "all";
  const Ratio demand = of_decimal(gate.threshold);
  std::optional<Gate> outcome;
  for (const Measurement& m : measurements) {
    const bool chosen = selects(wanted.criterion, m.criterion) && selects(wanted.layer, m.layer) &&
                        selects(wanted.class_name, m.class_name) && selects(wanted.context, m.context);
    if (!chosen) continue;
    Gate decided = gate;
    decide(decided, m, demand);
    if (!decided.passed) return decided;
    if (!outcome) outcome = decided;
  }
  if (outcome) return *outcome;
  gate.reason = nothing_selected(wanted, measurements);
  if (gate.relation == "=") gate.relation = ">=";
  return gate;
}

std::vector<Gate> no_worse_than(const Document& baseline, std::span<const Measurement> measurements) {
  const std::vector<Measurement> then = measurements_of(baseline);
  if (then.empty())
    fail(Fault::data, "the baseline holds no measured criterion; give the result of a measuring command");
  std::vector<Gate> gates;
  for (const Measurement& m : then) gates.push_back(ratchet(m, measurements));
  return gates;
}

std::string outcome_of(const Gate& gate) {
  std::string text;
  if (!gate.coverable.empty()) {
    text = fmt::format("{} of {}", gate.covered, gate.coverable);
    if (gate.value) text += fmt::format(" ({})", percent(*gate.value));
  } else if (gate.value) {
    text = fmt::format("{}", *gate.value);
  }
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
