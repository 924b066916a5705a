#pragma once

// A command that gets bytes and returns others, with limits on its behaviour.

#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <string_view>

namespace assay::inline support {

struct ChildLimits {
  double silence = 0;  // seconds in which nothing could be written or read; 0: any
  double total = 0;    // seconds from start to end; 0: any
  // Of the output the last bytes.
  std::size_t kept = std::numeric_limits<std::size_t>::max();
  // Asked several times a second where it is given; true ends the command.
  std::function<bool()> stop = {};
};

struct ChildResult {
  std::string output, errors;  // what it wrote; of its complaints the last few thousand bytes
  int exit_code = 0;
  int signal = 0;          // that ended it, 0 for none
  bool timed_out = false;  // it was beyond a limit, and was ended
  bool stopped = false;    // it was ended because `stop` said so
};

// Runs `command` in a shell, writes `input` to it and reads what it answers, until it ends. Beyond a limit it
// is ended with all that it started, and so it is when this program is killed meanwhile. Throws Error{io}
// where it cannot be started.
ChildResult run_child(const std::string& command, std::string_view input, const ChildLimits& limits);

}  // namespace assay::inline support
