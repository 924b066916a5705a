#include "assay/support/text/text.h"

#include <cstdint>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "assay/support/ascii.h"
#include "assay/support/text/base64.h"

namespace assay::inline support {
namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

std::array<std::int8_t, 256> digits_of_base64() {
  std::array<std::int8_t, 256> digits;
  digits.fill(-1);
  std::int8_t next = 0;
  for (const char c : std::string("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"))
    digits[byte_of(c)] = next++;
  return digits;
}

}  // namespace

std::string nearest_name(std::string_view word, const std::vector<std::string>& candidates) {
  std::string nearest;
  std::size_t least = word.size() / 2 + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string nearest = nearest_name(word, candidates);
  return nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
}

std::string joined(const std::vector<std::string>& items, std::string_view separator) {
  return fmt::format("{}", fmt::join(items, separator));
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j)
      group = group << 8 | (i + j < bytes.size() ? byte_of(bytes[i + j]) : 0U);
    for (std::size_t j = 0; j < 4; ++j)
      text += i + j > bytes.size() ? '=' : letters[group >> (18 - 6 * j) & 63];
  }
  return text;
}

std::optional<std::string> bytes_of_base64(std::string_view text) {
  static const std::array<std::int8_t, 256> digits = digits_of_base64();
  const std::size_t letters = std::min(text.find('='), text.size());
  std::string bytes;
  bytes.reserve(letters * 3 / 4);
  std::uint32_t group = 0;
  int bits = 0;
  for (std::size_t i = 0; i < letters; ++i) {
    const std::int8_t digit = digits[byte_of(text[i])];
    if (digit < 0) return std::nullopt;
    group = group << 6 | static_cast<std::uint32_t>(digit);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(group >> bits & 255U);
  }
  return bytes;
}

}  // namespace assay::inline support
