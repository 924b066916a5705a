#include "processes.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <exception>

namespace assay::conformance {
namespace {

constexpr rlim_t processor_seconds = 20, memory_bytes = rlim_t{4} << 30;

void limit(int resource, rlim_t most) {
  const rlimit both{most, most};
  setrlimit(resource, &both);
}

// One byte for the outcome, then the text.
void report(int pipe, const Result& result) {
  const std::string message = static_cast<char>('0' + static_cast<int>(result.outcome)) + result.text;
  for (std::size_t sent = 0; sent < message.size();) {
    const ssize_t count = write(pipe, message.data() + sent, message.size() - sent);
    if (count <= 0) return;
    sent += static_cast<std::size_t>(count);
  }
}

[[noreturn]] void be_the_child(int pipe, const std::function<Result()>& run) {
  limit(RLIMIT_CPU, processor_seconds);
#ifndef __SANITIZE_ADDRESS__  // which takes room for shadows of all memory
  limit(RLIMIT_AS, memory_bytes);
#endif
  limit(RLIMIT_CORE, 0);
  Result result;
  try {
    result = run();
  } catch (const std::exception& error) {
    const std::string text = error.what();
    result = {Outcome::broken, "an exception that is no Error: " + text.substr(0, text.find('\n'))};
  }
  report(pipe, result);
  _exit(0);
}

}  // namespace

Result in_own_process(const std::function<Result()>& run) {
  int ends[2];
  if (pipe(ends) != 0) return {Outcome::broken, "no pipe"};
  const pid_t child = fork();
  if (child < 0) return {Outcome::broken, "no process"};
  if (child == 0) {
    close(ends[0]);
    be_the_child(ends[1], run);
  }
  close(ends[1]);
  std::string message;
  char buffer[4096];
  for (ssize_t count; (count = read(ends[0], buffer, sizeof buffer)) > 0;)
    message.append(buffer, static_cast<std::size_t>(count));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return {Outcome::broken, fmt::format("ended by: {}", strsignal(WTERMSIG(status)))};
  if (message.empty()) return {Outcome::broken, fmt::format("ended with status {}", WEXITSTATUS(status))};
  return {static_cast<Outcome>(message[0] - '0'), message.substr(1)};
}

}  // namespace assay::conformance
