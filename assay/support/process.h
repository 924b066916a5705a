#pragma once

// Other programs, run to their end.

#include <filesystem>
#include <string>
#include <vector>

namespace assay {

struct ProcessOptions {
  std::filesystem::path folder = {};  // to run in; empty: this one
  std::filesystem::path input = {};   // file that is its standard input; empty: nothing
};

struct ProcessResult {
  int code = 0;        // exit status; 128 and the signal where one ended it
  std::string output;  // standard output and standard error, as they came, the last 1 MiB
};

// Runs `arguments[0]` (looked for in PATH unless it has a slash) without a shell. Ctrl-C ends it, too. Throws
// Error{io} when it cannot be started, Error{interrupted} when this program was interrupted meanwhile.
ProcessResult run_process(const std::vector<std::string>& arguments, const ProcessOptions& options = {});

// The last line that a program wrote, which says what went wrong.
std::string last_line(const ProcessResult& result);

// Whether PATH holds a program of this name.
bool has_program(const std::string& name);

// The file of the running program, or of the one named by set_this_program(): a library within another
// program names the one whose commands it runs. Throws Error{io} where the system does not tell.
std::filesystem::path this_program();
void set_this_program(const std::filesystem::path& program);

}  // namespace assay
