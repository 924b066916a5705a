#include "apps/frame/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "assay/support/text/visible.h"

namespace assay::frame {
namespace {

using Clock = std::chrono::steady_clock;

void put(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stderr); }

std::string duration(double seconds) {
  if (seconds < 60) return fmt::format("{:.0f} s", seconds);
  if (seconds < 3600)
    return fmt::format("{:.0f} min {:02.0f} s", std::floor(seconds / 60), std::fmod(seconds, 60));
  return fmt::format("{:.0f} h {:02.0f} min", std::floor(seconds / 3600),
                     std::floor(std::fmod(seconds, 3600) / 60));
}

class TerminalProgress final : public Progress {
 public:
  TerminalProgress(bool quiet, bool bar) : quiet_(quiet), bar_(bar) {}

  void begin(std::string_view stage, std::size_t total, std::string_view unit) override {
    stage_ = stage;
    unit_ = unit;
    note_.clear();
    total_ = total;
    done_ = 0;
    start_ = last_ = Clock::now();
    if (bar_) draw();
  }

  void advance(std::size_t done, std::string_view note) override {
    done_ += done;
    if (!note.empty()) note_ = note;
    const auto now = Clock::now();
    if (bar_ && now - last_ > std::chrono::milliseconds(100)) {
      last_ = now;
      draw();
    } else if (!bar_ && !quiet_ && now - last_ > std::chrono::seconds(10)) {
      last_ = now;
      say(line());
    }
  }

  void end() override {
    if (quiet_) return;
    const double seconds = elapsed();
    const std::string rate = done_ > 0 && seconds > 0.05 ? per_second(done_ / seconds) : "";
    clear();
    say(fmt::format("{}: {} {} in {:.1f} s{}{}", stage_, done_, unit_, seconds, rate,
                    note_.empty() ? "" : "  " + note_));
  }

  void notice(std::string_view message) override {
    clear();
    say(fmt::format("note: {}", message));
  }

 private:
  static std::string per_second(double rate) {
    return rate >= 10 ? fmt::format(", {:.0f}/s", rate) : fmt::format(", {:.2f}/s", rate);
  }
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  std::string line() const {
    const double seconds = elapsed();
    const double rate = seconds > 0 ? done_ / seconds : 0;
    std::string text = fmt::format("{}: {}", stage_, done_);
    if (total_ > 0) text += fmt::format("/{}", total_);
    text += " " + unit_;
    if (rate > 0) text += per_second(rate);
    if (total_ > 0 && done_ > 0 && done_ < total_) {
      text += fmt::format(", {} left", duration(static_cast<double>(total_ - done_) / rate));
    }
    return note_.empty() ? text : text + "  " + note_;
  }

  void draw() const {
    constexpr std::size_t cells = 24;
    std::string bar;
    if (total_ > 0) {
      const std::size_t full = std::min(cells, cells * done_ / total_);
      for (std::size_t i = 0; i < cells; ++i) bar += i < full ? "█" : "░";
      bar += " ";
    }
    put("\r\033[K" + bar +
        visible(line()).substr(0, static_cast<std::size_t>(std::max(20, terminal_width() - 28))));
  }

  void clear() const {
    if (bar_) put("\r\033[K");
  }

  bool quiet_, bar_;
  std::string stage_, unit_, note_;
  std::size_t total_ = 0, done_ = 0;
  Clock::time_point start_{}, last_{};
};

}  // namespace

void say(std::string_view message) { put(visible(message, "\t") + "\n"); }

bool is_terminal(int descriptor) { return ::isatty(descriptor) != 0; }

int terminal_width() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 100;
}

std::unique_ptr<Progress> make_terminal_progress(bool quiet) {
  return std::make_unique<TerminalProgress>(quiet, !quiet && is_terminal(STDERR_FILENO));
}

}  // namespace assay::frame
