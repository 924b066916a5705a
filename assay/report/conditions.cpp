#include "assay/report/conditions.h"

#include <algorithm>
#include <map>

#include <assay/error.h>
#include "assay/report/document_file.h"
#include "assay/support/text/text.h"

namespace assay::report {
namespace {

// Of what a front end calls to be held against an earlier result.
const About no_worse{"not to be worse than", "{no-worse-than}"}, allow_any{"allow any", "{any-baseline}"};

Measurement warning_count(double count) {
  Measurement m;
  m.criterion = "warnings";
  m.value = count;
  m.higher_is_better = false;
  return m;
}

Document baseline_of(const Conditions& conditions) { return read_document_file(conditions.baseline); }

std::string provenance_of(const Document& document, std::string_view key) {
  for (const auto& [name, value] : document.provenance) {
    const auto* text = std::get_if<std::string>(&value);
    if (name == key && text != nullptr) return *text;
  }
  return {};
}

void check_hash(const Conditions& conditions, std::string_view what, const std::string& then,
                const std::string& now) {
  if (now.empty() || then == now) return;
  if (then.empty())
    fail(Fault::mismatch,
         "{} {}: that result does not say which {} it is about (this one has the hash {}); measure it again, "
         "or {}",
         no_worse, conditions.baseline, what, now, allow_any);
  fail(Fault::mismatch,
       "{} {}: that result is about another {} (hash {}, now {}); give one about this {}, or {}", no_worse,
       conditions.baseline, what, then, now, what, allow_any);
}

// "name=value; ..." by name.
std::map<std::string, std::string> settings_in(const std::string& text) {
  std::map<std::string, std::string> settings;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find("; ", begin), text.size());
    const std::string one = text.substr(begin, end - begin);
    const std::size_t equals = std::min(one.find('='), one.size());
    settings.emplace(one.substr(0, equals), one.substr(std::min(equals + 1, one.size())));
    begin = end + 2;
  }
  return settings;
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

void check_no_figures(const Conditions& conditions, std::string_view why) {
  for (const std::string& gate : conditions.gates) {
    if (parse_gate(gate).criterion != "warnings")
      fail(Fault::usage, "{} '{}' has no effect: {}; 'warnings<=0' can be asked for",
           About{"condition", "{fail-under}"}, gate, why);
  }
  if (!conditions.baseline.empty())
    fail(Fault::usage, "{} has no effect: {}; leave it out", About{"an earlier result", "{no-worse-than}"},
         why);
}

void check_baseline(const Conditions& conditions, const std::string& model_hash,
                    const std::string& data_hash) {
  if (conditions.baseline.empty() || conditions.any_baseline) return;
  const Document baseline = baseline_of(conditions);
  check_hash(conditions, "network", provenance_of(baseline, "model_hash"), model_hash);
  const std::string test = provenance_of(baseline, "test_hash");
  const std::string data = test.empty() ? provenance_of(baseline, "data_hash") : test;
  if (data.empty() && !provenance_of(baseline, "records_hash").empty()) return;  // check_baseline_records()
  check_hash(conditions, "data set", data, data_hash);
}

void check_baseline_set(const Conditions& conditions, std::string_view what, const std::string& name,
                        const std::string& hash) {
  if (conditions.baseline.empty() || conditions.any_baseline) return;
  const std::string then = provenance_of(baseline_of(conditions), name + "_hash");
  if (!then.empty()) check_hash(conditions, what, then, hash);
}

void check_baseline_records(const Conditions& conditions, const std::string& records_hash, bool by_data_set) {
  if (conditions.baseline.empty() || conditions.any_baseline) return;
  const Document baseline = baseline_of(conditions);
  const std::string then = provenance_of(baseline, "records_hash");
  const bool checked = by_data_set && then.empty() && !provenance_of(baseline, "test_hash").empty();
  if (!checked) check_hash(conditions, "data set", then, records_hash);
}

void check_baseline_profile(const Conditions& conditions, const std::string& training_hash,
                            const std::string& settings) {
  if (conditions.baseline.empty() || conditions.any_baseline) return;
  const Document baseline = baseline_of(conditions);
  check_hash(conditions, "training set", provenance_of(baseline, "train_hash"), training_hash);
  const auto then = settings_in(provenance_of(baseline, "profile_settings"));
  for (const auto& [name, now] : settings_in(settings)) {
    const auto found = then.find(name);
    if (found == then.end() || found->second == now) continue;
    fail(Fault::mismatch,
         "{} {}: the profile of that result was learned with {}={}, now {}; learn it in the same way, or {}",
         no_worse, conditions.baseline, name, found->second, now, allow_any);
  }
}

void apply(const Conditions& conditions, Document& document, std::span<const Measurement> measurements) {
  std::vector<Measurement> all(measurements.begin(), measurements.end());
  all.push_back(warning_count(document.warnings.size()));
  for (const std::string& text : conditions.gates) document.gates.push_back(evaluate(parse_gate(text), all));
  if (conditions.baseline.empty()) return;
  for (Gate& gate : no_worse_than(baseline_of(conditions), measurements, conditions.ratchet))
    document.gates.push_back(std::move(gate));
}

}  // namespace assay::report
