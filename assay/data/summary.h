#pragma once

// The contents of a data set, for people: one streaming pass.

#include <string>
#include <vector>

#include <assay/dataset.h>
#include <assay/progress.h>
#include "assay/data/files/image.h"

namespace assay::inline data {

struct DataSummary {
  double low = 0, high = 0, mean = 0, deviation = 0;          // of all elements
  std::vector<std::size_t> class_records;                     // per class
  std::size_t duplicates = 0;                                 // records equal to an earlier one
  std::size_t conflicting = 0;                                // of those, with another label
  std::vector<std::pair<std::size_t, std::size_t>> examples;  // first few (record, the earlier one)
  std::vector<double> target_low, target_high, target_mean;   // per target
};

DataSummary summarise(const DatasetPtr& dataset, Progress& progress);

// Whether the targets of a sample of the records are zeros and ones, some of each.
bool has_binary_targets(const Dataset& data);

// Positions in `dataset` of the records whose label differs from that of the record with the same id in
// `other`, ascending. Throws Error{mismatch} when a record is not in `other` or one of the sets has no
// labels.
std::vector<std::size_t> other_labels(const Dataset& dataset, const Dataset& other);

// A grid of pictures, each class in separate rows where there are labels, chosen at random by the seed.
// Values are mapped from the valid range (or the range found) to black and white. Throws Error{usage} when
// records are not pictures.
Image contact_sheet(const Dataset& dataset, std::size_t columns, std::size_t rows, std::uint64_t seed);

// One record's picture from its elements [channels, height, width], mapped from [low, high].
Image picture_of(std::span<const float> elements, const Shape& shape, float low, float high);

}  // namespace assay::inline data
