#pragma once

// Finding near-duplicates.

#include <map>
#include <string>
#include <vector>

#include <assay/tensor.h>

namespace assay::explore {

// Records seen so far, by the decisions of the networks. Two are near-duplicates when all networks decide the
// same and the root mean square of their difference is at most `distance`. A look-up compares only with those
// of about the same length.
class Seen {
 public:
  explicit Seen(double distance) : distance_(distance) {}
  // False when a near-duplicate is there already; otherwise the record is remembered. `point` is kept, not
  // copied.
  bool add(const std::vector<std::int64_t>& answers, const Array& point);

 private:
  double distance_;
  std::map<std::vector<std::int64_t>, std::multimap<double, Array>>
      by_length_;  // root mean square of the record itself
};

}  // namespace assay::explore
