#pragma once

// When networks disagree on a record.

#include <cstdint>
#include <optional>
#include <vector>

#include <assay/explore.h>

namespace assay::explore {

// What several networks say about some records.
struct Answers {
  Tensor outputs;  // [networks, records, outputs] float32 on the host: scores, or values for regression
  Tensor classes;  // [networks, records] int64; undefined for regression
  std::vector<bool> finite;  // per record: every output of every network is
  std::vector<bool> differ;  // per record: finite, and at least two networks disagree
  // Per record: the least lead of a network's first class over its second, or for regression minus the
  // greatest distance between outputs. Falls as a disagreement comes nearer.
  std::vector<float> closeness;
  std::size_t networks() const { return static_cast<std::size_t>(outputs.size(0)); }
};

// `scores`: one [records, outputs] per network, at least two outputs each unless `regression`. Throws
// Error{mismatch} when networks have different numbers of outputs.
Answers compare(const std::vector<Tensor>& scores, const DisagreementOptions& options);

// The class that more than half of the networks name, with at least three networks; nothing when there is
// none. The label that DeepXplore gives what it finds (Pei et al., SOSP 2017).
std::optional<std::int64_t> majority(const Answers& answers, std::size_t record);
// Regression: the median output of at least three networks.
std::optional<std::vector<float>> median(const Answers& answers, std::size_t record);

}  // namespace assay::explore
