#pragma once

// A count of any size: products of cluster counts exceed 64 bits soon.

#include <cstdint>
#include <string>
#include <vector>

namespace assay {

class ExactCount {
 public:
  explicit ExactCount(std::uint32_t value = 0) : digits_{value % base} { if (value >= base) digits_.push_back(value / base); }
  void multiply(std::uint32_t factor);
  std::string to_string() const;  // decimal
  double to_double() const;       // infinity beyond the range of double

 private:
  static constexpr std::uint32_t base = 1'000'000'000;
  std::vector<std::uint32_t> digits_;  // least significant first
};

}  // namespace assay
