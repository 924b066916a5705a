#pragma once

// Seeded random streams with results that are the same on every platform and standard library.
//
// A stream is named by a seed and a path of integers ("epoch 3, record 17"), so one independent stream can be
// derived per unit of work and neither order nor thread count changes a result.

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

namespace assay::inline support {

// xoshiro256** (Blackman and Vigna 2021), seeded through splitmix64.
class Rng {
 public:
  explicit Rng(std::uint64_t seed, std::initializer_list<std::uint64_t> path = {});

  std::uint64_t next();                      // uniform over 64 bits
  std::uint64_t below(std::uint64_t bound);  // uniform in [0, bound); REQUIRES bound > 0
  double uniform();                          // uniform in [0, 1)
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  double normal();  // standard normal (Box-Muller)

  // Fisher-Yates.
  template <typename T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

  // `count` distinct indices out of [0, size), ascending. REQUIRES count <= size. O(size).
  std::vector<std::size_t> sample(std::size_t size, std::size_t count);

  // Complete state, for checkpoints.
  std::array<std::uint64_t, 4> state() const { return state_; }
  void restore(const std::array<std::uint64_t, 4>& state) {
    state_ = state;
    spare_ready_ = false;
  }

 private:
  std::array<std::uint64_t, 4> state_;
  double spare_ = 0;
  bool spare_ready_ = false;
};

}  // namespace assay::inline support
