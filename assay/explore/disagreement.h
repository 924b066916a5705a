#pragma once

// When networks disagree on a record.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <assay/explore.h>

namespace assay::explore {

// Decisions of several networks for some records.
struct Answers {
  std::size_t networks = 0, width = 0;
  std::vector<float> outputs;         // [networks, records, width]: scores, or values for regression
  std::vector<std::int64_t> classes;  // [networks, records]; empty for regression
  std::vector<bool> finite;           // per record: every output of every network is
  std::vector<bool> differ;           // per record: finite, and at least two networks disagree
  // Per record: the least lead of a network's first class over its second, or for regression minus the
  // greatest distance between outputs. Falls as a disagreement comes nearer.
  std::vector<float> closeness;

  std::size_t records() const { return finite.size(); }
  std::span<const float> outputs_of(std::size_t network, std::size_t record) const {
    return std::span(outputs).subspan((network * records() + record) * width, width);
  }
  std::int64_t class_of(std::size_t network, std::size_t record) const {
    return classes[network * records() + record];
  }
};

// `scores`: one [records, outputs] per network, at least two outputs each unless `regression`. Throws
// Error{mismatch} when networks have different numbers of outputs.
Answers compare(const std::vector<Array>& scores, const DisagreementOptions& options);

// The class that more than half of the networks name, with at least three networks; nothing when there is
// none. The label that DeepXplore gives what it finds (Pei et al., SOSP 2017).
std::optional<std::int64_t> majority(const Answers& answers, std::size_t record);
// Regression: the median output of at least three networks.
std::optional<std::vector<float>> median(const Answers& answers, std::size_t record);

}  // namespace assay::explore
