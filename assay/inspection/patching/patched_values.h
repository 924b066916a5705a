#pragma once

// Values that are replaced in a run, their parts, and the scores that tell what it does.

#include <functional>
#include <string>
#include <vector>

#include <assay/patching.h>

namespace assay::inspection {

// [records, positions, ...], or of attention [records, heads, positions, size].
struct PatchedValue {
  std::string layer;
  ValueId value = no_value;
  std::int64_t rows = 1;                  // of a record along the first axis
  std::int64_t heads = 0, positions = 0;  // 0: there is no such axis

  // An array of the value by record, sharing its elements. REQUIRES a contiguous one.
  Array by_record(const Array& array) const;
};

// Throws Error{usage} for values whose records are not along the first axis.
PatchedValue patched_value(const Session& session, const Layer& layer);
// What the heads of every attention give, where they have an axis.
std::vector<PatchedValue> heads_of_attention(const Session& session);
// Throws Error{usage} where there is none.
std::vector<PatchedValue> required_heads(const Session& session);

// `into` with one part of `from`.
Array replaced(const Array& into, const Array& from, const PatchedValue& value, const PatchSite& site);

// Scores of records, [records, answers].
class ScoreRows {
 public:
  ScoreRows(const Session& session, const Tensors& values);
  std::size_t answers() const { return answers_; }
  std::span<const float> of(std::size_t record) const;
  bool finite(std::size_t record) const;
  // The class that is decided; with one score 0 or 1.
  std::size_t decided(std::size_t record) const;
  double threshold() const { return threshold_; }

 private:
  Array values_;
  std::size_t answers_ = 1;
  double threshold_ = 0;  // of one score
};

// Throws Error{usage} unless the decision is a row of scores for each record.
void require_scores(const Session& session, const Dataset& data);

// Sums of a numerator and a denominator over records, as a ratio with its interval.
class Ratio {
 public:
  void add(double numerator, double denominator);
  std::size_t count() const { return count_; }
  double share() const { return above_ / below_; }
  double half_width() const;  // 0 for fewer than two
  double mean_denominator() const { return below_ / static_cast<double>(count_); }

 private:
  std::size_t count_ = 0;
  double above_ = 0, below_ = 0, above_squared_ = 0, below_squared_ = 0, product_ = 0;
};

// The effect of a site, from its ratio.
PatchEffect effect_of(PatchSite site, const Ratio& ratio, std::size_t turned);

}  // namespace assay::inspection
