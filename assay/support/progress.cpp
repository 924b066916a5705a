#include <assay/progress.h>

#include <atomic>
#include <new>
#include <system_error>

#include <assay/error.h>
#include "assay/support/conditions.h"

namespace assay::inline support {
namespace {

std::atomic<bool> interrupt_requested{false}, requests_are_kept{false};

class Silence final : public Progress {
 public:
  void begin(std::string_view, std::size_t, std::string_view) override {}
  void advance(std::size_t, std::string_view) override {}
  void end() override {}
  void notice(std::string_view) override {}
};

}  // namespace

Progress& silence() {
  static Silence instance;
  return instance;
}

void Stage::advance(std::size_t done, std::string_view note) {
  progress_.advance(done, note);
  check_interrupt();
}

void request_interrupt() noexcept { interrupt_requested = true; }

void check_interrupt() {
  if (!interrupt_requested) return;
  if (requests_are_kept || interrupt_requested.exchange(false))
    throw Error(Fault::interrupted, "interrupted");
}

bool interrupt_is_requested() noexcept { return interrupt_requested; }

void keep_interrupt_requests() noexcept { requests_are_kept = true; }

void pass_on_condition() {
  try {
    throw;
  } catch (const Error& error) {
    if (error.fault() == Fault::interrupted || error.fault() == Fault::resources) throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::system_error&) {
    throw;
  } catch (...) {
    // It is about the work itself.
  }
}

}  // namespace assay::inline support
