#pragma once

// How long work reports itself. Analyses take a Progress&, never print. The program shows a bar on a
// terminal, and plain lines otherwise; tests and library users can pass `silence()`.

#include <cstddef>
#include <string>
#include <string_view>

namespace assay::inline support {

class Progress {
 public:
  virtual ~Progress() = default;
  // A stage begins: `total` units of work of the named kind ("images", "epochs"); 0 when unknown.
  virtual void begin(std::string_view stage, std::size_t total, std::string_view unit) = 0;
  // `done` more units; `note` is a short live figure such as "loss 0.031".
  virtual void advance(std::size_t done, std::string_view note = {}) = 0;
  virtual void end() = 0;
  // Something the user must know though work continues ("float16 weights were widened to float32").
  virtual void notice(std::string_view message) = 0;
};

// Ignores everything.
Progress& silence();

// Brackets one stage, also when an exception leaves it.
class Stage {
 public:
  Stage(Progress& progress, std::string_view stage, std::size_t total, std::string_view unit)
      : progress_(progress) {
    progress_.begin(stage, total, unit);
  }
  ~Stage() { progress_.end(); }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  // Also the point where Ctrl-C takes effect: throws Error{interrupted} if it was pressed.
  void advance(std::size_t done, std::string_view note = {});

 private:
  Progress& progress_;
};

// Ctrl-C: a signal handler calls request_interrupt(); loops call check_interrupt(), which throws.
void request_interrupt() noexcept;
void check_interrupt();

}  // namespace assay::inline support
