#include "assay/engine/team.h"

#include <omp.h>

#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace assay {

struct Team::State {
  std::mutex turn, mutex;
  std::condition_variable work, done;
  const std::function<void(std::size_t)>* job = nullptr;
  std::size_t round = 0, count = 0, running = 0;
  bool stop = false;
  std::exception_ptr failure;
  std::vector<std::thread> threads;

  void loop(std::size_t worker) {
    omp_set_num_threads(1);
    std::size_t seen = 0;
    std::unique_lock lock(mutex);
    for (;;) {
      work.wait(lock, [&] { return stop || round != seen; });
      if (stop) return;
      seen = round;
      if (worker >= count) continue;
      const auto* const mine = job;
      lock.unlock();
      std::exception_ptr error;
      try {
        (*mine)(worker);
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
      if (error && !failure) failure = error;
      if (--running == 0) done.notify_one();
    }
  }
};

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

Team::Team(std::size_t size) : size_(size), state_(std::make_unique<State>()) {
  if (size == 1) return;
  for (std::size_t w = 0; w < size; ++w) {
    state_->threads.emplace_back([state = state_.get(), w] { state->loop(w); });
  }
}

Team::~Team() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stop = true;
  }
  state_->work.notify_all();
  for (std::thread& thread : state_->threads) thread.join();
}

std::size_t Team::size() const { return size_; }

void Team::run(std::size_t count, const std::function<void(std::size_t)>& job) {
  if (size_ == 1) {
    const SingleThread single;
    if (count > 0) job(0);
    return;
  }
  State& s = *state_;
  const std::lock_guard turn(s.turn);
  std::unique_lock lock(s.mutex);
  s.job = &job;
  s.count = s.running = count;
  s.failure = nullptr;
  ++s.round;
  s.work.notify_all();
  s.done.wait(lock, [&] { return s.running == 0; });
  if (s.failure) std::rethrow_exception(s.failure);
}

std::shared_ptr<Team> team_of(std::size_t size) {
  static std::mutex mutex;
  static std::map<std::size_t, std::weak_ptr<Team>> teams;
  const std::lock_guard lock(mutex);
  std::shared_ptr<Team> team = teams[size].lock();
  if (!team) teams[size] = team = std::make_shared<Team>(size);
  return team;
}

}  // namespace assay
