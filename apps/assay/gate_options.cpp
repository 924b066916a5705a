#include "apps/assay/gate_options.h"

#include <algorithm>

#include <assay/error.h>
#include "assay/support/file.h"
#include "assay/support/text.h"

namespace assay::app {
namespace {

report::Measurement warning_count(double count) {
  report::Measurement m;
  m.criterion = "warnings";
  m.value = count;
  m.higher_is_better = false;
  return m;
}

std::string provenance_of(const report::Document& document, std::string_view key) {
  for (const auto& [name, value] : document.provenance) {
    const auto* text = std::get_if<std::string>(&value);
    if (name == key && text != nullptr) return *text;
  }
  return {};
}

}  // namespace

void GateOptions::declare(CLI::App& app) {
  app.add_option(
         "--fail-under", fail_under_,
         "end with exit code 2 unless this figure is reached, such as 'idc[m=6]=0.35', 'kmnc[layer=*]=60%' "
         "or 'warnings<=0'; may be repeated")
      ->type_name("GATE")
      ->group("Gates");
  app.add_option("--no-worse-than", baseline_,
                 "end with exit code 2 if any figure is worse than in an earlier --json result")
      ->type_name("FILE.json")
      ->group("Gates");
  app.add_option("--worse-by", ratchet_.tolerance, "how much worse than the earlier result a figure may be")
      ->type_name("FLOAT")
      ->group("Gates");
  app.add_option(
         "--compare", ratchet_.only,
         "compare only these figures with the earlier result, such as 'kmnc[layer=*]'; may be repeated")
      ->type_name("NAME")
      ->group("Gates");
  app.add_flag("--any-baseline", any_baseline_,
               "compare also with a result of another network or of other data")
      ->group("Gates");
}

void GateOptions::check(const std::vector<std::string>& measured) const {
  std::vector<std::string> known = measured;
  known.emplace_back("warnings");
  for (const std::string& text : fail_under_) {
    const std::string name(report::base_name(report::parse_gate(text).criterion));
    if (measured.empty() || name == "*" || std::ranges::find(known, name) != known.end()) continue;
    fail(Fault::usage, "gate '{}': no criterion '{}' will be measured; there are {}{}", text, name,
         joined(known), did_you_mean(name, known));
  }
  if (baseline_.empty()) {
    if (ratchet_.tolerance != "0" || !ratchet_.only.empty() || any_baseline_)
      fail(Fault::usage,
           "--worse-by, --compare and --any-baseline are about an earlier result; name it with "
           "--no-worse-than FILE.json");
    return;
  }
  report::no_worse_than(report::read_document(read_file(baseline_), baseline_), {}, ratchet_);
}

void GateOptions::check(std::span<const report::Measurement> measured) const {
  std::vector<report::Measurement> all(measured.begin(), measured.end());
  all.push_back(warning_count(0));
  for (const std::string& text : fail_under_) {
    const std::string why = report::impossible(report::parse_gate(text), all);
    if (!why.empty()) fail(Fault::usage, "gate '{}' cannot pass: {}", text, why);
  }
}

void GateOptions::check_baseline(const std::string& model_hash, const std::string& data_hash) const {
  if (baseline_.empty() || any_baseline_) return;
  const report::Document baseline = report::read_document(read_file(baseline_), baseline_);
  const auto check = [&](std::string_view what, const std::string& then, const std::string& now) {
    if (then.empty() || now.empty() || then == now) return;
    fail(Fault::mismatch,
         "--no-worse-than {}: that result is of another {} (hash {}, now {}); give one of this {}, or "
         "--any-baseline",
         baseline_, what, then, now, what);
  };
  check("network", provenance_of(baseline, "model_hash"), model_hash);
  const std::string test = provenance_of(baseline, "test_hash");
  check("data set", test.empty() ? provenance_of(baseline, "data_hash") : test, data_hash);
}

void GateOptions::apply(report::Document& document, std::span<const report::Measurement> measurements) const {
  std::vector<report::Measurement> all(measurements.begin(), measurements.end());
  all.push_back(warning_count(static_cast<double>(document.warnings.size())));
  for (const std::string& text : fail_under_)
    document.gates.push_back(report::evaluate(report::parse_gate(text), all));
  if (baseline_.empty()) return;
  const report::Document baseline = report::read_document(read_file(baseline_), baseline_);
  for (report::Gate& gate : report::no_worse_than(baseline, measurements, ratchet_))
    document.gates.push_back(std::move(gate));
}

}  // namespace assay::app
