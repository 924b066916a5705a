#include "assay/support/exact_count.h"

#include <fmt/format.h>

namespace assay {

void ExactCount::multiply(std::uint32_t factor) {
  std::uint64_t carry = 0;
  for (std::uint32_t& digit : digits_) {
    carry += static_cast<std::uint64_t>(digit) * factor;
    digit = static_cast<std::uint32_t>(carry % base);
    carry /= base;
  }
  for (; carry > 0; carry /= base) digits_.push_back(static_cast<std::uint32_t>(carry % base));
  while (digits_.size() > 1 && digits_.back() == 0) digits_.pop_back();
}

std::string ExactCount::to_string() const {
  std::string text = std::to_string(digits_.back());
  for (std::size_t i = digits_.size() - 1; i-- > 0;) text += fmt::format("{:09}", digits_[i]);
  return text;
}

double ExactCount::to_double() const {
  double value = 0;
  for (std::size_t i = digits_.size(); i-- > 0;) value = value * base + digits_[i];
  return value;
}

}  // namespace assay
