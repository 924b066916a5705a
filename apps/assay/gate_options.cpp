#include "apps/assay/gate_options.h"

#include <algorithm>

#include <assay/error.h>
#include "assay/support/file.h"
#include "assay/support/text.h"

namespace assay::app {

void GateOptions::declare(CLI::App& app) {
  app.add_option("--fail-under", fail_under_,
                 "end with exit code 2 unless this coverage is reached, such as idc=0.35 or "
                 "'kmnc[layer=conv2]=60%'; may be repeated")
      ->type_name("GATE")
      ->group("Gates");
  app.add_option("--no-worse-than", baseline_,
                 "end with exit code 2 if any figure is below that of an earlier --json result")
      ->type_name("FILE.json")
      ->group("Gates");
}

void GateOptions::check(const std::vector<std::string>& measured) const {
  for (const std::string& text : fail_under_) {
    const std::string criterion = report::parse_gate(text).criterion,
                      name = criterion.substr(0, criterion.find('['));
    if (measured.empty() || name == "*" || std::ranges::find(measured, name) != measured.end()) continue;
    fail(Fault::usage, "gate '{}': no criterion '{}' will be measured; there are {}{}", text, name,
         joined(measured), did_you_mean(name, measured));
  }
  if (!baseline_.empty()) report::read_document(read_file(baseline_), baseline_);
}

void GateOptions::apply(report::Document& document, std::span<const report::Measurement> measurements) const {
  for (const std::string& text : fail_under_)
    document.gates.push_back(report::evaluate(report::parse_gate(text), measurements));
  if (baseline_.empty()) return;
  for (report::Gate& gate :
       report::no_worse_than(report::read_document(read_file(baseline_), baseline_), measurements))
    document.gates.push_back(std::move(gate));
}

}  // namespace assay::app
