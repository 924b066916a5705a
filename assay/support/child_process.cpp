#include "assay/support/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <initializer_list>
#include <utility>

#include <assay/error.h>
#include "assay/support/process.h"

namespace assay::inline support {
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

using Moves = std::initializer_list<std::pair<int, int>>;  // a descriptor, and its number in the child

// The status of the child, once it has ended.
int status_of(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return status;
}

// Starts a shell in the process group `group`, or for 0 in one that it leads.
pid_t start(const std::string& command, pid_t group, Moves moves) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const auto& [from, to] : moves) posix_spawn_file_actions_adddup2(&actions, from, to);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, group);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  std::string shell = "sh", option = "-c", text = command;
  std::array<char*, 4> arguments{shell.data(), option.data(), text.data(), nullptr};
  pid_t child = 0;
  const int code = posix_spawn(&child, "/bin/sh", &actions, &attributes, arguments.data(), environment());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (code != 0) fail(fault_of_start(code), "'{}' cannot be started: {}", command, std::strerror(code));
  return child;
}

// Leads the process group of a command and ends it when this program is killed: then its input is at its end
// before a line came.
class Watcher {
 public:
  Watcher() : group_(start("read -r line || kill -KILL 0", 0, {{life_[0], 0}})) { life_.close(0); }
  ~Watcher() {
    static_cast<void>(::write(life_[1], "\n", 1) + 0);
    status_of(group_);
  }
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;
  pid_t group() const { return group_; }

 private:
  ChildPipe life_;
  pid_t group_;
};

// Whether there may be more to read.
bool take_in(int from, std::string& to) {
  std::array<char, 65536> bytes{};
  const ssize_t got = ::read(from, bytes.data(), bytes.size());
  if (got > 0) to.append(bytes.data(), static_cast<std::size_t>(got));
  return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

// Cuts off the beginning of a text that has grown to twice what is wanted of it.
void keep_end(std::string& text, std::size_t most) {
  if (text.size() / 2 >= most) text.erase(0, text.size() - most);
}

// When a child has to be ended.
class ChildClock {
 public:
  explicit ChildClock(const ChildLimits& limits) : limits_(limits), begin_(now()), heard_(begin_) {}
  void heard() { heard_ = now(); }
  // Milliseconds until it is worth looking again.
  int wait() const {
    double left = limits_.stop ? 0.2 : 3600;
    if (limits_.silence > 0) left = std::min(left, heard_ + limits_.silence - now());
    if (limits_.total > 0) left = std::min(left, begin_ + limits_.total - now());
    return std::max(1, static_cast<int>(left * 1000));
  }
  // Whether it is over; then `result` says why.
  bool over(ChildResult& result) const {
    const double time = now();
    result.timed_out = (limits_.silence > 0 && time >= heard_ + limits_.silence) ||
                       (limits_.total > 0 && time >= begin_ + limits_.total);
    result.stopped = limits_.stop && limits_.stop();
    return result.timed_out || result.stopped;
  }

 private:
  static double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  const ChildLimits& limits_;
  double begin_, heard_;
};

// The status of a child that has closed its output. One that goes on all the same is ended.
int wait_for(pid_t child, pid_t group, const ChildClock& clock, ChildResult& result) {
  constexpr int pause = 10;  // milliseconds
  int status = 0;
  for (bool ended = result.timed_out || result.stopped;;) {
    const pid_t found = ::waitpid(child, &status, ended ? 0 : WNOHANG);
    if (found == child || (found < 0 && errno != EINTR)) return status;
    if (!ended && clock.over(result)) {
      ended = true;
      ::kill(-group, SIGKILL);
    }
    if (!ended) ::poll(nullptr, 0, pause);
  }
}

}  // namespace

ChildResult run_child(const std::string& command, std::string_view input, const ChildLimits& limits) {
  ChildPipe in, out, err;
  const NoPipeSignal no_signal;
  const Watcher watcher;
  const pid_t group = watcher.group(), child = start(command, group, {{in[0], 0}, {out[1], 1}, {err[1], 2}});
  in.close(0);
  out.close(1);
  err.close(1);
  ::fcntl(in[1], F_SETFL, O_NONBLOCK);
  ChildResult result;
  ChildClock clock(limits);
  if (input.empty()) in.close(1);
  while (out[0] >= 0 || err[0] >= 0) {
    std::array<pollfd, 3> watched{pollfd{in[1], POLLOUT, 0}, pollfd{out[0], POLLIN, 0},
                                  pollfd{err[0], POLLIN, 0}};
    const int ready = ::poll(watched.data(), watched.size(), clock.wait());
    if (ready > 0) clock.heard();
    if (clock.over(result)) {
      ::kill(-group, SIGKILL);
      break;
    }
    if (ready <= 0) continue;
    if (watched[0].revents != 0) {
      const ssize_t written = ::write(in[1], input.data(), input.size());
      if (written > 0) input.remove_prefix(static_cast<std::size_t>(written));
      if (input.empty() || (written < 0 && errno != EINTR && errno != EAGAIN)) in.close(1);
    }
    if (watched[1].revents != 0 && !take_in(out[0], result.output)) out.close(0);
    if (watched[2].revents != 0 && !take_in(err[0], result.errors)) err.close(0);
    keep_end(result.errors, longest_complaint);
    keep_end(result.output, limits.kept);
  }
  const int status = wait_for(child, group, clock, result);
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  return result;
}

}  // namespace assay::inline support
