#pragma once

// A command that is given bytes and answers with others, however it misbehaves.

#include <functional>
#include <string>
#include <string_view>

namespace assay::inspection {

struct ChildResult {
  std::string output, errors;  // what it wrote; of its complaints the last few thousand bytes
  int exit_code = 0;
  int signal = 0;          // that ended it, 0 for none
  bool timed_out = false;  // it neither read nor wrote for too long, and was ended
};

// Runs `command` in a shell, writes `input` to it and reads what it answers, until it ends. It is ended, with
// all that it started, after `timeout` seconds in which nothing could be written or read; 0: never. Throws
// Error{io} where it cannot be started.
ChildResult run_child(const std::string& command, std::string_view input, double timeout);

}  // namespace assay::inspection
