#include "assay/evidence/pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include <assay/gate.h>
#include "assay/evidence/cards.h"
#include "assay/evidence/requirements.h"
#include "assay/evidence/traceability.h"
#include "assay/support/text/shell.h"
#include "assay/support/text/text.h"

namespace assay::evidence {
namespace {

std::string command_line(const std::vector<std::string>& typed) {
  std::string line = "assay";
  for (const std::string& word : typed) line += " " + shell_word(word);
  return line;
}

void add_verdict(Text& text, const PackContents& contents, std::span<const Outcome> outcomes) {
  const std::vector<Requirement>& requirements = contents.study.requirements;
  std::size_t met = 0, warnings = 0;
  for (std::size_t r = 0; r < requirements.size(); ++r) met += is_met(r, outcomes);
  for (const StepResult& result : contents.results) warnings += result.document.warnings.size();
  text.heading(2, "Verdict");
  if (requirements.empty())
    text.paragraph("The study names no requirements: this pack tells what was measured and decides nothing.");
  else
    text.paragraph(fmt::format("{} of {} requirements hold.", met, requirements.size()));
  for (const StepResult& result : contents.results) {
    for (const report::Gate& gate : result.document.gates)
      if (!gate.passed)
        text.paragraph(
            fmt::format("A gate of step {} failed: {}.", result.step.name, report::described(gate)));
  }
  text.paragraph(warnings == 0
                     ? "No step gave a warning."
                     : fmt::format("Warnings that make figures doubtful, listed below: {}.", warnings));
}

void add_requirements(Text& text, const PackContents& contents, std::span<const Outcome> outcomes) {
  if (contents.study.requirements.empty()) return;
  text.heading(2, "What was asked");
  std::vector<std::vector<std::string>> rows{{"id", "requirement", "holds", "gate", "measured", "by"}};
  for (const Outcome& outcome : outcomes) {
    const Requirement& requirement = contents.study.requirements[outcome.requirement];
    rows.push_back({requirement.id, requirement.text, outcome.gate.passed ? "yes" : "NO", outcome.gate.text,
                    report::outcome_of(outcome.gate),
                    outcome.file.empty() ? "nobody" : outcome.step + " (" + outcome.file + ")"});
  }
  text.table(std::move(rows));
}

void add_warnings_of_steps(Text& text, const PackContents& contents) {
  std::vector<std::vector<std::string>> rows{{"step", "warning", "what", "likely cause"}};
  for (const StepResult& result : contents.results) {
    for (const report::Warning& w : result.document.warnings)
      rows.push_back({result.step.name, w.id, w.text, w.cause});
  }
  text.heading(2, "Warnings");
  if (rows.size() == 1)
    text.paragraph("None.");
  else
    text.table(std::move(rows));
}

void add_steps(Text& text, const PackContents& contents) {
  text.heading(2, "What was run, and what came out");
  for (const StepResult& result : contents.results) {
    text.heading(3, result.step.name);
    text.paragraph(result.document.headline);
    if (result.typed.empty())
      text.paragraph("Collected from " + result.step.collected + ", not run for this pack.");
    else
      text.code(command_line(result.typed));
    const std::string ended = result.step.collected.empty() ? fmt::format("Exit code {}. ", result.exit_code)
                              : result.exit_code != 0       ? "A gate of that run failed. "
                                                            : "";
    text.paragraph(fmt::format("{}Result: {}.", ended, result.file));
    add_facts(text, result.document);
    constexpr std::size_t most = 30;
    for (const report::Table& table : result.document.tables) {
      const bool figures = table.id == "criteria" || table.id == "contexts" ||
                           table.id == "mutation_operators" || table.id == "mutation_layers";
      if (figures && !table.rows.empty()) add_table(text, table, most);
    }
  }
}

void add_inputs(Text& text, const PackContents& contents) {
  text.heading(2, "On what");
  text.paragraph(
      "SHA-256 of the bytes of the files, as sha256sum prints it. Results name their network and data by "
      "content "
      "hashes (XXH3, 128 bit) of what the program read from them: model_hash over nodes and weights, *_hash "
      "over "
      "records, labels and targets after preprocessing.");
  std::vector<std::vector<std::string>> rows{{"role", "file", "bytes", "SHA-256"}};
  for (const InputFile& input : contents.inputs)
    rows.push_back({input.role, input.path, fmt::format("{}", input.bytes), input.sha256});
  if (rows.size() > 1) text.table(std::move(rows));
  std::vector<std::vector<std::string>> hashes{{"step", "what", "content hash"}};
  for (const StepResult& result : contents.results) {
    for (const auto& [key, value] : result.document.provenance) {
      const auto* hash = std::get_if<std::string>(&value);
      if (key.ends_with("_hash") && hash != nullptr) hashes.push_back({result.step.name, key, *hash});
    }
  }
  if (hashes.size() > 1) text.table(std::move(hashes));
}

void add_program(Text& text, const PackContents& contents) {
  text.heading(2, "With what");
  std::vector<std::vector<std::string>> rows{{"what", "version or value"}};
  for (const auto& [name, version] : contents.program) rows.push_back({name, version});
  for (const auto& [name, value] : contents.machine) rows.push_back({name, value});
  rows.push_back({"pack made", contents.created});
  text.table(std::move(rows));
  std::vector<std::vector<std::string>> parts{{"step", "finished", "seconds", "seed", "part of the data"}};
  for (const StepResult& result : contents.results) {
    const auto shown = [&](std::string_view key) {
      for (const auto& [name, value] : result.document.provenance) {
        if (name == key) return report::shown(value, report::Column::Kind::text, 1);
      }
      return std::string("-");
    };
    const auto option = [&](const std::string& name) {
      const auto at = std::ranges::find(result.typed, name);
      return at == result.typed.end() || at + 1 == result.typed.end() ? std::string() : *(at + 1);
    };
    std::string part = option("--shard").empty() ? "all records" : "shard " + option("--shard");
    if (const std::string context = option("--context"); !context.empty()) part += ", context " + context;
    parts.push_back({result.step.name, shown("finished"), shown("seconds"), shown("seed"), part});
  }
  text.paragraph("Who measured which part:");
  text.table(std::move(parts));
}

void add_definitions(Text& text, const PackContents& contents) {
  text.heading(2, "What the figures mean, and what they do not tell");
  std::set<std::string> told;
  std::vector<std::vector<std::string>> rows{{"term", "meaning", "source"}};
  for (const StepResult& result : contents.results) {
    for (const report::Definition& d : result.document.definitions) {
      if (told.insert(d.term + d.text).second) rows.push_back({d.term, d.text, d.source});
    }
  }
  if (rows.size() == 1)
    text.paragraph("No step defines a figure.");
  else
    text.table(std::move(rows));
}

void add_not_done(Text& text, const PackContents& contents, std::span<const Outcome> outcomes) {
  std::vector<std::string> open = contents.study.not_done;
  std::set<std::string> commands;
  for (const StepResult& result : contents.results) commands.insert(result.step.command);
  if (commands.contains("robust")) commands.insert("attack");  // which it does, at every severity
  const std::vector<std::pair<const char*, const char*>> kinds{
      {"evaluate", "The network was not evaluated."},
      {"cover", "Coverage was not measured."},
      {"mutate", "Mutants were not run: which faults the test set would miss is not known."},
      {"attack", "No attack was run: robustness is not known."},
      {"explore", "No disagreements of networks were searched for."},
      {"audit", "Whether the criteria follow faults on this network was not measured."}};
  for (const auto& [command, sentence] : kinds) {
    if (!commands.contains(command)) open.emplace_back(sentence);
  }
  for (const Outcome& outcome : outcomes) {
    if (outcome.file.empty())
      open.push_back(fmt::format("Requirement {}: nothing measured '{}'.",
                                 contents.study.requirements[outcome.requirement].id, outcome.gate.text));
  }
  if (!contents.is_signed) open.emplace_back("The pack was made without a signature.");
  text.heading(2, "What was not done");
  text.list(std::move(open));
}

}  // namespace

Text report_text(const PackContents& contents, std::span<const Outcome> outcomes,
                 std::span<const PackFile> files) {
  Text text;
  text.heading(1, contents.study.title);
  text.paragraph(
      "Evidence made by Assay. `assay verify` checks the files against manifest.json, its signature where "
      "there is "
      "one, and repeats the commands.");
  add_verdict(text, contents, outcomes);
  add_requirements(text, contents, outcomes);
  add_warnings_of_steps(text, contents);
  add_not_done(text, contents, outcomes);
  add_steps(text, contents);
  add_inputs(text, contents);
  add_network_card(text, contents.results);
  add_data_cards(text, contents.results);
  add_program(text, contents);
  add_definitions(text, contents);
  text.heading(2, "Files of the steps");
  std::vector<std::vector<std::string>> rows{{"file", "bytes", "SHA-256"}};
  for (const PackFile& file : files) rows.push_back({file.path, fmt::format("{}", file.bytes), file.sha256});
  text.table(std::move(rows));
  text.paragraph(
      "Traceability: traceability/requirements.csv leads from requirements to figures, items and records; "
      "traceability/records.csv from records to what they cover. bom.cdx.json lists network and data "
      "(CycloneDX).");
  return text;
}

Text headings_text() {
  Text text;
  text.heading(1, "Headings of technical documentation");
  text.paragraph(
      "A help for writing the documentation that standards and law ask for: which part of this pack can go "
      "under "
      "which heading. It claims neither that the pack is enough nor that anything conforms; clauses are "
      "named from "
      "memory of their subject and have to be checked against the text in force.");
  const std::vector<std::vector<std::string>> rows{
      {"document", "heading", "part of the pack"},
      {"ISO 26262", "Software requirements and their verification (part 6)",
       "REPORT.md: What was asked; traceability/"},
      {"ISO 26262", "Confidence in the use of software tools (part 8)",
       "REPORT.md: With what; bom.cdx.json; `assay verify`"},
      {"ISO/PAS 8800", "AI safety requirements and their allocation", "REPORT.md: What was asked"},
      {"ISO/PAS 8800", "Data: specification, properties, gaps", "REPORT.md: Data cards, Warnings"},
      {"ISO/PAS 8800", "Verification and validation of the AI system",
       "REPORT.md: What was run, and what came out; pages/report.html; results/"},
      {"ISO/PAS 8800", "Assurance argument: evidence and its limits",
       "REPORT.md: What the figures mean, and what they do not tell; What was not done"},
      {"ISO 21448 (SOTIF)", "Known and unknown scenarios: evaluation of the test set",
       "results of cover and mutate: uncovered items, survivors, contexts"},
      {"ISO 21448 (SOTIF)", "Functional insufficiencies and triggering conditions",
       "results of evaluate, attack and explore: confusions, findings"},
      {"EU AI Act, Annex IV", "1. General description of the system",
       "bom.cdx.json; REPORT.md: Network card (to be completed)"},
      {"EU AI Act, Annex IV",
       "2. Elements of the system and of its development: data, training, validation and testing",
       "REPORT.md: Data cards; What was run, and what came out; results/ (signed and dated logs: "
       "manifest.json.sig)"},
      {"EU AI Act, Annex IV", "3. Monitoring, functioning and control: capabilities and limitations",
       "REPORT.md: figures by class; Warnings; What was not done"},
      {"EU AI Act, Annex IV", "4. Appropriateness of the performance metrics",
       "REPORT.md: What the figures mean, and what they do not tell"},
      {"EU AI Act, Annex IV", "5. Risk management",
       "REPORT.md: requirements that do not hold (to be completed)"}};
  text.table(rows);
  return text;
}

}  // namespace assay::evidence
