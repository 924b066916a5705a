#pragma once

// Several processes that do one piece of work: `mpirun -n 8 assay cover ...`. All ranks run the same program
// and come to the same loops in the same order. In a shared loop each piece is done by one rank, whichever is
// free; what comes out is taken by the first rank in the order of the pieces, so that nothing depends on how
// many ranks there are. What everybody needs for the next loop is broadcast. Only the first rank writes files
// and speaks; the others leave where no shared loop follows (leave_to_first).
//
// An analysis asks for ranks() at its start, on the thread that it was called from. A program that is not run
// by several processes has one rank, which does everything; nothing is sent then.

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <assay/error.h>
#include "assay/support/ranks/transport.h"

namespace assay::inline support {

// Thrown on all ranks but the first when there is nothing left to do for them. No error, so no
// std::exception.
struct Dismissed {};

class Ranks {
 public:
  // Alone.
  Ranks();
  explicit Ranks(std::unique_ptr<Transport> transport);
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  std::size_t rank() const { return rank_; }
  std::size_t size() const { return size_; }
  bool first() const { return rank_ == 0; }
  // Only this rank works on what follows.
  bool alone() const { return size_ == 1 || left_alone_; }
  // Ranks on this machine, this one included.
  std::size_t on_this_machine() const;

  // The following are called by all ranks, each from the thread of its analysis, and throw what check()
  // throws. Gives every rank the first one's bytes.
  void broadcast(std::string& bytes);
  // A tree: every rank but the first takes what it is sent and then gives what it has by then to another
  // rank; the first rank ends up with everything.
  void gather(const std::function<void(std::string_view)>& take, const std::function<std::string()>& give);

  // Throws Error when another rank has failed, naming it (on the first rank), or Dismissed (on the others)
  // when the first rank has ended the run.
  void check();
  // Throws Dismissed on all ranks but the first, which is alone from here on.
  void leave_to_first();

  // The last call of a run, by all ranks. The first one waits until the others have left. On the others
  // `failure` is told to the first rank, whose error it becomes; they wait until it ends the run.
  void close(const Error* failure = nullptr);
  // Instead of close(), on a first rank that has failed: the others are dismissed, and where one of them does
  // not leave soon, all are ended.
  void close_failed(int exit_code);
  // "rank 2 (process 1234 on node7)", of those processes on this machine that have ended before their time.
  std::vector<std::string> ended() const;

 private:
  friend class SharedLoop;
  struct Place {
    std::string host;
    long process = 0;
  };
  struct Piece {
    std::size_t loop, number;
    std::string bytes;
  };

  void handle(Transport::Message message);
  void answer(std::size_t to, std::size_t loop);
  void check_locked() const;
  template <typename Arrived>
  void wait_until(std::unique_lock<std::mutex>& lock, const Arrived& arrived);
  void send(std::size_t to, char kind, std::string_view bytes) const;
  std::string receive_data(std::size_t from);
  void exchange_places();
  std::string name_of(std::size_t rank) const;
  bool all_left(double seconds);

  std::unique_ptr<Transport> transport_;  // null: alone
  std::size_t rank_ = 0, size_ = 1;
  bool left_alone_ = false;
  std::vector<Place> places_;
  mutable std::mutex mutex_;  // over everything below
  std::condition_variable changed_;
  std::map<std::size_t, std::deque<std::string>> data_;     // of broadcast() and gather(), by sender
  std::deque<std::optional<std::size_t>> answers_;          // to requests for pieces
  std::deque<Piece> pieces_;                                // that other ranks have done
  std::deque<std::pair<std::size_t, std::size_t>> asking_;  // rank, loop that has not begun here
  std::size_t loop_ = 0, next_ = 0, count_ = 0;             // of the loop that is handed out
  std::size_t left_ = 0;                                    // ranks that have said so
  std::optional<Error> failure_;
  bool dismissed_ = false;
  std::jthread listener_;  // last, so that it ends before what it uses
};

// The ranks that share the work of this thread; alone unless RanksScope says otherwise.
Ranks& ranks();

class RanksScope {
 public:
  explicit RanksScope(Ranks& ranks);
  ~RanksScope();
  RanksScope(const RanksScope&) = delete;
  RanksScope& operator=(const RanksScope&) = delete;

 private:
  Ranks* before_;
};

// A loop over pieces of work [0, count), made by all ranks.
class SharedLoop {
 public:
  using Take = std::function<void(std::size_t piece, std::string_view bytes)>;

  enum class Order { of_pieces, as_they_come };
  // `take` is called on the first rank only, for every piece.
  SharedLoop(Ranks& ranks, std::size_t count, Take take, Order order = Order::of_pieces);
  // A piece for this rank to do; nothing when all are handed out. Safe from several threads.
  std::optional<std::size_t> next();
  // Delivers the result of a piece. On the first rank, take() is called for all results that can be taken by
  // now. Safe from several threads; only one at a time calls take().
  void give(std::size_t piece, std::string bytes);
  // No more pieces for this rank, which has failed.
  void stop();
  // Returns on the first rank when all pieces are taken, on others at once.
  void finish();

 private:
  void collect();
  void take_ready();

  Ranks& ranks_;
  std::size_t loop_ = 0, count_;
  Take take_;
  Order order_;
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;  // over what follows, and take_
  std::map<std::size_t, std::string> done_;
  std::size_t taken_ = 0, next_ = 0;  // next_: where there is one rank only
};

}  // namespace assay::inline support
