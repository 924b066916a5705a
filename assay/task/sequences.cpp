#include "assay/task/sequences.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include <assay/error.h>

namespace assay::task {
namespace {

// Distances of the first i symbols of a to the first 0, 1, ... of b, of those of the first i - 1.
void next_row(std::span<const std::uint32_t> before, std::span<std::uint32_t> row, std::int64_t symbol,
              std::span<const std::int64_t> b) {
  row[0] = before[0] + 1;
  for (std::size_t j = 1; j < row.size(); ++j)
    row[j] = std::min({before[j] + 1, row[j - 1] + 1, before[j - 1] + (symbol == b[j - 1] ? 0U : 1U)});
}

}  // namespace

std::size_t edit_distance(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  std::vector<std::uint32_t> before(b.size() + 1), row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0U);
  for (const std::int64_t symbol : a) {
    before.swap(row);
    next_row(before, row, symbol, b);
  }
  return row.back();
}

std::vector<std::pair<int, int>> aligned(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  const std::size_t width = b.size() + 1;
  constexpr std::size_t most = std::size_t{1} << 26;
  if ((a.size() + 1) * width > most)
    fail(Fault::resources, "sequences of {} and {} symbols are too long to be aligned", a.size(), b.size());
  std::vector<std::uint32_t> distances((a.size() + 1) * width);
  const auto row = [&](std::size_t i) { return std::span(distances).subspan(i * width, width); };
  std::iota(row(0).begin(), row(0).end(), 0U);
  for (std::size_t i = 1; i <= a.size(); ++i) next_row(row(i - 1), row(i), a[i - 1], b);
  std::vector<std::pair<int, int>> pairs;
  std::size_t i = a.size(), j = b.size();
  while (i > 0 || j > 0) {
    const std::uint32_t here = row(i)[j];
    if (i > 0 && j > 0 && here == row(i - 1)[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)) {
      --i, --j;
      pairs.emplace_back(static_cast<int>(i), static_cast<int>(j));
    } else if (i > 0 && here == row(i - 1)[j] + 1) {
      pairs.emplace_back(static_cast<int>(--i), -1);
    } else {
      pairs.emplace_back(-1, static_cast<int>(--j));
    }
  }
  std::ranges::reverse(pairs);
  return pairs;
}

std::vector<std::int64_t> likeliest_steps(std::span<const float> scores, std::size_t symbols,
                                          std::span<const std::int64_t> text, std::int64_t blank) {
  std::vector<std::int64_t> states{blank};  // blanks before, between and after
  for (const std::int64_t symbol : text) states.insert(states.end(), {symbol, blank});
  const std::size_t steps = scores.size() / symbols, width = states.size();
  constexpr double never = -std::numeric_limits<double>::infinity();
  std::vector<double> best(width, never), before(width);
  std::vector<std::uint8_t> moves(steps * width);  // how many states further than in the step before
  best[0] = 0;
  for (std::size_t t = 0; t < steps; ++t) {
    before.swap(best);
    for (std::size_t s = 0; s < width; ++s) {
      const bool skips = s > 1 && states[s] != blank && states[s] != states[s - 2];
      std::uint8_t& move = moves[t * width + s];
      double here = before[s];
      for (std::uint8_t far = 1; far <= (skips ? 2 : 1) && far <= s; ++far) {
        if (before[s - far] > here) here = before[s - far], move = far;
      }
      best[s] = here + scores[t * symbols + static_cast<std::size_t>(states[s])];
    }
    if (t == 0) std::fill(best.begin() + std::min<std::ptrdiff_t>(2, std::ssize(best)), best.end(), never);
  }
  std::size_t state = width > 1 && best[width - 2] > best[width - 1] ? width - 2 : width - 1;
  if (best[state] == never) return {};
  std::vector<std::int64_t> path(steps);
  for (std::size_t t = steps; t-- > 0; state -= moves[t * width + state]) path[t] = states[state];
  return path;
}

}  // namespace assay::task
