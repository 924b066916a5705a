#pragma once

// Positions of a record's elements, as users write them: "0-32+40".

#include <string>
#include <vector>

#include <assay/tensor.h>

namespace assay::explore {

class FeatureSet {
 public:
  // Throws Error{usage} naming constraint and option.
  FeatureSet(std::string constraint, std::string option, const std::string& text);
  bool empty() const { return ranges_.empty(); }
  // [elements] bool. Throws Error{usage} for positions that records do not have.
  Array mask(std::int64_t elements) const;

 private:
  std::string constraint_, option_;
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges_;  // both ends included
};

}  // namespace assay::explore
