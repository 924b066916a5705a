#include "assay/inspection/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>

#include <assay/error.h>

namespace assay::inspection {
namespace {

constexpr std::size_t longest_complaint = 2000;

// One end is ours, the other the child's.
class ChildPipe {
 public:
  ChildPipe() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0)
      fail(Fault::io, "no pipe can be made: {}", std::strerror(errno));
  }
  ~ChildPipe() {
    close(0);
    close(1);
  }
  ChildPipe(const ChildPipe&) = delete;
  ChildPipe& operator=(const ChildPipe&) = delete;
  int operator[](std::size_t end) const { return ends_[end]; }
  void close(std::size_t end) {
    if (ends_[end] >= 0) ::close(ends_[end]);
    ends_[end] = -1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

// Writing to a child that has gone is an error of that write, not the end of this process.
class NoPipeSignal {
 public:
  NoPipeSignal() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoPipeSignal() {
    const timespec now{0, 0};
    if (!was_pending_) sigtimedwait(&pipe_, nullptr, &now);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;

 private:
  sigset_t pipe_ = {}, before_ = {};
  bool was_pending_ = false;
};

pid_t start(const std::string& command, const ChildPipe& in, const ChildPipe& out, const ChildPipe& err) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  posix_spawn_file_actions_adddup2(&actions, err[1], 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  std::string shell = "sh", option = "-c", text = command;
  std::array<char*, 4> arguments{shell.data(), option.data(), text.data(), nullptr};
  pid_t child = 0;
  const int code = posix_spawn(&child, "/bin/sh", &actions, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (code != 0) fail(Fault::io, "'{}' cannot be started: {}", command, std::strerror(code));
  return child;
}

// Whether there may be more to read.
bool take_in(int from, std::string& to) {
  std::array<char, 65536> bytes{};
  const ssize_t got = ::read(from, bytes.data(), bytes.size());
  if (got > 0) to.append(bytes.data(), static_cast<std::size_t>(got));
  return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

// The status of a child that has closed its output. One that goes on all the same is ended.
int wait_for(pid_t child, int limit, bool& timed_out) {
  constexpr int pause = 10;  // milliseconds
  int status = 0;
  for (int waited = 0;; waited += pause) {
    const pid_t ended = ::waitpid(child, &status, timed_out || limit < 0 ? 0 : WNOHANG);
    if (ended == child || (ended < 0 && errno != EINTR)) return status;
    if (limit >= 0 && waited >= limit) {
      timed_out = true;
      ::kill(-child, SIGKILL);
    }
    ::poll(nullptr, 0, pause);
  }
}

}  // namespace

ChildResult run_child(const std::string& command, std::string_view input, double timeout) {
  ChildPipe in, out, err;
  const NoPipeSignal no_signal;
  const pid_t child = start(command, in, out, err);
  in.close(0);
  out.close(1);
  err.close(1);
  ::fcntl(in[1], F_SETFL, O_NONBLOCK);
  ChildResult result;
  const int limit = timeout > 0 ? static_cast<int>(timeout * 1000) : -1;
  if (input.empty()) in.close(1);
  while (out[0] >= 0 || err[0] >= 0) {
    std::array<pollfd, 3> watched{pollfd{in[1], POLLOUT, 0}, pollfd{out[0], POLLIN, 0},
                                  pollfd{err[0], POLLIN, 0}};
    const int ready = ::poll(watched.data(), watched.size(), limit);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      result.timed_out = true;
      ::kill(-child, SIGKILL);
      break;
    }
    if (watched[0].revents != 0) {
      const ssize_t written = ::write(in[1], input.data(), input.size());
      if (written > 0) input.remove_prefix(static_cast<std::size_t>(written));
      if (input.empty() || (written < 0 && errno != EINTR && errno != EAGAIN)) in.close(1);
    }
    if (watched[1].revents != 0 && !take_in(out[0], result.output)) out.close(0);
    if (watched[2].revents != 0 && !take_in(err[0], result.errors)) err.close(0);
    if (result.errors.size() > 2 * longest_complaint)
      result.errors.erase(0, result.errors.size() - longest_complaint);
  }
  const int status = wait_for(child, limit, result.timed_out);
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  return result;
}

}  // namespace assay::inspection
