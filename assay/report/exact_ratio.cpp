#include "assay/report/exact_ratio.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <assay/error.h>

namespace assay::report {

std::strong_ordering compare(const ExactRatio& a, const ExactRatio& b) {
  const bool a_negative = a.negative && !a.numerator.is_zero(),
             b_negative = b.negative && !b.numerator.is_zero();
  if (a_negative != b_negative)
    return a_negative ? std::strong_ordering::less : std::strong_ordering::greater;
  const auto order = a.numerator.times(b.denominator) <=> b.numerator.times(a.denominator);
  return a_negative ? 0 <=> order : order;
}

ExactRatio of_decimal(std::string_view text) {
  ExactRatio ratio;
  ratio.negative = text.starts_with('-');
  if (ratio.negative) text.remove_prefix(1);
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::string_view fraction = text.substr(std::min(point + 1, text.size()));
  const auto digits = ExactCount::parse(std::string(text.substr(0, point)) + std::string(fraction));
  if (!digits) fail(Fault::usage, "'{}' is not a decimal number", text);
  ratio.numerator = *digits;
  ratio.denominator = ExactCount(1).times_power(10, fraction.size());
  return ratio;
}

ExactRatio of_double(double value) {
  ExactRatio ratio;
  ratio.negative = std::signbit(value);
  int exponent = 0;
  const double mantissa = std::ldexp(std::frexp(std::fabs(value), &exponent), 53);
  exponent -= 53;
  ratio.numerator = *ExactCount::parse(std::to_string(static_cast<std::uint64_t>(mantissa)));
  ExactCount& scaled = exponent >= 0 ? ratio.numerator : ratio.denominator;
  scaled = scaled.times_power(2, std::abs(exponent));
  return ratio;
}

ExactRatio difference(const ExactRatio& a, const ExactRatio& b) {
  const ExactCount left = a.numerator.times(b.denominator), right = b.numerator.times(a.denominator);
  ExactRatio result;
  result.denominator = a.denominator.times(b.denominator);
  if (a.negative != b.negative) {
    result.negative = a.negative;
    result.numerator = left.plus(right);
    return result;
  }
  const bool swapped = left < right;
  result.negative = a.negative != swapped;
  result.numerator = swapped ? right.minus(left) : left.minus(right);
  return result;
}

}  // namespace assay::report
