#pragma once

// Work in a library that may not look at check_interrupt() for long. Where the program's signals are taken
// (apps/frame), a signal that is not heard within a moment ends the process; so only work that a kill cannot
// harm may be done in it.

namespace assay::inline support {

class DeafWork {
 public:
  // `seconds`: after which the process ends all the same, with exit code 8; 0: never.
  explicit DeafWork(double seconds = 0);
  ~DeafWork();
  DeafWork(const DeafWork&) = delete;
  DeafWork& operator=(const DeafWork&) = delete;

  // Of a program that takes signals: SIGALRM, after which on_alarm() is called, in the signal's handler.
  static void take_alarms(void (*on_alarm)(int));
  // A signal came that asks for an end. Safe in a handler.
  static void hear() noexcept;
};

}  // namespace assay::inline support
