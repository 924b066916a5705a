#include "assay/evidence/requirements.h"

#include <algorithm>
#include <set>
#include <utility>

#include <assay/error.h>
#include <assay/gate.h>
#include "assay/report/gate_members.h"
#include "assay/support/text/text.h"

namespace assay::evidence {
namespace {

// Figures for gates of a result document; the number of its warnings is one.
std::vector<report::Measurement> figures_of(const report::Document& document) {
  std::vector<report::Measurement> figures = report::measurements_of(document);
  report::Measurement warnings;
  warnings.criterion = "warnings";
  warnings.value = static_cast<double>(document.warnings.size());
  warnings.higher_is_better = false;
  figures.push_back(std::move(warnings));
  return figures;
}

// Every document has this figure, so that no step in particular measured it: the gate is on all of them, and
// its outcome is the worst step's.
Outcome of_all_steps(const Outcome& asked, std::span<const StepResult> results) {
  std::vector<report::Measurement> figures;
  for (const StepResult& result : results) {
    figures.push_back(figures_of(result.document).back());
    figures.back().context = result.step.name;
  }
  Outcome outcome = asked;
  outcome.gate.context = "*";
  outcome.members = report::evaluate_each(outcome.gate, figures);
  outcome.gate = report::evaluate(outcome.gate, figures);
  const auto worst =
      std::ranges::find(results, outcome.gate.context, [](const StepResult& r) { return r.step.name; });
  if (worst == results.end()) return asked;
  outcome.step = worst->step.name;
  outcome.file = worst->file;
  outcome.gate.context.clear();
  return outcome;
}

}  // namespace

void check_study(const Study& study) {
  std::set<std::string> steps, ids;
  std::vector<std::string> names;
  for (const Step& step : study.steps) {
    if (!steps.insert(step.name).second) fail(Fault::usage, "two steps are named '{}'", step.name);
    names.push_back(step.name);
  }
  for (const Requirement& requirement : study.requirements) {
    if (requirement.id.empty()) fail(Fault::usage, "a requirement has no id");
    if (!ids.insert(requirement.id).second)
      fail(Fault::usage, "two requirements have the id '{}'", requirement.id);
    if (requirement.gates.empty())
      fail(Fault::usage, "requirement {} has no gates, so nothing could show that it holds", requirement.id);
    for (const std::string& gate : requirement.gates) report::parse_gate(gate);
    if (!requirement.step.empty() && !steps.contains(requirement.step))
      fail(Fault::usage, "requirement {}: no step is named '{}'; there are {}{}", requirement.id,
           requirement.step, joined(names), did_you_mean(requirement.step, names));
  }
}

std::vector<Outcome> outcomes_of(const Study& study, std::span<const StepResult> results) {
  std::vector<Outcome> outcomes;
  for (std::size_t r = 0; r < study.requirements.size(); ++r) {
    const Requirement& requirement = study.requirements[r];
    for (const std::string& text : requirement.gates) {
      const report::Gate gate = report::parse_gate(text);
      Outcome outcome{r, gate, "", "", {}};
      outcome.gate.reason = "no step measured it";
      if (requirement.step.empty() && gate.criterion == "warnings") {
        outcomes.push_back(of_all_steps(outcome, results));
        continue;
      }
      for (const StepResult& result : results) {
        if (!requirement.step.empty() && result.step.name != requirement.step) continue;
        const std::vector<report::Measurement> figures = figures_of(result.document);
        const bool asked = requirement.step == result.step.name || report::impossible(gate, figures).empty();
        if (!asked) continue;
        outcome = {r, report::evaluate(gate, figures), result.step.name, result.file,
                   report::evaluate_each(gate, figures)};
        break;
      }
      outcomes.push_back(std::move(outcome));
    }
  }
  return outcomes;
}

std::vector<std::string> steps_with_failed_gates(std::span<const StepResult> results) {
  std::vector<std::string> names;
  for (const StepResult& result : results)
    if (report::any_failed(result.document)) names.push_back(result.step.name);
  return names;
}

bool is_met(std::size_t requirement, std::span<const Outcome> outcomes) {
  return std::ranges::all_of(outcomes, [&](const Outcome& outcome) {
    return outcome.requirement != requirement || outcome.gate.passed;
  });
}

}  // namespace assay::evidence
