#include "assay/support/thread_pool.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "assay/support/threads.h"

namespace assay::inline support {
namespace {

thread_local bool inside = false;             // of a job
thread_local std::size_t chosen_threads = 0;  // by set_loop_threads
std::atomic<std::size_t> threads_of_process{0};

// Looks again for some microseconds, then sleeps until the number is another one.
void wait_for_change(const std::atomic<std::uint32_t>& number, std::uint32_t from) {
  constexpr int looks = 2000;
  for (int i = 0; i < looks; ++i) {
    if (number.load(std::memory_order_acquire) != from) return;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
  while (number.load(std::memory_order_acquire) == from) number.wait(from, std::memory_order_acquire);
}

class Pool {
 public:
  ~Pool() { stop(); }

  // False where another thread uses the pool.
  bool run(std::size_t workers, const std::function<void(std::size_t)>& job) {
    const std::unique_lock lock(busy_, std::try_to_lock);
    if (!lock.owns_lock()) return false;
    grow(workers - 1);
    job_ = &job;
    workers_ = workers;
    next_ = 0;
    failure_ = nullptr;
    const std::size_t helpers = std::min(workers - 1, threads_.size());
    running_.store(static_cast<std::uint32_t>(threads_.size()), std::memory_order_release);
    helpers_ = helpers;
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
    work();
    for (std::uint32_t left; (left = running_.load(std::memory_order_acquire)) != 0;)
      wait_for_change(running_, left);
    job_ = nullptr;
    if (failure_) std::rethrow_exception(failure_);
    return true;
  }

 private:
  void work() {
    for (std::size_t worker; (worker = next_.fetch_add(1)) < workers_;) {
      try {
        (*job_)(worker);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
      }
    }
  }

  void serve(std::size_t id, std::uint32_t round) {
    inside = true;
    while (true) {
      wait_for_change(round_, round);
      ++round;
      if (ending_) return;
      if (id < helpers_) work();
      if (running_.fetch_sub(1, std::memory_order_acq_rel) == 1) running_.notify_all();
    }
  }

  void grow(std::size_t count) {
    try {
      while (threads_.size() < count) {
        const std::size_t id = threads_.size();
        threads_.emplace_back([this, id, round = round_.load()] { serve(id, round); });
      }
    } catch (const std::system_error&) {
      // As many as there are take turns.
    }
  }

  void stop() {
    ending_ = true;
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  std::mutex busy_, mutex_;
  std::vector<std::thread> threads_;
  std::atomic<std::uint32_t> round_{0}, running_{0};
  std::atomic<std::size_t> next_{0};
  std::size_t workers_ = 0, helpers_ = 0;
  std::atomic<bool> ending_{false};
  const std::function<void(std::size_t)>* job_ = nullptr;
  std::exception_ptr failure_;
};

// That of this process: a fork leaves its parent's, whose threads it does not have, as it is. It lives as
// long as the process, whose threads may still run when objects with static storage end.
Pool& pool() {
  static std::mutex mutex;
  static Pool* made = nullptr;
  static pid_t owner = 0;
  static const int at_fork =
      ::pthread_atfork([] { mutex.lock(); }, [] { mutex.unlock(); }, [] { mutex.unlock(); });
  static_cast<void>(at_fork);
  const std::lock_guard lock(mutex);
  if (const pid_t self = ::getpid(); owner != self) {
    made = new Pool;
    owner = self;
  }
  return *made;
}

// Loops within are of one thread.
class Inside {
 public:
  Inside() : before_(std::exchange(inside, true)) {}
  ~Inside() { inside = before_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  bool before_;
};

}  // namespace

void run_on_pool(std::size_t workers, const std::function<void(std::size_t)>& job) {
  if (workers > 1 && !inside) {
    const Inside guard;
    if (pool().run(workers, job)) return;
  }
  const Inside guard;
  std::exception_ptr failure;
  for (std::size_t worker = 0; worker < workers; ++worker) {
    try {
      job(worker);
    } catch (...) {
      if (!failure) failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

void set_loop_threads(std::size_t threads) {
  chosen_threads = threads > 0 ? threads : available_threads();
  threads_of_process = chosen_threads;
}

std::size_t loop_threads() {
  if (inside) return 1;
  if (chosen_threads > 0) return chosen_threads;
  if (threads_of_process > 0) return threads_of_process;
  static const std::size_t all = available_threads();
  return all;
}

void split_loop(std::size_t count, std::size_t grain,
                const std::function<void(std::size_t, std::size_t)>& body) {
  if (count == 0) return;
  const std::size_t most = std::max<std::size_t>(1, count / std::max<std::size_t>(1, grain));
  const std::size_t workers = std::min(loop_threads(), most);
  if (workers <= 1) return body(0, count);
  run_on_pool(workers, [&](std::size_t worker) {
    const std::size_t begin = count * worker / workers, end = count * (worker + 1) / workers;
    if (begin < end) body(begin, end);
  });
}

}  // namespace assay::inline support
