#pragma once

// Content hashes (XXH3, 128 bit) that tie results to the exact model, data and profile they came from.

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace assay::inline support {

class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;

  Hasher& bytes(const void* data, std::size_t size);
  Hasher& text(std::string_view text);  // length first, so ("ab","c") differs from ("a","bc")
  Hasher& number(std::int64_t value);
  Hasher& real(double value);

  std::string hex() const;  // 32 lower-case hexadecimal digits of what was added so far

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string hash_hex(std::string_view bytes);

// The same hash as two numbers, for tables of many.
using Hash128 = std::array<std::uint64_t, 2>;
Hash128 hash_128(const void* data, std::size_t size);
// The same hash as its 16 bytes: a checksum in files.
std::string hash_bytes(std::string_view bytes);

}  // namespace assay::inline support
