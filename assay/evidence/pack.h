#pragma once

// An evidence pack: one folder with the request, the commands, their inputs, the tools and the findings, that
// others can check (docs/evidence.md).

#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "assay/evidence/manifest.h"
#include "assay/evidence/study.h"

namespace assay::evidence {

// Folders of a pack into which steps write.
inline constexpr const char *results_folder = "results", *states_folder = "states";

struct PackContents {
  Study study;
  std::vector<StepResult> results;
  std::vector<InputFile> inputs;
  std::vector<std::pair<std::string, std::string>> program;  // versions by name
  std::vector<std::pair<std::string, std::string>> machine;  // what it ran on
  std::string created;                                       // UTC, ISO 8601
  bool is_signed = false;
  std::shared_ptr<const PackContents> former = {};  // what an earlier pack held, to tell what has changed
};

// As the study names it, otherwise made of title, time and results: "EP-0f3a...".
std::string document_id(const PackContents& contents);

// The file of a step's result document in the pack.
std::string result_file(const Step& step);

// Names of neither commands nor steps: they would not say where a file is. Throws Error{usage}.
void require_file_name(const std::string& name, std::string_view what);

// Whether a file of this path in the pack, with /, is one that the study makes, or that a kill has left half
// made.
bool is_part_of_pack(const std::string& path, const Study& study);

// The manifest of a pack, without its files.
Manifest manifest_of(const PackContents& contents);

// Files made from results and studies, by path: page, traceability, bill of materials and headings; and the
// reports, which list the other `files` of the pack.
std::map<std::string, std::string> made_files(const PackContents& contents,
                                              std::span<const Outcome> outcomes);
std::map<std::string, std::string> made_reports(const PackContents& contents,
                                                std::span<const Outcome> outcomes,
                                                std::vector<PackFile> files);

// Writes reports, cards, traceability, bill of materials, headings and at last the manifest into a folder
// that holds the results (and states) of the steps. Returns what every requirement came to.
std::vector<Outcome> write_pack(const PackContents& contents, const std::filesystem::path& folder);

// The command of a step without flags that say where it puts what it makes, which another run must not
// repeat:
// {"cover", "--model", "net.onnx", ...} of "cover" and recorded options.
std::vector<std::string> repeatable(const std::string& command, const std::string& options);

}  // namespace assay::evidence
