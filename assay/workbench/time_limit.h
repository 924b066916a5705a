#pragma once

#include <chrono>

#include <assay/error.h>

namespace assay::workbench {

// Time limit of a question, from its start. 0: none.
class TimeLimit {
 public:
  explicit TimeLimit(double seconds) : seconds_(seconds) {}

  double seconds() const { return seconds_; }
  bool is_over() const {
    return seconds_ > 0 && std::chrono::duration<double>(Clock::now() - begin_).count() > seconds_;
  }
  // Throws Error{resources} when it is.
  void check() const {
    if (is_over())
      fail(Fault::resources, "the question takes more than {:g} seconds; ask for less, or allow more time",
           seconds_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  double seconds_;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace assay::workbench
