#include "assay/engine/threads/team.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>

namespace assay {
namespace {

// Keeps OpenMP to the calling thread while it lives.
class SingleThread {
 public:
  SingleThread() : before_(omp_get_max_threads()) {
    if (before_ != 1) omp_set_num_threads(1);
  }
  ~SingleThread() {
    if (before_ != 1) omp_set_num_threads(before_);
  }
  SingleThread(const SingleThread&) = delete;
  SingleThread& operator=(const SingleThread&) = delete;

 private:
  int before_;
};

}  // namespace

void run_team(std::size_t workers, const std::function<void(std::size_t)>& job) {
  if (workers <= 1) {
    const SingleThread single;
    if (workers == 1) job(0);
    return;
  }
  std::mutex mutex;
  std::exception_ptr failure;
  const auto threads = static_cast<int>(workers);
#pragma omp parallel num_threads(threads)
  {
    // Fewer threads than asked for take turns.
    const auto step = static_cast<std::size_t>(omp_get_num_threads());
    for (auto worker = static_cast<std::size_t>(omp_get_thread_num()); worker < workers; worker += step) {
      try {
        job(worker);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
      }
    }
  }
  if (failure) std::rethrow_exception(failure);
}

void team_for(std::size_t count, std::size_t threads, const std::function<void(std::size_t)>& body) {
  std::atomic<std::size_t> next{0};
  run_team(std::min(count, threads), [&](std::size_t) {
    try {
      for (std::size_t i; (i = next.fetch_add(1)) < count;) body(i);
    } catch (...) {
      next = count;
      throw;
    }
  });
}

}  // namespace assay
