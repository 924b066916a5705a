#include <assay/extend/random.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <numeric>

namespace assay::inline support {
namespace {

std::uint64_t splitmix(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

}  // namespace

Rng::Rng(std::uint64_t seed, std::initializer_list<std::uint64_t> path) {
  std::uint64_t state = seed;
  std::uint64_t mixed = splitmix(state);
  for (const std::uint64_t step : path) {
    state = mixed ^ (step + 0x632be59bd9b4e019ULL);
    mixed = splitmix(state);
  }
  for (auto& word : state_) word = splitmix(mixed);
}

std::uint64_t Rng::next() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

std::uint64_t Rng::below(std::uint64_t bound) {
  // Lemire's multiply-shift with rejection: exactly uniform.
  std::uint64_t low_limit = (0 - bound) % bound;
  for (;;) {
    const unsigned __int128 product = static_cast<unsigned __int128>(next()) * bound;
    if (static_cast<std::uint64_t>(product) >= low_limit) return static_cast<std::uint64_t>(product >> 64);
  }
}

double Rng::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

double Rng::normal() {
  if (spare_ready_) {
    spare_ready_ = false;
    return spare_;
  }
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  const double angle = 2.0 * std::numbers::pi * uniform();
  spare_ = radius * std::sin(angle);
  spare_ready_ = true;
  return radius * std::cos(angle);
}

std::vector<std::size_t> Rng::sample(std::size_t size, std::size_t count) {
  std::vector<std::size_t> indices(size);
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  for (std::size_t i = 0; i < count; ++i) std::swap(indices[i], indices[i + below(size - i)]);
  indices.resize(count);
  std::sort(indices.begin(), indices.end());
  return indices;
}

}  // namespace assay::inline support
