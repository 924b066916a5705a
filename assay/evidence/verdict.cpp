#include "assay/evidence/verdict.h"

#include <fmt/format.h>

#include <utility>

#include <assay/gate.h>
#include "assay/evidence/approvals.h"
#include "assay/evidence/requirements.h"
#include "assay/evidence/traceability.h"
#include "assay/support/text/so_many.h"
#include "assay/support/text/text.h"

namespace assay::evidence {

std::string verdict_sentence(const PackContents& contents, std::span<const Outcome> outcomes) {
  constexpr std::size_t most_named = 5;
  const std::vector<Requirement>& requirements = contents.study.requirements;
  std::vector<std::string> open;
  for (std::size_t r = 0; r < requirements.size(); ++r) {
    if (!is_met(r, outcomes)) open.push_back(requirements[r].id);
  }
  const std::size_t failing = open.size();
  std::string text =
      fmt::format("{} of {} {}", requirements.size() - failing, so_many(requirements.size(), "requirement"),
                  requirements.size() == 1 ? "holds" : "hold");
  if (failing > most_named) {
    open.resize(most_named);
    open.push_back(fmt::format("{} more", failing - most_named));
  }
  if (failing > 0) text += fmt::format("; {} {} not", joined(open), failing == 1 ? "does" : "do");
  if (const std::vector<std::string> failed = steps_with_failed_gates(contents.results); !failed.empty())
    text += fmt::format("; gates of steps failed: {}", joined(failed));
  std::vector<std::string> rejecting;
  for (const report::Gate& gate : rejections(contents.study.approvals)) rejecting.push_back(gate.reason);
  if (!rejecting.empty()) text += fmt::format("; rejected: {}", joined(rejecting, "; "));
  return text;
}

std::vector<report::Gate> verdict_gates(const PackContents& contents, std::span<const Outcome> outcomes) {
  std::vector<report::Gate> gates;
  for (const Outcome& outcome : outcomes) {
    gates.push_back(outcome.gate);
    gates.back().text = contents.study.requirements[outcome.requirement].id + ": " + outcome.gate.text;
  }
  for (const StepResult& result : contents.results) {
    for (const report::Gate& gate : result.document.gates) {
      if (gate.passed) continue;
      gates.push_back(gate);
      gates.back().text = fmt::format("step {}: {}", result.step.name, gate.text);
    }
  }
  for (report::Gate& gate : rejections(contents.study.approvals)) gates.push_back(std::move(gate));
  return gates;
}

std::vector<report::Fact> identifying_facts(const PackContents& contents) {
  std::vector<report::Fact> facts{{"document", "document", document_id(contents)},
                                  {"title", "title", contents.study.title},
                                  {"created", "made", contents.created}};
  std::size_t number = 0;
  for (const Approval& one : contents.study.approvals)
    facts.push_back({fmt::format("approval_{}", ++number), "decided by", described(one)});
  return facts;
}

report::Document document_of(const PackContents& contents, std::span<const Outcome> outcomes) {
  report::Document document;
  document.headline =
      fmt::format("{} steps, {}", contents.results.size(), verdict_sentence(contents, outcomes));
  document.facts = identifying_facts(contents);
  report::Table steps{"steps",
                      "Steps",
                      {{"step", "step"}, {"command", "command"}, {"headline", "result"}, {"file", "file"}},
                      {}};
  for (const StepResult& result : contents.results)
    steps.rows.push_back({result.step.name, result.step.command, result.document.headline, result.file});
  if (!contents.study.approvals.empty()) document.tables.push_back(approval_table(contents.study.approvals));
  document.tables.push_back(requirement_table(contents.study, outcomes, contents.results));
  document.tables.push_back(std::move(steps));
  document.gates = verdict_gates(contents, outcomes);
  for (const StepResult& result : contents.results) {
    for (const report::Warning& warning : result.document.warnings)
      document.warnings.push_back(
          {warning.id, message("step {}: {}", result.step.name, warning.text), warning.cause});
  }
  return document;
}

}  // namespace assay::evidence
