// Long calls: the interpreter's lock, Ctrl-C and progress.

#include "python/src/bindings.h"

#include <csignal>

#include <atomic>
#include <chrono>
#include <optional>

namespace assay::python {
namespace {

using Clock = std::chrono::steady_clock;

struct sigaction before_interruptible;

void on_interrupt(int) {
  request_interrupt();
  PyErr_SetInterrupt();  // for Python code that the library calls
}

bool in_main_thread() {
  const nb::module_ threading = nb::module_::import_("threading");
  return threading.attr("current_thread")().is(threading.attr("main_thread")());
}

// What an earlier call, which ended before it looked, has left.
void forget_interrupt() {
  try {
    check_interrupt();
  } catch (const Error&) {
    // Meant for that one.
  }
}

// Calls Python about twenty times a second, independent of the library's work.
class Listener final : public Progress {
 public:
  explicit Listener(nb::object object) : object_(std::move(object)) {}
  ~Listener() override {
    const nb::gil_scoped_acquire lock;
    object_.reset();
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  void begin(std::string_view stage, std::size_t total, std::string_view unit) override {
    throw_kept();
    waiting_ = 0;
    last_ = Clock::now();
    in_python([&] { object_.attr("begin")(std::string(stage), total, std::string(unit)); });
  }
  void advance(std::size_t done, std::string_view note) override {
    throw_kept();
    waiting_ += done;
    if (!note.empty()) note_ = note;
    if (Clock::now() - last_ < std::chrono::milliseconds(50)) return;
    tell();
  }
  // Called while exceptions are under way, so it throws none: the next call does.
  void end() override {
    try {
      tell();
      in_python([&] { object_.attr("end")(); });
    } catch (const PythonFailure& failure) {
      if (!kept_) kept_.emplace(failure);
    }
  }
  void throw_kept() {
    if (!kept_) return;
    const PythonFailure failure = *std::exchange(kept_, std::nullopt);
    throw PythonFailure(failure);
  }
  void notice(std::string_view message) override {
    in_python([&] { object_.attr("notice")(std::string(message)); });
  }

 private:
  void tell() {
    const std::size_t done = std::exchange(waiting_, 0);
    last_ = Clock::now();
    in_python([&] { object_.attr("advance")(done, note_); });
  }

  nb::object object_;
  std::optional<PythonFailure> kept_;
  std::string note_;
  std::size_t waiting_ = 0;
  Clock::time_point last_{};
};

class Quiet final : public Progress {
 public:
  void begin(std::string_view, std::size_t, std::string_view) override {}
  void advance(std::size_t, std::string_view) override {}
  void end() override {}
  void notice(std::string_view) override {}
};

}  // namespace

Interruptible::Interruptible() {
  forget_interrupt();
  if (!in_main_thread()) return;
  struct sigaction now {};
  if (::sigaction(SIGINT, nullptr, &now) != 0) return;
  // Not where Python does not listen, and not twice for a call within a call.
  if (now.sa_handler == SIG_IGN || now.sa_handler == SIG_DFL || now.sa_handler == on_interrupt) return;
  before_interruptible = now;
  struct sigaction ours {};
  ours.sa_handler = on_interrupt;
  installed_ = ::sigaction(SIGINT, &ours, nullptr) == 0;
}

Interruptible::~Interruptible() {
  if (installed_) ::sigaction(SIGINT, &before_interruptible, nullptr);
}

void throw_interrupted() {
  if (PyErr_CheckSignals() == 0) PyErr_SetNone(PyExc_KeyboardInterrupt);
  nb::raise_python_error();
}

std::unique_ptr<Progress> make_progress(const nb::object& listener) {
  if (listener.is_none()) return std::make_unique<Quiet>();
  return std::make_unique<Listener>(listener);
}

void finish(Progress& progress) {
  if (auto* const listener = dynamic_cast<Listener*>(&progress)) listener->throw_kept();
}

}  // namespace assay::python
