#include "assay/support/numbers/exact_count.h"

#include <fmt/format.h>

#include <algorithm>

#include "assay/support/ascii.h"

namespace assay::inline support {

std::optional<ExactCount> ExactCount::parse(std::string_view digits) {
  if (digits.empty() || digits.size() > max_digits || !std::all_of(digits.begin(), digits.end(), is_digit))
    return {};
  ExactCount count;
  count.digits_.clear();
  constexpr std::size_t per_digit = 9;
  for (std::size_t end = digits.size(); end > 0; end -= std::min(end, per_digit)) {
    std::uint32_t value = 0;
    for (std::size_t i = end - std::min(end, per_digit); i < end; ++i) {
      value = value * 10 + static_cast<std::uint32_t>(digits[i] - '0');
    }
    count.digits_.push_back(value);
  }
  while (count.digits_.size() > 1 && count.digits_.back() == 0) count.digits_.pop_back();
  return count;
}

ExactCount ExactCount::times(const ExactCount& other) const {
  ExactCount product;
  product.digits_.assign(digits_.size() + other.digits_.size(), 0);
  for (std::size_t i = 0; i < digits_.size(); ++i) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < other.digits_.size() || carry > 0; ++j) {
      const std::uint64_t factor = j < other.digits_.size() ? other.digits_[j] : 0;
      const std::uint64_t sum = product.digits_[i + j] + digits_[i] * factor + carry;
      product.digits_[i + j] = static_cast<std::uint32_t>(sum % base);
      carry = sum / base;
    }
  }
  while (product.digits_.size() > 1 && product.digits_.back() == 0) product.digits_.pop_back();
  return product;
}

ExactCount ExactCount::plus(const ExactCount& other) const {
  ExactCount sum;
  sum.digits_.clear();
  std::uint32_t carry = 0;
  for (std::size_t i = 0; i < std::max(digits_.size(), other.digits_.size()) || carry > 0; ++i) {
    const std::uint32_t value =
        (i < digits_.size() ? digits_[i] : 0) + (i < other.digits_.size() ? other.digits_[i] : 0) + carry;
    sum.digits_.push_back(value % base);
    carry = value / base;
  }
  return sum;
}

ExactCount ExactCount::minus(const ExactCount& other) const {
  ExactCount result = *this;
  std::uint32_t borrow = 0;
  for (std::size_t i = 0; i < digits_.size(); ++i) {
    const std::uint32_t taken = (i < other.digits_.size() ? other.digits_[i] : 0) + borrow;
    borrow = result.digits_[i] < taken ? 1 : 0;
    result.digits_[i] += borrow * base;
    result.digits_[i] -= taken;
  }
  while (result.digits_.size() > 1 && result.digits_.back() == 0) result.digits_.pop_back();
  return result;
}

ExactCount ExactCount::times_power(std::uint32_t factor, std::size_t exponent) const {
  ExactCount result = *this;
  for (std::size_t i = 0; i < exponent; ++i) result.multiply(factor);
  return result;
}

std::strong_ordering ExactCount::operator<=>(const ExactCount& other) const {
  if (digits_.size() != other.digits_.size()) return digits_.size() <=> other.digits_.size();
  for (std::size_t i = digits_.size(); i-- > 0;) {
    if (digits_[i] != other.digits_[i]) return digits_[i] <=> other.digits_[i];
  }
  return std::strong_ordering::equal;
}

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

}  // namespace assay::inline support
