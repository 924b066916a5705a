#pragma once

// When networks disagree on a record.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <assay/explore.h>
#include <assay/extend/judgement.h>

namespace assay::explore {

// What networks decide of the items of a record.
struct RecordItems {
  std::vector<task::Items> decided;  // by network
  task::Items agreed;                // of the first network, no_class where another one decides otherwise
  double differing = 0;              // share of the items that are not decided alike
};

// Decisions of several networks for some records.
struct Answers {
  std::size_t networks = 0, width = 0;
  std::vector<float> outputs;         // [networks, records, width]: scores, or values for regression
  std::vector<std::int64_t> classes;  // [networks, records]; empty for regression
  std::vector<bool> finite;           // per record: every output of every network is
  std::vector<bool> differ;           // per record: finite, and at least two networks disagree
  std::vector<RecordItems> items;     // per record; empty without items
  // Per record: the least lead of a network's first class over its second (of items, that of the item with
  // which more than the margin would differ), or for regression minus the greatest distance between outputs.
  // Falls as a disagreement comes nearer.
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
// Regression: the median output of at least three networks; of items that are known by their position the
// class that most networks decide, the least of equally many.
std::optional<std::vector<float>> median(const Answers& answers, std::size_t record);

}  // namespace assay::explore
