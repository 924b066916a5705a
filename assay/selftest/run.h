#pragma once

// Runs the checks of a suite and says how they ended.

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <assay/progress.h>
#include <assay/report.h>
#include "assay/selftest/suite.h"

namespace assay::selftest {

// Answers a question as the program does: command, values by names of flags.
using Ask = std::function<report::Document(
    const std::string&, const std::vector<std::pair<std::string, std::vector<std::string>>>&)>;

// A check and its outcome.
struct Finding {
  const Case* question = nullptr;
  const Check* check = nullptr;
  report::Cell found;  // nothing: there is no such figure
  bool passed = false;
  std::string reason;  // why it failed
};

// Writes the suite's files into the folder and asks every question. The findings point into `suite`. Throws
// only what stops the whole run: Error{interrupted}, or Error{io} where the files cannot be written.
std::vector<Finding> run(const Suite& suite, const Ask& ask, const std::filesystem::path& folder,
                         Progress& progress);

// What the answer has at this position, and whether that is as expected.
Finding judged(const Case& question, const Check& check, const report::Document& answer);

// Functions of the program with the number of their checks, or why there is none. `functions`: all there are.
struct Traced {
  std::string function;
  std::size_t checks = 0;
  std::string why_not;  // empty for a function without checks: nothing says why
};
std::vector<Traced> traced(const Suite& suite, const std::vector<std::string>& functions);

// The result: a gate for each check, functions by page, all checks, traceability.
report::Document document_of(const Suite& suite, const std::vector<Finding>& findings,
                             const std::vector<Traced>& functions);

}  // namespace assay::selftest
