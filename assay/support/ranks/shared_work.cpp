#include "assay/support/ranks/shared_work.h"

#include <algorithm>

#include "assay/support/files/frames.h"
#include "assay/support/ranks/ranks.h"
#include "assay/support/threads.h"

namespace assay::inline support {

void do_together(std::size_t count, std::size_t threads, const std::function<std::string(std::size_t)>& work,
                 const std::function<void(std::size_t, std::string_view)>& take) {
  Ranks& all = ranks();  // other threads have none
  std::string taken;
  SharedLoop loop(
      all, count,
      [&](std::size_t piece, std::string_view bytes) {
        take(piece, bytes);
        if (all.alone()) return;
        put_text(taken, std::to_string(piece));
        put_text(taken, bytes);
      },
      SharedLoop::Order::as_they_come);
  const std::size_t workers = std::clamp<std::size_t>(threads, 1, std::max<std::size_t>(1, count));
  parallel_for(workers, workers, [&](std::size_t) {
    Ranks alone;
    const RanksScope scope(alone);  // a piece is one rank's own
    try {
      while (const auto piece = loop.next()) loop.give(*piece, work(*piece));
    } catch (...) {
      loop.stop();
      throw;
    }
  });
  loop.finish();
  if (all.alone()) return;
  all.broadcast(taken);
  if (all.first()) return;
  std::string_view rest = taken;
  while (const auto piece = take_text(rest))
    take(std::stoul(std::string(*piece)), take_text(rest).value_or(""));
}

}  // namespace assay::inline support
