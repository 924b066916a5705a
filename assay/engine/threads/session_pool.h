#pragma once

// Several pieces of work at a time, each on one thread with separate sessions: small networks have too little
// work for many threads.

#include <functional>
#include <memory>
#include <vector>

#include <assay/session.h>

namespace assay::inline engine {

class SessionPool {
 public:
  using Sessions = std::vector<const Session*>;
  // As many workers as the first session has threads, each with the same networks; on other devices than the
  // processor one worker, which uses the sessions given. These must outlive this.
  explicit SessionPool(Sessions sessions);
  ~SessionPool();
  std::size_t size() const;
  // Calls work(sessions, i) for every i in [0, count), in any order. The first exception is rethrown when all
  // have stopped.
  void run(std::size_t count, const std::function<void(const Sessions&, std::size_t)>& work);

 private:
  Sessions sessions_;
  std::vector<std::unique_ptr<Session>> copies_;
  std::vector<Sessions> workers_;
};

}  // namespace assay::inline engine
