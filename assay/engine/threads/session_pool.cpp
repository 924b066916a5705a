#include "assay/engine/threads/session_pool.h"

#include <atomic>

#include "assay/support/threads.h"

namespace assay::inline engine {

SessionPool::SessionPool(Sessions sessions) : sessions_(std::move(sessions)) {
  const SessionOptions& options = sessions_.front()->options();
  const std::size_t threads = options.device != "cpu" ? 1
                              : options.threads > 0   ? static_cast<std::size_t>(options.threads)
                                                      : available_threads();
  if (threads == 1) workers_ = {sessions_};
  for (std::size_t w = 0; threads > 1 && w < threads; ++w) {
    Sessions& own = workers_.emplace_back();
    for (const Session* session : sessions_) {
      SessionOptions alone = session->options();
      alone.threads = 1;
      own.push_back(copies_.emplace_back(std::make_unique<Session>(session->graph(), alone)).get());
    }
  }
}

SessionPool::~SessionPool() = default;

std::size_t SessionPool::size() const { return workers_.size(); }

void SessionPool::run(std::size_t count, const std::function<void(const Sessions&, std::size_t)>& work) {
  if (workers_.size() == 1) {
    for (std::size_t i = 0; i < count; ++i) work(workers_[0], i);
    return;
  }
  const int threads = sessions_.front()->options().threads;
  std::atomic<std::size_t> next{0};
  set_engine_threads(1);
  try {
    parallel_for(workers_.size(), workers_.size(), [&](std::size_t w) {
      set_engine_threads(1);
      try {
        for (std::size_t i; (i = next.fetch_add(1)) < count;) work(workers_[w], i);
      } catch (...) {
        next = count;
        throw;
      }
    });
  } catch (...) {
    set_engine_threads(threads);
    throw;
  }
  set_engine_threads(threads);
}

}  // namespace assay::inline engine
