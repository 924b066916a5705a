#pragma once

// Whether a pack is as it was made, and whether its figures come out again.

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <assay/progress.h>
#include <assay/report.h>

namespace assay::evidence {

struct VerifyOptions {
  // Steps whose commands are run again: "none", "all", or names joined by +. Only commands that measure are
  // run: others, and flags that load code, are not run because a pack says so.
  std::string rerun = "none";
  std::string from = ".";   // folder in which the commands find their files
  double tolerance = 1e-6;  // relative difference of real numbers that counts as close
  // File of trusted keys, and who has to have signed; empty: not asked.
  std::string signers = {}, identity = {};
  // Versions of the program that verifies, by name, as in PackContents.
  std::vector<std::pair<std::string, std::string>> program = {};
  // A command with today's names of flags for those of earlier versions.
  std::function<std::vector<std::string>(std::vector<std::string>)> in_new_words =
      [](std::vector<std::string> typed) { return typed; };
};

// A gate for each requirement and decision of the pack (verdict_gates()), then one for each check: files,
// signature, inputs, commands, reports, and each command run again; what could not be checked is a notice.
// Commands run in a folder of links to the inputs that the manifest lists, and write nowhere else. Throws
// Error{usage} for steps that are not there, Error{data} and Error{io} for what is not a pack and for
// commands with flags that are not known to measure only. `pack`: its folder, or its archive, which is
// unpacked into a temporary folder.
report::Document verify(const std::filesystem::path& pack, const VerifyOptions& options, Progress& progress);

}  // namespace assay::evidence
