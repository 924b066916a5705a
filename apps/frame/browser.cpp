#include "apps/frame/browser.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <array>
#include <chrono>
#include <cstring>
#include <thread>

#include <assay/error.h>
#include "assay/support/process.h"

namespace assay::frame {
namespace {

#ifdef __APPLE__
constexpr const char* opener = "open";
#else
constexpr const char* opener = "xdg-open";
#endif
constexpr std::chrono::milliseconds patience{2000}, pause_between_looks{10};

// In a separate session, so that Ctrl-C here does not close it. It says nothing on this terminal.
pid_t start(std::string program, std::string address) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int stream : {0, 1, 2})
    posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", stream == 0 ? O_RDONLY : O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  std::array<char*, 3> arguments{program.data(), address.data(), nullptr};
  pid_t child = 0;
  const int code =
      posix_spawn(&child, program.c_str(), &actions, &attributes, arguments.data(), environment());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (code != 0)
    fail(fault_of_start(code), "{} cannot be started: {}; the page is at {}", program, std::strerror(code),
         address);
  return child;
}

}  // namespace

void show_in_browser(const std::string& address) {
  const std::string program = program_file(opener).string();
  if (program.empty())
    fail(Fault::io, "no program opens pages here ({} is not in PATH); the page is at {}", opener, address);
  const pid_t child = start(program, address);
  const auto end = std::chrono::steady_clock::now() + patience;
  while (std::chrono::steady_clock::now() < end) {
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) {
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
      fail(Fault::io, "{} did not open the page (no browser, or no display?); it is at {}", opener, address);
    }
    std::this_thread::sleep_for(pause_between_looks);
  }
}

}  // namespace assay::frame
