#include "assay/evidence/templates/filling.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include <assay/gate.h>
#include "assay/evidence/samples.h"
#include "assay/support/text/text.h"

namespace assay::evidence {
namespace {

using State = FilledItem::State;

// Part of a pack, where it is and whether there is anything in it.
struct Part {
  std::string name, where;
  std::function<bool(const PackContents&)> is_there;
};

bool has_step(const PackContents& contents, const std::function<bool(const StepResult&)>& is_it) {
  return std::ranges::any_of(contents.results, is_it);
}

const std::vector<Part>& known_parts() {
  using C = const PackContents&;
  constexpr const char* training = "training-data";  // the step that complete() adds
  static const std::vector<Part> all{
      {"requirements", "REPORT.md: What was asked", [](C c) { return !c.study.requirements.empty(); }},
      {"traceability", "traceability/", [](C c) { return !c.study.requirements.empty(); }},
      {"approvals", "REPORT.md: Who decided", [](C c) { return !c.study.approvals.empty(); }},
      {"signature", "manifest.json.sig", [](C c) { return c.is_signed; }},
      {"training data card", "REPORT.md: Data cards",
       [](C c) { return has_step(c, [](const StepResult& r) { return r.step.name == training; }); }},
      {"test data card", "REPORT.md: Data cards",
       [](C c) {
         return has_step(
             c, [](const StepResult& r) { return r.step.command == "data" && r.step.name != training; });
       }},
      {"network card", "REPORT.md: Network card",
       [](C c) { return has_step(c, [](const StepResult& r) { return r.step.command == "model"; }); }},
      {"network hash", "REPORT.md: On what; bom.cdx.json",
       [](C c) {
         return std::ranges::any_of(c.inputs, [](const InputFile& i) { return i.role == "network"; });
       }},
      {"bill of materials", "bom.cdx.json", [](C c) { return !c.inputs.empty(); }},
      {"environment", "REPORT.md: With what", [](C c) { return !c.program.empty(); }},
      {"machine", "REPORT.md: With what", [](C c) { return !c.machine.empty(); }},
      {"commands", "REPORT.md: What was run, and what came out; study.toml",
       [](C c) { return has_step(c, [](const StepResult& r) { return !r.typed.empty(); }); }},
      {"warnings", "REPORT.md: Warnings", [](C c) { return !c.results.empty(); }},
      {"limits", "REPORT.md: What the figures mean, and what they do not tell",
       [](C c) { return has_step(c, [](const StepResult& r) { return !r.document.definitions.empty(); }); }},
      {"not done", "REPORT.md: What was not done", [](C) { return true; }},
      {"intervals", "REPORT.md: How sure the figures are",
       [](C c) { return !sample_table(c.results).rows.empty(); }},
      {"argument", "argument/amlas.svg", [](C) { return true; }},
      {"change impact", "change-impact.md", [](C c) { return c.former != nullptr; }}};
  return all;
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// Fills one item.
class Filling {
 public:
  Filling(const Source& source, const PackContents& contents, std::span<const Outcome> outcomes)
      : source_(source), contents_(contents), outcomes_(outcomes) {}

  FilledItem run() {
    const bool measured = add_measured(), complete = add_parts();
    const bool asks_any = asks_measured() || !source_.parts.empty();
    if (!asks_any || !complete || (asks_measured() && !measured)) {
      item_.state = State::open;
      item_.lacking = lacking(measured);
    } else {
      item_.state = contradicted_ ? State::contradicted : State::evidenced;
    }
    return std::move(item_);
  }

 private:
  bool asks_measured() const {
    return !source_.steps.empty() || !source_.tables.empty() || !source_.figures.empty();
  }

  void add(const std::string& evidence) {
    if (!contains(item_.evidence, evidence)) item_.evidence.push_back(evidence);
  }

  void add_outcome(const Outcome& outcome) {
    contradicted_ = contradicted_ || !outcome.gate.passed;
    add(fmt::format("{} ({}) {}: {}", contents_.study.requirements[outcome.requirement].id, outcome.gate.text,
                    outcome.gate.passed ? "holds" : "does NOT hold", outcome.file));
  }

  bool add_measured() {
    bool any = false;
    for (const Outcome& outcome : outcomes_) {
      const std::string name(report::base_name(outcome.gate.criterion));
      if (outcome.file.empty() || !contains(source_.figures, name)) continue;
      add_outcome(outcome);
      any = true;
    }
    for (const StepResult& result : contents_.results) {
      if (contains(source_.steps, result.step.command)) {
        add_step(result);
        any = true;
      }
      for (const report::Table& table : result.document.tables) {
        if (table.rows.empty() || !contains(source_.tables, table.id)) continue;
        add(fmt::format("{}, table {}", result.file, table.id));
        any = true;
      }
    }
    return any;
  }

  // A step with the requirements that it decided.
  void add_step(const StepResult& result) {
    const bool failed = report::any_failed(result.document);
    contradicted_ = contradicted_ || failed;
    add(fmt::format("step {}: {}{}", result.step.name, result.file,
                    failed ? ", of which a gate FAILED" : ""));
    for (const Outcome& outcome : outcomes_) {
      if (outcome.step == result.step.name && outcome.gate.criterion != "warnings") add_outcome(outcome);
    }
  }

  // Whether all are there.
  bool add_parts() {
    for (const std::string& name : source_.parts) {
      const auto part = std::ranges::find(known_parts(), name, &Part::name);
      if (part != known_parts().end() && part->is_there(contents_))
        add(part->where);
      else
        absent_.push_back(name);
    }
    return absent_.empty();
  }

  // `measured`: any of steps, tables and figures is there.
  std::string lacking(bool measured) const {
    std::vector<std::string> ways, needs;
    if (!source_.steps.empty()) ways.push_back("a step " + joined(source_.steps, " or "));
    if (!source_.tables.empty()) ways.push_back("a result with the table " + joined(source_.tables, " or "));
    if (!source_.figures.empty()) ways.push_back("a gate on " + joined(source_.figures, " or "));
    if (!ways.empty() && !measured) needs.push_back(joined(ways, ", or "));
    needs.insert(needs.end(), absent_.begin(), absent_.end());
    return needs.empty() ? "no pack shows it" : "needs " + joined(needs, "; ");
  }

  const Source& source_;
  const PackContents& contents_;
  std::span<const Outcome> outcomes_;
  FilledItem item_;
  std::vector<std::string> absent_;
  bool contradicted_ = false;
};

std::size_t number_in(std::span<const FilledItem> items, State state) {
  return std::ranges::count(items, state, &FilledItem::state);
}

constexpr const char* no_claim =
    "It claims neither that the pack is enough nor that anything conforms. Clauses are named by their "
    "subject and "
    "have to be checked against the text in force. What is marked as not evidenced has to be shown by other "
    "means.";

}  // namespace

std::vector<std::string> pack_parts() {
  std::vector<std::string> names;
  for (const Part& part : known_parts()) names.push_back(part.name);
  return names;
}

std::vector<FilledItem> fill(const Template& one, const PackContents& contents,
                             std::span<const Outcome> outcomes) {
  std::vector<FilledItem> filled;
  for (const Item& item : one.items) filled.push_back(Filling(item.source, contents, outcomes).run());
  return filled;
}

std::string to_string(State state) {
  if (state == State::evidenced) return "evidenced";
  return state == State::contradicted ? "CONTRADICTED" : "not evidenced";
}

Text template_text(const Template& one, const PackContents& contents, std::span<const Outcome> outcomes) {
  const std::vector<FilledItem> filled = fill(one, contents, outcomes);
  Text text;
  text.heading(1, one.title);
  text.paragraph(
      fmt::format("{} Filled from the pack {}, {}.", one.scope, document_id(contents), contents.study.title));
  text.paragraph(fmt::format("{} of {} items are evidenced, {} contradicted, {} not evidenced. {}",
                             number_in(filled, State::evidenced), filled.size(),
                             number_in(filled, State::contradicted), number_in(filled, State::open),
                             no_claim));
  std::vector<std::vector<std::string>> rows{{"item", "asked for", "state", "evidence, or what would be"}};
  for (std::size_t i = 0; i < filled.size(); ++i) {
    const bool open = filled[i].state == State::open;
    rows.push_back({one.items[i].clause, one.items[i].asks, to_string(filled[i].state),
                    open ? filled[i].lacking : joined(filled[i].evidence, "; ")});
  }
  text.table(std::move(rows));
  return text;
}

Text template_index(const PackContents& contents, std::span<const Outcome> outcomes) {
  Text text;
  text.heading(1, "Technical documentation");
  text.paragraph(
      std::string("What standards, law and authorities ask for, and what of it this pack evidences. ") +
      no_claim);
  std::vector<std::vector<std::string>> rows{
      {"text", "items", "evidenced", "contradicted", "not evidenced", "file"}};
  for (const Template& one : templates()) {
    const std::vector<FilledItem> filled = fill(one, contents, outcomes);
    rows.push_back({one.title, std::to_string(filled.size()),
                    std::to_string(number_in(filled, State::evidenced)),
                    std::to_string(number_in(filled, State::contradicted)),
                    std::to_string(number_in(filled, State::open)), "templates/" + one.name + ".md"});
  }
  text.table(std::move(rows));
  return text;
}

}  // namespace assay::evidence
