#pragma once

// The list of a pack's files with their SHA-256; this list is signed.

#include <filesystem>
#include <string>
#include <vector>

#include "assay/evidence/study.h"

namespace assay::evidence {

inline constexpr const char* manifest_name = "manifest.json";
// There as long as the command that makes a pack has not ended.
inline constexpr const char* journal_name = "journal";

struct PackFile {
  std::string path;  // in the pack, with /
  std::string sha256;
  std::uint64_t bytes = 0;
};

struct ManifestStep {
  std::string name, file;          // of its result document
  std::vector<std::string> typed;  // empty: collected
  std::string command, collected;  // as in a Step
  int exit_code = 0;
};

struct Manifest {
  std::string document_id = {};
  std::string title, created;
  std::vector<std::pair<std::string, std::string>> program;  // versions by name
  std::vector<std::pair<std::string, std::string>> machine;  // what it ran on
  std::vector<PackFile> files;                               // all but manifest, signature and journal
  std::vector<InputFile> inputs;
  std::vector<ManifestStep> steps;
  std::vector<Requirement> requirements;
  std::vector<std::string> not_done;
  std::vector<Approval> approvals;
  bool is_signed = false;
  // Whether it says all that the report is made of, apart from the results. Manifests of earlier versions do
  // not.
  bool tells_report = true;
};

// All files in a pack that a manifest lists, by path, with their hashes.
std::vector<PackFile> files_in(const std::filesystem::path& pack);

void write_manifest(const Manifest& manifest, const std::filesystem::path& pack);
// Throws Error{data} for anything that is not a manifest, for links in its place, for paths that lead out of
// the pack and for files and steps that occur twice.
Manifest read_manifest(const std::filesystem::path& pack);

// Differences from the manifest: "changed: results/cover.json", "missing: ...", "not listed: ...", and that
// the pack is not finished.
std::vector<std::string> differences(const Manifest& manifest, const std::filesystem::path& pack);

}  // namespace assay::evidence
