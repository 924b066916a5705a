#include "assay/support/process.h"

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

namespace assay {
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
[[noreturn]] void become(const std::vector<char*>& arguments, const char* folder, const char* input,
                         int output, pid_t parent) {
  // It ends with this program, whatever ends that.
  if (::prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || ::getppid() != parent) ::_exit(not_started);
  if (folder[0] != '\0' && ::chdir(folder) != 0) ::_exit(not_started);
  const int in = ::open(input, O_RDONLY);
  if (in < 0 || ::dup2(in, STDIN_FILENO) < 0 || ::dup2(output, STDOUT_FILENO) < 0 ||
      ::dup2(output, STDERR_FILENO) < 0)
    ::_exit(not_started);
  ::execvp(arguments[0], arguments.data());
  ::_exit(not_started);
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

ProcessResult run_process(const std::vector<std::string>& arguments, const ProcessOptions& options) {
  std::vector<char*> words;
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  const std::string folder = options.folder.string(),
                    input = options.input.empty() ? "/dev/null" : options.input.string();
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    fail(Fault::io, "{} cannot be started: {}", arguments.at(0), std::strerror(errno));
  const pid_t parent = ::getpid(), child = ::fork();
  if (child == 0) become(words, folder.c_str(), input.c_str(), ends[1], parent);
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

bool has_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "/usr/bin:/bin" : path;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const fs::path file = fs::path(rest.substr(0, end)) / name;
    if (::access(file.c_str(), X_OK) == 0) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

fs::path this_program() {
  if (!named_program().empty()) return named_program();
  std::error_code code;
  fs::path path = fs::read_symlink("/proc/self/exe", code);
  if (code) fail(Fault::io, "this system does not tell the running program's file (/proc/self/exe)");
  return path;
}

void set_this_program(const fs::path& program) { named_program() = program; }

}  // namespace assay
