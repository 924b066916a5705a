#pragma once

// A count of any size: products of cluster counts exceed 64 bits soon.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::inline support {

class ExactCount {
 public:
  explicit ExactCount(std::uint32_t value = 0) : digits_{value % base} {
    if (value >= base) digits_.push_back(value / base);
  }
  // Of decimal digits alone; nothing for any other text and for more than `max_digits`, so that counts from
  // files stay cheap to multiply.
  static std::optional<ExactCount> parse(std::string_view digits);
  static constexpr std::size_t max_digits = 100'000;

  void multiply(std::uint32_t factor);
  ExactCount times(const ExactCount& other) const;  // O(digits * digits)
  ExactCount plus(const ExactCount& other) const;
  ExactCount minus(const ExactCount& other) const;  // REQUIRES: `other` is not greater
  // This count times factor^exponent.
  ExactCount times_power(std::uint32_t factor, std::size_t exponent) const;
  bool is_zero() const { return digits_.size() == 1 && digits_[0] == 0; }
  std::strong_ordering operator<=>(const ExactCount& other) const;
  bool operator==(const ExactCount& other) const = default;
  std::string to_string() const;  // decimal
  double to_double() const;       // infinity beyond the range of double

 private:
  static constexpr std::uint32_t base = 1'000'000'000;
  std::vector<std::uint32_t> digits_;  // least significant first
};

}  // namespace assay::inline support
