#include "assay/report/conditions.h"

#include <algorithm>

#include <assay/error.h>
#include "assay/support/file.h"
#include "assay/support/text.h"

namespace assay::report {
namespace {

Measurement warning_count(double count) {
  Measurement m;
  m.criterion = "warnings";
  m.value = count;
  m.higher_is_better = false;
  return m;
}

Document baseline_of(const Conditions& conditions) {
  return read_document(read_file(conditions.baseline), conditions.baseline);
}

std::string provenance_of(const Document& document, std::string_view key) {
  for (const auto& [name, value] : document.provenance) {
    const auto* text = std::get_if<std::string>(&value);
    if (name == key && text != nullptr) return *text;
  }
  return {};
}

}  // namespace

void check(const Conditions& conditions, const std::vector<std::string>& measured) {
  std::vector<std::string> known = measured;
  known.emplace_back("warnings");
  for (const std::string& text : conditions.gates) {
    const std::string name(base_name(parse_gate(text).criterion));
    if (measured.empty() || name == "*" || std::ranges::find(known, name) != known.end()) continue;
    fail(Fault::usage, "gate '{}': no criterion '{}' will be measured; there are {}{}", text, name,
         joined(known), did_you_mean(name, known));
  }
  if (!conditions.baseline.empty()) no_worse_than(baseline_of(conditions), {}, conditions.ratchet);
}

void check(const Conditions& conditions, std::span<const Measurement> measured) {
  std::vector<Measurement> all(measured.begin(), measured.end());
  all.push_back(warning_count(0));
  for (const std::string& text : conditions.gates) {
    const std::string why = impossible(parse_gate(text), all);
    if (!why.empty()) fail(Fault::usage, "gate '{}' cannot pass: {}", text, why);
  }
}

void check_baseline(const Conditions& conditions, const std::string& model_hash,
                    const std::string& data_hash) {
  if (conditions.baseline.empty() || conditions.any_baseline) return;
  const Document baseline = baseline_of(conditions);
  const auto check_hash = [&](std::string_view what, const std::string& then, const std::string& now) {
    if (then.empty() || now.empty() || then == now) return;
    fail(Fault::mismatch,
         "to be no worse than {}: that result is of another {} (hash {}, now {}); give one of this {}, or "
         "allow any",
         conditions.baseline, what, then, now, what);
  };
  check_hash("network", provenance_of(baseline, "model_hash"), model_hash);
  const std::string test = provenance_of(baseline, "test_hash");
  check_hash("data set", test.empty() ? provenance_of(baseline, "data_hash") : test, data_hash);
}

void apply(const Conditions& conditions, Document& document, std::span<const Measurement> measurements) {
  std::vector<Measurement> all(measurements.begin(), measurements.end());
  all.push_back(warning_count(static_cast<double>(document.warnings.size())));
  for (const std::string& text : conditions.gates) document.gates.push_back(evaluate(parse_gate(text), all));
  if (conditions.baseline.empty()) return;
  for (Gate& gate : no_worse_than(baseline_of(conditions), measurements, conditions.ratchet))
    document.gates.push_back(std::move(gate));
}

}  // namespace assay::report
