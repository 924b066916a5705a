#include "assay/evidence/pack.h"

#include <algorithm>

#include <assay/error.h>
#include <assay/report.h>
#include "assay/evidence/argument.h"
#include "assay/evidence/bill_of_materials.h"
#include "assay/evidence/impact.h"
#include "assay/evidence/pages.h"
#include "assay/evidence/requirements.h"
#include "assay/evidence/signature.h"
#include "assay/evidence/step_commands.h"
#include "assay/evidence/templates/filling.h"
#include "assay/evidence/traceability.h"
#include "assay/evidence/verdict.h"
#include "assay/support/ascii.h"
#include "assay/support/files/file.h"
#include "assay/support/files/sha256.h"
#include "assay/support/text/shell.h"

namespace assay::evidence {

namespace fs = std::filesystem;

std::string document_id(const PackContents& contents) {
  if (!contents.study.document_id.empty()) return contents.study.document_id;
  constexpr std::size_t digits = 12;
  std::string text = contents.study.title + "\n" + contents.created;
  for (const StepResult& result : contents.results)
    text += "\n" + sha256_hex(report::to_json(result.document));
  return "EP-" + sha256_hex(text).substr(0, digits);
}

std::string result_file(const Step& step) { return std::string(results_folder) + "/" + step.name + ".json"; }

void require_file_name(const std::string& name, std::string_view what) {
  const bool plain = !name.empty() && name.size() <= 100 && std::ranges::all_of(name, [](char c) {
    return is_alphanumeric(c) || c == '-' || c == '_';
  });
  if (!plain)
    fail(Fault::usage, "'{}' cannot be the name of a {}: letters, digits, - and _ make file names", name,
         what);
}

std::vector<std::string> repeatable(const std::string& command, const std::string& options) {
  const std::vector<std::string> words = shell_words(options);
  const auto starts = [](std::string_view flag) {
    return
        [flag](const std::string& word) { return word == flag || word.starts_with(std::string(flag) + "="); };
  };
  const bool learns = std::ranges::any_of(words, starts("--train"));
  std::vector<std::string> kept{command};
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool flag = words[i].starts_with("--");
    const std::size_t equals = words[i].find('=');
    const std::string name =
        flag ? words[i].substr(2, equals == std::string::npos ? equals : equals - 2) : "";
    const bool has_value =
        flag && equals == std::string::npos && i + 1 < words.size() && !words[i + 1].starts_with("--");
    const StepFlag* const known = flag ? step_flag(command, name) : nullptr;
    if (known != nullptr && (known->of_the_run || is_made(*known, learns))) {
      i += has_value ? 1 : 0;
      continue;
    }
    kept.push_back(words[i]);
    if (has_value) kept.push_back(words[++i]);
  }
  return kept;
}

namespace {

std::string template_file(const Template& one) { return "templates/" + one.name; }

// Parts that a pack has or may have, but for results and states of steps.
std::vector<std::string> named_parts() {
  std::vector<std::string> parts{"pages/report.html",
                                 "traceability/requirements.csv",
                                 "traceability/members.csv",
                                 "traceability/records.csv",
                                 "technical-documentation.md",
                                 "argument/amlas.json",
                                 "argument/amlas.svg",
                                 "change-impact.md",
                                 "change-impact.html",
                                 "bom.cdx.json",
                                 "REPORT.md",
                                 "REPORT.html",
                                 "study.toml",
                                 manifest_name,
                                 signature_name,
                                 journal_name};
  for (const Template& one : templates()) {
    parts.push_back(template_file(one) + ".md");
    parts.push_back(template_file(one) + ".html");
  }
  return parts;
}

}  // namespace

bool is_part_of_pack(const std::string& path, const Study& study) {
  static const std::vector<std::string> parts = named_parts();
  const auto is_of = [&](const std::string& part) {
    return path == part || (path.starts_with(part + ".") && path.ends_with(".partial"));
  };
  return std::ranges::any_of(parts, is_of) || path.starts_with(std::string(former_folder) + "/") ||
         std::ranges::any_of(study.steps, [&](const Step& step) {
           return is_of(result_file(step)) ||
                  path.starts_with(std::string(states_folder) + "/" + step.name + ".");
         });
}

Manifest manifest_of(const PackContents& contents) {
  Manifest manifest;
  manifest.document_id = document_id(contents);
  manifest.title = contents.study.title;
  manifest.created = contents.created;
  manifest.program = contents.program;
  manifest.machine = contents.machine;
  manifest.inputs = contents.inputs;
  manifest.requirements = contents.study.requirements;
  manifest.not_done = contents.study.not_done;
  manifest.approvals = contents.study.approvals;
  manifest.is_signed = contents.is_signed;
  for (const StepResult& result : contents.results)
    manifest.steps.push_back({result.step.name, result.file, result.typed, result.step.command,
                              result.step.collected, result.exit_code});
  return manifest;
}

std::map<std::string, std::string> made_files(const PackContents& contents,
                                              std::span<const Outcome> outcomes) {
  std::map<std::string, std::string> files;
  std::vector<report::Document> documents{document_of(contents, outcomes)};
  documents.front().command = "evidence";
  for (const StepResult& result : contents.results) documents.push_back(result.document);
  files["pages/report.html"] = report::to_html(documents);
  files["traceability/requirements.csv"] =
      report::to_csv(requirement_table(contents.study, outcomes, contents.results));
  files["traceability/members.csv"] =
      report::to_csv(member_table(contents.study, outcomes, contents.results));
  files["traceability/records.csv"] = report::to_csv(record_table(contents.results));
  files["technical-documentation.md"] = template_index(contents, outcomes).markdown();
  const auto add_text = [&](const std::string& name, const std::string& title, const Text& text) {
    files[name + ".md"] = text.markdown();
    files[name + ".html"] = text.html(title, footer_of(contents));
  };
  for (const Template& one : templates())
    add_text(template_file(one), one.title, template_text(one, contents, outcomes));
  const Argument argument = argument_of(contents, outcomes);
  files["argument/amlas.json"] = to_json(argument);
  files["argument/amlas.svg"] = to_svg(argument);
  if (contents.former) add_text("change-impact", "Change impact", impact_text(contents, outcomes));
  files["bom.cdx.json"] = bill_of_materials(manifest_of(contents), contents.results);
  return files;
}

std::map<std::string, std::string> made_reports(const PackContents& contents,
                                                std::span<const Outcome> outcomes,
                                                std::vector<PackFile> files) {
  constexpr const char *markdown = "REPORT.md", *page = "REPORT.html";
  std::erase_if(files, [&](const PackFile& file) { return file.path == markdown || file.path == page; });
  const Text text = report_text(contents, outcomes, files);
  return {{markdown, text.markdown()}, {page, text.html(contents.study.title, footer_of(contents))}};
}

std::vector<Outcome> write_pack(const PackContents& contents, const fs::path& folder) {
  const std::vector<Outcome> outcomes = outcomes_of(contents.study, contents.results);
  for (const auto& [path, text] : made_files(contents, outcomes)) write_file(folder / path, text);
  for (const auto& [path, text] : made_reports(contents, outcomes, files_in(folder)))
    write_file(folder / path, text);
  Manifest manifest = manifest_of(contents);
  manifest.files = files_in(folder);
  write_manifest(manifest, folder);
  return outcomes;
}

}  // namespace assay::evidence
