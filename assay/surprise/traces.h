#pragma once

// Activation traces as the surprise measures read them, and the buckets of surprise coverage
// (Kim, Feldt and Yoo, ICSE 2019; docs/algorithms/surprise.md).

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace assay::surprise {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

// A view: records x dimensions, row-major, and each record's class (predicted or labelled, the caller
// decides).
struct Traces {
  std::span<const float> values;
  std::size_t dimensions = 0;
  std::span<const std::int32_t> classes;

  std::size_t records() const { return classes.size(); }
  const float* row(std::size_t record) const { return values.data() + record * dimensions; }
};

// Throws Error{mismatch} unless there is at least one dimension and values hold records x dimensions.
void require_sound(const Traces& traces);

// Records with a NaN or an infinity, ascending. They are left out of references and score Status::non_finite.
std::vector<std::size_t> non_finite_records(const Traces& traces);

enum class SurpriseStatus : std::uint8_t {
  ok,
  non_finite,       // the record has a NaN or an infinity; its score is NaN
  no_training,      // no training record of its class; +infinity (DSA: NaN)
  too_few_records,  // its class has one training record, hence no covariance; +infinity
  single_class,     // DSA is undefined when the training set has one class; NaN
  coinciding,       // DSA: dist_b is 0, identical traces in two classes; 0 if dist_a is 0, else +infinity
};

// Speed only; no result depends on them. Memory: threads x query_block x reference_block floats.
struct BlockOptions {
  std::size_t threads = 0;  // 0: all
  std::size_t query_block = 128, reference_block = 1024;
};

enum class BucketPlace : std::uint8_t { inside, below, overflow, not_a_number };
struct SurpriseBucket {
  BucketPlace place = BucketPlace::inside;
  std::size_t index = 0;  // in [0, n), meaningful inside only
};

// Which of n equal, half-open buckets (a, b] over (lower, upper] holds the value. Values at or under lower
// are below, values over upper overflow; nothing is clipped. REQUIRES n > 0 and finite lower < upper
// (Error{usage}).
SurpriseBucket surprise_bucket(double value, double lower, double upper, std::size_t n);

}  // namespace assay::surprise
