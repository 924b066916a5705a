#include <assay/progress.h>

#include <atomic>

#include <assay/error.h>

namespace assay {
namespace {

std::atomic<bool> interrupt_requested{false};

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
  if (interrupt_requested.exchange(false)) throw Error(Fault::interrupted, "interrupted");
}

}  // namespace assay
