#include "assay/support/process.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include <assay/error.h>
#include <assay/progress.h>
#include "assay/support/confinement.h"
#include "assay/support/text/parse.h"

namespace assay::inline support {
namespace {

namespace fs = std::filesystem;

// Empty: the running one.
fs::path& named_program() {
  static fs::path program;
  return program;
}

constexpr std::size_t most_output = std::size_t{1} << 20;
constexpr int not_started = 127;

// In the child, where only what is safe after fork() may be called.
[[noreturn]] void become(const char* program, const std::vector<char*>& arguments,
                         const std::vector<char*>& environment, const char* folder, const char* input,
                         const char* writes_in, int output, pid_t parent) {
  // It ends with this program, for any cause.
  if (::prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || ::getppid() != parent) ::_exit(not_started);
  if (folder[0] != '\0' && ::chdir(folder) != 0) ::_exit(not_started);
  const int in = ::open(input, O_RDONLY);
  if (in < 0 || ::dup2(in, STDIN_FILENO) < 0 || ::dup2(output, STDOUT_FILENO) < 0 ||
      ::dup2(output, STDERR_FILENO) < 0)
    ::_exit(not_started);
  if (writes_in[0] != '\0') confine_writes(writes_in);
  ::execve(program, arguments.data(), environment.data());
  ::_exit(not_started);
}

// That of this process, with another folder for temporary files where one is given.
std::vector<std::string> environment_with(const std::string& temporary) {
  std::vector<std::string> variables;
  for (char** variable = environment(); variable != nullptr && *variable != nullptr; ++variable) {
    if (temporary.empty() || !std::string_view(*variable).starts_with("TMPDIR="))
      variables.emplace_back(*variable);
  }
  if (!temporary.empty()) variables.push_back("TMPDIR=" + temporary);
  return variables;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (const std::string& text : texts) all.push_back(const_cast<char*>(text.c_str()));
  all.push_back(nullptr);
  return all;
}

// Until the program closes its end. Ctrl-C is handed on.
std::string read_all(int descriptor, pid_t child) {
  std::string output;
  bool told = false;
  for (;;) {
    pollfd waiting{descriptor, POLLIN, 0};
    constexpr int patience_ms = 200;
    ::poll(&waiting, 1, patience_ms);
    try {
      check_interrupt();
    } catch (const Error&) {
      if (!told) ::kill(child, SIGINT);
      told = true;
    }
    if (waiting.revents == 0) continue;
    char part[4096];
    const ssize_t count = ::read(descriptor, part, sizeof part);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return output;
    output.append(part, static_cast<std::size_t>(count));
    if (output.size() > 2 * most_output) output.erase(0, output.size() - most_output);
  }
}

}  // namespace

char** environment() {
  void* const main_program = ::dlopen(nullptr, RTLD_NOW);
  void* const found = main_program != nullptr ? ::dlsym(main_program, "environ") : nullptr;
  return found != nullptr ? *static_cast<char***>(found) : environ;
}

ProcessResult run_process(const std::vector<std::string>& arguments, const ProcessOptions& options) {
  const std::string folder = options.folder.string(),
                    input = options.input.empty() ? "/dev/null" : options.input.string(),
                    writes_in = options.writes_only_in.string();
  const bool is_name = arguments.at(0).find('/') == std::string::npos;
  const std::string program = is_name ? program_file(arguments[0]).string() : arguments[0];
  if (program.empty()) fail(Fault::io, "{} cannot be started: no such program in PATH", arguments[0]);
  const std::vector<std::string> variables = environment_with(writes_in);
  const std::vector<char*> words = pointers(arguments), environment = pointers(variables);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    fail(Fault::io, "{} cannot be started: {}", arguments.at(0), std::strerror(errno));
  const pid_t parent = ::getpid(), child = ::fork();
  if (child == 0)
    become(program.c_str(), words, environment, folder.c_str(), input.c_str(), writes_in.c_str(), ends[1],
           parent);
  const int reason = errno;
  ::close(ends[1]);
  if (child < 0) {
    ::close(ends[0]);
    fail(fault_of_start(reason), "{} cannot be started: {}", arguments[0], std::strerror(reason));
  }
  ProcessResult result;
  result.output = read_all(ends[0], child);
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  check_interrupt();
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (result.code == not_started) fail(Fault::io, "{} cannot be started", arguments[0]);
  return result;
}

Fault fault_of_start(int reason) {
  return reason == EAGAIN || reason == ENOMEM ? Fault::resources : Fault::io;
}

std::string last_line(const ProcessResult& result) {
  const std::string text = result.output.substr(0, result.output.find_last_not_of("\r\n") + 1);
  return text.substr(text.rfind('\n') + 1);
}

fs::path program_file(const std::string& name) {
  const char* path = std::getenv("PATH");
  for (const std::string& folder : parts_of(path == nullptr ? "/usr/bin:/bin" : path, ":")) {
    const fs::path file = fs::path(folder) / name;
    if (file.is_absolute() && ::access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

fs::path this_program() {
  if (!named_program().empty()) return named_program();
  std::error_code code;
  fs::path path = fs::read_symlink("/proc/self/exe", code);
  if (code) fail(Fault::io, "this system does not say which file the running program is (/proc/self/exe)");
  return path;
}

void set_this_program(const fs::path& program) { named_program() = program; }

}  // namespace assay::inline support
