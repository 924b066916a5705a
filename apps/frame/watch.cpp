#include "apps/frame/watch.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <iostream>
#include <thread>

#include <assay/error.h>
#include "apps/frame/terminal.h"
#include "assay/report/difference.h"
#include "assay/report/document_file.h"
#include "assay/support/conditions.h"
#include "assay/support/files/file.h"
#include "assay/support/files/temporary_folder.h"
#include "assay/support/text/text.h"

namespace assay::frame {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int wrong_command = 1;  // the exit code of Fault::usage; files do not change that
constexpr int once_more = 75;     // between the processes; no code of docs/exit-codes.md
constexpr int ended_by_signal = 128;
constexpr milliseconds shortest_pause{80}, longest_pause{180}, between_waits{20};
constexpr int pauses_per_look =
    4;  // at most a fifth of a core, unless a look takes longer than a pause allows
// From a change to the next run: the rest of a look that came too early, a pause, two looks that find the
// file complete, and what the waits are late by. So long as a look takes 60 ms (30,000 files) it is half a
// second.
constexpr milliseconds look{60};
static_assert(look + longest_pause + look + shortest_pause + look + 2 * between_waits <= milliseconds{500});

std::vector<std::string> names_of_those_there(const Stamps& stamps) {
  std::vector<std::string> names;
  for (const auto& [file, stamp] : stamps) {
    if (stamp) names.push_back(file.string());
  }
  return names;
}

// "a, b and 17 others".
std::string shortened(std::vector<std::string> names) {
  constexpr std::size_t most = 6;
  if (names.size() <= most) return joined(names);
  const std::size_t others = names.size() - most;
  names.resize(most);
  return fmt::format("{} and {} others", joined(names), others);
}

}  // namespace

bool Watch::goes_on() const { return fs::exists(folder_ / "last.json"); }

void Watch::begin(std::vector<fs::path> read, const std::vector<fs::path>& written) {
  read_ = std::move(read);
  for (const fs::path& path : written) written_.push_back(fs::weakly_canonical(path));
  before_ = stamps_of(read_, written_);
  if (!goes_on() && names_of_those_there(before_).empty())
    fail(Fault::usage, "--watch: the command reads no file that is there, so nothing can change");
}

std::optional<report::Document> Watch::compared(const report::Document& result) const {
  const fs::path last = folder_ / "last.json", next = folder_ / "next.json";
  write_file(next, report::to_json(result));
  std::optional<report::Document> difference;
  // Both as they are read, so that nothing differs that is the same in a document.
  if (goes_on())
    difference = report::difference_of(report::read_document_file(last), report::read_document_file(next));
  fs::rename(next, last);
  return difference;
}

// Whether something is different and nothing is on its way: a file that is being written changes again.
bool Watch::changed_for_good() const {
  const Stamps now = stamps_of(read_, written_);
  const std::vector<std::string> names = changed(before_, now);
  if (names.empty()) return false;
  const bool gone = std::ranges::any_of(read_, [&](const fs::path& path) {
    const auto then = before_.find(path), present = now.find(path);
    return then != before_.end() && then->second && (present == now.end() || !present->second);
  });
  if (gone) return false;
  std::this_thread::sleep_for(shortest_pause);
  if (stamps_of(read_, written_) != now) return false;
  if (!quiet_) say("assay: changed: " + shortened(names));
  return true;
}

bool Watch::wait() const {
  if (before_.empty()) return false;
  if (!quiet_)
    say(fmt::format("assay: watching {}; Ctrl-C ends it", shortened(names_of_those_there(before_))));
  while (!interrupt_is_requested()) {
    const auto start = Clock::now();
    if (changed_for_good()) return true;
    const auto pause =
        std::clamp<Clock::duration>(pauses_per_look * (Clock::now() - start), shortest_pause, longest_pause);
    for (const auto end = Clock::now() + pause; Clock::now() < end && !interrupt_is_requested();)
      std::this_thread::sleep_for(between_waits);
  }
  return false;
}

namespace {

// In the process of a run. Ctrl-C reaches it through the one that started it, once.
[[noreturn]] void run_and_wait(const fs::path& folder, bool quiet, const std::function<int(Watch&)>& run) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  for (const int signal : {SIGINT, SIGHUP}) std::signal(signal, SIG_IGN);
  Watch watch(folder, quiet);
  int code = run(watch);
  std::cout.flush();
  if (code != wrong_command && watch.wait()) code = once_more;
  std::_Exit(code);
}

// The exit code of the process; 128 and the signal that ended it.
int code_of_child(pid_t child) {
  bool told = false;
  for (int status = 0;;) {
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) return WIFEXITED(status) ? WEXITSTATUS(status) : ended_by_signal + WTERMSIG(status);
    if (ended == -1 && errno != EINTR) fail(Fault::internal, "--watch: a run is lost");
    if (interrupt_is_requested() && !told) told = ::kill(child, SIGTERM) == 0;
    std::this_thread::sleep_for(between_waits);
  }
}

}  // namespace

int run_whenever_files_change(bool quiet, const std::function<int(Watch&)>& run) {
  const TemporaryFolder folder("watch");
  for (;;) {
    const pid_t child = ::fork();
    if (child == -1) fail(Fault::resources, "--watch: the system starts no more processes (ulimit -u)");
    if (child == 0) run_and_wait(folder.path(), quiet, run);
    const int code = code_of_child(child);
    if (code != once_more || interrupt_is_requested()) return code == once_more ? 0 : code;
  }
}

}  // namespace assay::frame
