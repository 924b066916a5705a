#pragma once

// What a network says of each record.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <assay/evaluate.h>

namespace assay {

struct Predictions {
  std::vector<std::string> ids;
  Array outputs;                      // [records, outputs...] float32: the network's first output
  std::vector<std::int64_t> classes;  // that the network names, [records]; empty for regression
  std::vector<std::int64_t> labels;   // [records]; empty without labels
  Array targets;                      // [records, t] regression targets; 0 elements without
};

// One pass. Throws Error{unsupported} when the output does not hold its records along an axis.
Predictions predict(const Session& session, DatasetPtr dataset, const WalkOptions& options,
                    Progress& progress);

// As .npz (ids, outputs, predicted, y) or, by any other ending, as a table (.csv): id, label, predicted,
// score of each output. Throws Error{io}, Error{usage} for a table of outputs of more than 1,000 numbers a
// record.
void write_predictions(const std::filesystem::path& path, const Predictions& predictions);

}  // namespace assay
