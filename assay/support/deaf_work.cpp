#include "assay/support/deaf_work.h"

#include <unistd.h>

#include <atomic>
#include <cmath>
#include <csignal>

namespace assay::inline support {
namespace {

constexpr unsigned heard_within = 2;  // seconds in which a signal is heard, where it can be
std::atomic<bool> alarms_are_taken{false};
std::atomic<int> depth{0};

}  // namespace

DeafWork::DeafWork(double seconds) {
  ++depth;
  if (seconds > 0 && alarms_are_taken)
    ::alarm(static_cast<unsigned>(std::ceil(std::fmin(seconds, 1e8))) + heard_within);
}

DeafWork::~DeafWork() {
  if (--depth == 0 && alarms_are_taken) ::alarm(0);
}

void DeafWork::take_alarms(void (*on_alarm)(int)) {
  std::signal(SIGALRM, on_alarm);
  alarms_are_taken = true;
}

void DeafWork::hear() noexcept {
  if (depth > 0 && alarms_are_taken) ::alarm(heard_within);
}

}  // namespace assay::inline support
