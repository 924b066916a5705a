#pragma once

// States of several runs as one.

#include <optional>
#include <string>
#include <vector>

#include <assay/error.h>
#include <assay/progress.h>

namespace assay::inline support {

// The states in the files, each as State::read(), merged by State::merge(). `skip`: files that cannot be read
// are left out, and `left_out` says which and why. Throws Error{mismatch} naming the file that does not fit
// those before it, Error{data} where none can be read.
template <typename State>
State merged_files(const std::vector<std::string>& files, bool skip, std::vector<std::string>& left_out,
                   Progress& progress) {
  std::optional<State> all;
  Stage stage(progress, "combining", files.size(), "states");
  for (const std::string& file : files) {
    try {
      State state = State::read(file);
      if (all)
        all->merge(state);
      else
        all.emplace(std::move(state));
    } catch (const Error& error) {
      if (error.fault() == Fault::mismatch) fail(Fault::mismatch, "{}: {}", file, error.message());
      const bool unreadable = error.fault() == Fault::data || error.fault() == Fault::io;
      if (!skip || !unreadable) throw;
      left_out.push_back(fmt::format("left out: {}", error.what()));
    }
    stage.advance(1);
  }
  if (!all) fail(Fault::data, "none of the {} states could be read", files.size());
  return std::move(*all);
}

}  // namespace assay::inline support
