#pragma once

// Threads that stay: each runs primitives on its own records, with OpenMP set to one thread inside, so
// no barrier is paid per primitive and results do not depend on how many threads there are. A team of one is
// the calling thread.

#include <cstddef>
#include <functional>
#include <memory>

namespace assay {

class Team {
 public:
  explicit Team(std::size_t size);
  ~Team();
  std::size_t size() const;
  // Calls job(worker) on the first `count` workers and waits for all. Rethrows the first exception. Calls
  // from several threads take turns; a job must not call run() of its own team.
  void run(std::size_t count, const std::function<void(std::size_t)>& job);

 private:
  struct State;
  std::size_t size_;
  std::unique_ptr<State> state_;
};

// The team of that many threads, one for all who ask: it stays while somebody holds it.
std::shared_ptr<Team> team_of(std::size_t size);

}  // namespace assay
