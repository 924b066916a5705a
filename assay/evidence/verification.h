#pragma once

// Whether a pack is as it was made, and whether its figures come out again.

#include <filesystem>
#include <string>

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
};

// A gate for each check: files, signature, inputs, and each command run again; what could not be checked is a
// notice. Throws Error{usage} for steps that are not there, Error{data} and Error{io} for what is no pack and
// for commands that would write elsewhere.
report::Document verify(const std::filesystem::path& pack, const VerifyOptions& options, Progress& progress);

}  // namespace assay::evidence
