#include "assay/evidence/pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include <assay/gate.h>
#include "assay/evidence/approvals.h"
#include "assay/evidence/cards.h"
#include "assay/evidence/samples.h"
#include "assay/evidence/traceability.h"
#include "assay/evidence/verdict.h"
#include "assay/report/warning_kinds.h"
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
  std::size_t warnings = 0;
  for (const StepResult& result : contents.results) warnings += result.document.warnings.size();
  text.heading(2, "Verdict");
  if (contents.study.requirements.empty())
    text.paragraph("The study names no requirements: this pack tells what was measured and decides nothing.");
  else
    text.paragraph(verdict_sentence(contents, outcomes) + ".");
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

void add_approvals(Text& text, const PackContents& contents) {
  text.heading(2, "Who decided");
  if (contents.study.approvals.empty())
    text.paragraph("The study names no person who decided about it ([approval] in its configuration).");
  else
    add_table(text, approval_table(contents.study.approvals), contents.study.approvals.size());
}

// Every figure that fails a gate which asks for several.
void add_failing_members(Text& text, const PackContents& contents, std::span<const Outcome> outcomes) {
  report::Table failing = member_table(contents.study, outcomes, contents.results);
  std::set<std::string> several;
  for (const Outcome& outcome : outcomes)
    if (outcome.members.size() > 1) several.insert(outcome.gate.text);
  const std::size_t gate = 1, holds = 3;  // columns
  std::erase_if(failing.rows, [&](const std::vector<report::Cell>& row) {
    return std::get<bool>(row[holds]) || !several.contains(std::get<std::string>(row[gate]));
  });
  failing.title = "Figures that fail a gate which asks for several, the worst first";
  if (!failing.rows.empty()) add_table(text, failing, failing.rows.size());
}

void add_requirements(Text& text, const PackContents& contents, std::span<const Outcome> outcomes) {
  if (contents.study.requirements.empty()) return;
  text.heading(2, "What was asked");
  std::vector<std::vector<std::string>> rows{
      {"id", "requirement", "holds", "gate", "measured", "95 % interval", "by"}};
  for (const Outcome& outcome : outcomes) {
    const Requirement& requirement = contents.study.requirements[outcome.requirement];
    const auto result = std::ranges::find(contents.results, outcome.step,
                                          [](const StepResult& one) { return one.step.name; });
    const bool measured = !outcome.file.empty() && result != contents.results.end();
    rows.push_back({requirement.id, requirement.text, outcome.gate.passed ? "yes" : "NO", outcome.gate.text,
                    report::outcome_of(outcome.gate),
                    measured ? interval_of(outcome.gate, *result).value_or("-") : "-",
                    measured ? outcome.step + " (" + outcome.file + ")" : "no one"});
  }
  text.table(std::move(rows));
  add_failing_members(text, contents, outcomes);
}

void add_samples(Text& text, const PackContents& contents) {
  text.heading(2, "How sure the figures are");
  text.paragraph(
      "Intervals of 95 % (Clopper and Pearson) for shares of records, as if these were drawn independently "
      "from those that the network will meet, and for shares of mutants, as if these were drawn from all. "
      "Both ends are rounded outwards. Figures of items have the interval of their result, from records that "
      "are "
      "drawn again. Coverage is a sample of nothing: it describes these records exactly.");
  const report::Table samples = sample_table(contents.results);
  if (samples.rows.empty())
    text.paragraph("No figure of the steps is a sample.");
  else
    add_table(text, samples, samples.rows.size());
}

// The warnings that a step's command looks for, and whether it found them.
void add_looked_for(Text& text, const PackContents& contents) {
  std::vector<std::vector<std::string>> rows{{"warning", "looked for", "by", "found by"}};
  for (const report::WarningKind& kind : report::warning_kinds()) {
    std::vector<std::string> looked, found;
    for (const StepResult& result : contents.results) {
      const bool has = std::ranges::any_of(result.document.warnings,
                                           [&](const report::Warning& w) { return w.id == kind.id; });
      if (has || report::looks_for(result.step.command, kind)) looked.push_back(result.step.name);
      if (has) found.push_back(result.step.name);
    }
    if (!looked.empty())
      rows.push_back({kind.id, kind.found_when, joined(looked), found.empty() ? "none" : joined(found)});
  }
  text.paragraph("What steps looked for, each as far as its data have what it needs (such as labels):");
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
  add_looked_for(text, contents);
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
  if (contents.study.approvals.empty()) open.emplace_back("No person is named who approved it.");
  text.heading(2, "What was not done");
  text.list(std::move(open));
}

}  // namespace

std::string footer_of(const PackContents& contents) {
  return contents.study.title + ", " + document_id(contents) + ", " + contents.created;
}

Text report_text(const PackContents& contents, std::span<const Outcome> outcomes,
                 std::span<const PackFile> files) {
  Text text;
  text.heading(1, contents.study.title);
  text.paragraph(
      "Evidence made by Assay. `assay verify` checks the files against manifest.json, its signature where "
      "there is "
      "one, and repeats the commands.");
  text.paragraph(fmt::format("Document {}, made {}.", document_id(contents), contents.created));
  if (contents.former)
    text.paragraph(fmt::format("It follows {}; change-impact.md has what changed since.",
                               document_id(*contents.former)));
  add_verdict(text, contents, outcomes);
  add_approvals(text, contents);
  text.heading(3, "Contents");
  text.contents();
  add_requirements(text, contents, outcomes);
  add_samples(text, contents);
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
      "Traceability: traceability/requirements.csv leads from requirements to figures, items and records, "
      "traceability/members.csv to every figure that a gate asks for; traceability/records.csv from records "
      "to what they cover. bom.cdx.json lists network and data "
      "(CycloneDX).");
  return text;
}

}  // namespace assay::evidence
