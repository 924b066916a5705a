#pragma once

// A command that runs again whenever a file that it reads has changed (--watch).

#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include <assay/report.h>
#include "apps/frame/stamps.h"

namespace assay::frame {

// One run of such a command: what it reads, and how its result differs from that of the run before it.
class Watch {
 public:
  // `folder`: where the last result is kept.
  Watch(std::filesystem::path folder, bool quiet) : folder_(std::move(folder)), quiet_(quiet) {}

  // Whether an earlier run had a result.
  bool goes_on() const;
  // Changes from now on count. `written`: what the command itself makes, which is not watched. Throws
  // Error{usage} where there is no file that could change.
  void begin(std::vector<std::filesystem::path> read, const std::vector<std::filesystem::path>& written);
  // Keeps the result for the next run. Nothing for the first one.
  std::optional<report::Document> compared(const report::Document& result) const;
  // Returns when a file has changed, and all that were there are there: files are often removed before they
  // are replaced. False: the program is to end.
  bool wait() const;

 private:
  bool changed_for_good() const;

  std::filesystem::path folder_;
  bool quiet_;
  std::vector<std::filesystem::path> read_, written_;
  Stamps before_;
};

// Calls `run`, whose value is an exit code, in a separate process, and again in another one when a file has
// changed: no run finds anything in memory, or takes the others with it. The exit code of the last one.
// `quiet`: nothing is said of what is watched.
int run_whenever_files_change(bool quiet, const std::function<int(Watch&)>& run);

}  // namespace assay::frame
