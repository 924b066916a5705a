#pragma once

// Other programs, run to their end.

#include <filesystem>
#include <string>
#include <vector>

#include <assay/error.h>

namespace assay::inline support {

// The variables of this process. Python loads its module so that it finds its own libraries first, with an
// `environ` that nothing is written to; this is that of the main program.
char** environment();

struct ProcessOptions {
  std::filesystem::path folder = {};  // to run in; empty: this one
  std::filesystem::path input = {};   // file that is its standard input; empty: nothing
  // The only folder, apart from /dev, in which it may make, change or remove files, and where its temporary
  // ones go; empty: any. Where the system knows no such limit (Landlock, Linux 5.13) temporary files alone go
  // there.
  std::filesystem::path writes_only_in = {};
};

struct ProcessResult {
  int code = 0;        // exit status; 128 and the signal where one ended it
  std::string output;  // standard output and standard error, as they came, the last 1 MiB
};

// Runs `arguments[0]` (of a name without a slash, its program_file()) without a shell. Ctrl-C ends it as
// well, and so does the end of this program. Throws Error{io} when it cannot be started, Error{interrupted}
// when this program was interrupted meanwhile.
ProcessResult run_process(const std::vector<std::string>& arguments, const ProcessOptions& options = {});

// The fault when no process can be started, by errno: no more processes or memory, or something about the
// file.
Fault fault_of_start(int reason);

// The last line that a program wrote, which says what went wrong.
std::string last_line(const ProcessResult& result);

// The program of this name in a folder that PATH names by an absolute path; empty: there is none.
std::filesystem::path program_file(const std::string& name);

// The file of the running program, or of the one named by set_this_program(): a library within another
// program names the one whose commands it runs. Throws Error{io} where the system does not tell.
std::filesystem::path this_program();
void set_this_program(const std::filesystem::path& program);

}  // namespace assay::inline support
