// Ranks that share work, as threads of this process.

#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include <assay/error.h>
#include "assay/support/ranks/local_transport.h"
#include "assay/support/ranks/ranks.h"
#include "assay/support/ranks/shared_work.h"

namespace assay {
namespace {

// Calls body(ranks) on so many ranks; then all leave. What body throws on the first is rethrown.
void on_ranks(std::size_t size, const std::function<void(Ranks&)>& body) {
  const auto network = std::make_shared<LocalNetwork>(size);
  std::exception_ptr failure;
  std::vector<std::jthread> threads;
  for (std::size_t r = 0; r < size; ++r) {
    threads.emplace_back([&, r] {
      Ranks all(make_local_transport(network, r));
      const RanksScope scope(all);
      try {
        body(all);
      } catch (const Dismissed&) {
        // As it is meant.
      } catch (const Error& error) {
        if (r > 0) return all.close(&error);
        failure = std::current_exception();
        return all.close_failed(1);
      }
      all.close();
    });
  }
  threads.clear();
  if (failure) std::rethrow_exception(failure);
}

TEST(Ranks, PiecesAreDoneOnceAndTakenInTheirOrder) {
  for (const std::size_t size : {1, 2, 3, 4, 8}) {
    std::vector<std::size_t> taken;
    std::atomic<std::size_t> done = 0;
    on_ranks(size, [&](Ranks& all) {
      for (const std::size_t count : {0, 1, 50}) {
        SharedLoop loop(all, count, [&](std::size_t piece, std::string_view bytes) {
          EXPECT_EQ(bytes, std::to_string(piece * piece));
          taken.push_back(piece);
        });
        while (const auto piece = loop.next()) {
          ++done;
          loop.give(*piece, std::to_string(*piece * *piece));
        }
        loop.finish();
      }
    });
    ASSERT_EQ(taken.size(), 51U) << size << " ranks";
    EXPECT_EQ(done, 51U);
    for (std::size_t i = 0; i < 50; ++i) EXPECT_EQ(taken[i + 1], i);
  }
}

TEST(Ranks, WhatIsDoneTogetherIsKnownToAll) {
  for (const std::size_t size : {1, 2, 5}) {
    for (const std::size_t count : {0, 1, 30}) {
      std::atomic<std::size_t> done = 0, taken = 0;
      on_ranks(size, [&](Ranks& all) {
        std::vector<std::string> found(count);
        do_together(
            count, 3,
            [&](std::size_t piece) {
              ++done;
              EXPECT_TRUE(ranks().alone()) << "a piece is one rank's own";
              return std::to_string(piece * piece);
            },
            [&](std::size_t piece, std::string_view bytes) {
              ++taken;
              found[piece] = bytes;
            });
        for (std::size_t piece = 0; piece < count; ++piece)
          EXPECT_EQ(found[piece], std::to_string(piece * piece));
        // The first rank stays until the others have been told.
        all.gather([](std::string_view) {}, [] { return std::string(); });
      });
      EXPECT_EQ(done, count) << size << " ranks";
      EXPECT_EQ(taken, count * size) << size << " ranks";
    }
  }
}

TEST(Ranks, AFailureInWorkDoneTogetherEndsTheRun) {
  for (const std::size_t size : {1, 3}) {
    for (const bool on_first : {true, false}) {
      if (size == 1 && !on_first) continue;
      // Whoever does not fail waits for the one that does, so that it gets a piece.
      std::atomic<bool> failing = false;
      std::string told;
      try {
        on_ranks(size, [&](Ranks& all) {
          const bool fails = all.first() == on_first;
          do_together(
              20, 2,
              [&](std::size_t piece) -> std::string {
                if (fails) {
                  failing = true;
                  fail(Fault::data, "piece {} cannot be done", piece);
                }
                while (!failing) std::this_thread::yield();
                return "";
              },
              [](std::size_t, std::string_view) {});
        });
      } catch (const Error& error) {
        told = error.what();
      }
      EXPECT_NE(told.find("cannot be done"), std::string::npos) << told << size << on_first;
    }
  }
}

TEST(Ranks, WhoIsFreeGetsTheNextPiece) {
  // The second rank keeps its first piece until all others are done: a fixed division would not end.
  std::atomic<std::size_t> done = 0;
  std::atomic<bool> begun = false;
  on_ranks(2, [&](Ranks& all) {
    SharedLoop loop(all, 20, [](std::size_t, std::string_view) {});
    while (const auto piece = loop.next()) {
      if (!all.first()) begun = true;
      while (all.first() ? !begun : done < 19) std::this_thread::yield();
      ++done;
      loop.give(*piece, "");
    }
    loop.finish();
  });
  EXPECT_EQ(done, 20U);
}

TEST(Ranks, TreesCarryEverythingToTheFirstAndBack) {
  for (const std::size_t size : {1, 2, 3, 5, 8}) {
    on_ranks(size, [&](Ranks& all) {
      std::set<std::string> known{std::to_string(all.rank())};
      all.gather(
          [&](std::string_view bytes) {
            for (std::size_t i = 0; i < bytes.size(); ++i) known.insert(std::string(1, bytes[i]));
          },
          [&] {
            std::string bytes;
            for (const std::string& name : known) bytes += name;
            return bytes;
          });
      EXPECT_TRUE(!all.first() || known.size() == size);
      std::string bytes = all.first() ? std::string(1 << 20, 'x') + "y" : "";
      all.broadcast(bytes);
      EXPECT_EQ(bytes.size(), (1U << 20) + 1);
    });
  }
}

TEST(Ranks, WhatGoesWrongIsSaidByTheFirstNamingTheRank) {
  try {
    on_ranks(3, [](Ranks& all) {
      SharedLoop loop(all, 100, [](std::size_t, std::string_view) {});
      if (all.rank() == 2) fail(Fault::data, "record 7 is damaged");
      while (const auto piece = loop.next()) loop.give(*piece, "");
      std::string bytes;
      if (!all.first()) all.broadcast(bytes);
      if (all.first()) {
        while (true) all.check();
      }
    });
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::data);
    EXPECT_NE(std::string(error.what()).find("rank 2"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("record 7 is damaged"), std::string::npos) << error.what();
  }
}

TEST(Ranks, WhatThrowsOnTheFirstEndsAll) {
  EXPECT_THROW(on_ranks(4,
                        [](Ranks& all) {
                          SharedLoop loop(all, 40, [](std::size_t piece, std::string_view) {
                            if (piece == 5) fail(Fault::mismatch, "no");
                          });
                          while (const auto piece = loop.next()) loop.give(*piece, "");
                          loop.finish();
                          std::string bytes;
                          all.broadcast(bytes);
                        }),
               Error);
}

TEST(Ranks, OnlyTheFirstGoesOnAloneWhereOthersLeave) {
  std::atomic<int> there = 0;
  on_ranks(4, [&](Ranks& all) {
    all.leave_to_first();
    ++there;
    EXPECT_TRUE(all.alone());
    SharedLoop loop(all, 3, [](std::size_t, std::string_view) {});
    while (const auto piece = loop.next()) loop.give(*piece, "");
    loop.finish();
  });
  EXPECT_EQ(there, 1);
}

}  // namespace
}  // namespace assay
