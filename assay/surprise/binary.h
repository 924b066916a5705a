#pragma once

// Arrays in the binary form of learned references. Reading takes memory only for what the stream really
// holds.

#include <algorithm>
#include <cstdint>
#include <istream>
#include <ostream>
#include <type_traits>
#include <vector>

#include <assay/error.h>

namespace assay::surprise {

template <typename T>
void write_value(std::ostream& out, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  out.write(reinterpret_cast<const char*>(&value), sizeof value);
}

template <typename T>
void write_array(std::ostream& out, const std::vector<T>& values) {
  write_value(out, static_cast<std::uint64_t>(values.size()));
  out.write(reinterpret_cast<const char*>(values.data()),
            static_cast<std::streamsize>(values.size() * sizeof(T)));
}

[[noreturn]] inline void damaged(const char* what) {
  fail(Fault::data, "surprise reference: {}; learn it again from the training set", what);
}

template <typename T>
T read_value(std::istream& in) {
  T value{};
  if (!in.read(reinterpret_cast<char*>(&value), sizeof value)) damaged("it ends too early");
  return value;
}

template <typename T>
std::vector<T> read_array(std::istream& in) {
  constexpr std::uint64_t step = 1 << 16;
  std::vector<T> values;
  for (auto left = read_value<std::uint64_t>(in); left > 0;) {
    const auto now = static_cast<std::size_t>(std::min(left, step)), before = values.size();
    values.resize(before + now);
    if (!in.read(reinterpret_cast<char*>(values.data() + before),
                 static_cast<std::streamsize>(now * sizeof(T))))
      damaged("it ends too early");
    left -= now;
  }
  return values;
}

inline void expect_magic(std::istream& in, std::uint64_t magic) {
  if (read_value<std::uint64_t>(in) != magic) damaged("it is not of the expected kind or version");
}

}  // namespace assay::surprise
