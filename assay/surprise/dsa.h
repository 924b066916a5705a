#pragma once

// Distance-based surprise adequacy (Kim, Feldt and Yoo, ICSE 2019): how far a record lies from its own class
// compared with how far that class's nearest record lies from the others (docs/algorithms/surprise.md).

#include <iosfwd>
#include <memory>
#include <vector>

#include "assay/surprise/neighbours.h"
#include "assay/surprise/traces.h"

namespace assay::surprise {

struct DsaScore {
  double dsa = 0;
  std::size_t nearest = 0;        // x_a: index in the training traces; meaningful for ok and coinciding
  double dist_a = 0, dist_b = 0;  // |x - x_a|, |x_a - nearest of another class|
  SurpriseStatus status = SurpriseStatus::ok;
};

// Copies the training traces. Neighbours are those of a brute-force search in float64, ties to the lowest
// index. Learning O(n d), scoring O(q n d) in matrix products; dist_b is computed once per x_a that occurs in
// a call.
class DsaReference {
 public:
  explicit DsaReference(const Traces& training);

  // Throws Error{mismatch} for another number of dimensions.
  std::vector<DsaScore> score(const Traces& test, const BlockOptions& options = {}) const;

  // Training records left out because they hold a NaN or an infinity.
  const std::vector<std::size_t>& left_out() const { return left_out_; }

  // Binary, this machine's byte order. load() throws Error{data} for anything that save() has not written.
  void save(std::ostream& out) const;
  static DsaReference load(std::istream& in);

 private:
  DsaReference() = default;
  void index();
  surprise::Range range_of(std::int32_t c) const;
  void add_dist_a(const Traces& test, std::span<const std::size_t> records, surprise::Range own,
                  std::vector<DsaScore>& scores, std::vector<std::size_t>& places,
                  const BlockOptions& options) const;
  void add_dist_b(std::span<const std::size_t> records, surprise::Range own, std::vector<DsaScore>& scores,
                  std::span<const std::size_t> places, const BlockOptions& options) const;

  std::size_t dimensions_ = 0;
  std::vector<float> values_;          // by class, then by index
  std::vector<std::int32_t> classes_;  // ascending
  std::vector<std::size_t> original_, left_out_;
  std::unique_ptr<surprise::References<float>> references_;
};

}  // namespace assay::surprise
