#pragma once

// Outputs of a network for each record, kept while something else looks at the same pass.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <assay/evaluate.h>

namespace assay::inline engine {

// The session must outlive this.
class OutputCollector {
 public:
  OutputCollector(const Session& session, DatasetPtr dataset);

  // What the network says of a batch.
  struct Said {
    std::vector<std::size_t> indices = {};
    std::vector<std::int64_t> labels = {};          // of records; empty where there are none
    std::vector<float> outputs = {}, targets = {};  // [records, ...]; no targets but for regression
    Shape output_shape = {}, target_shape = {};
  };

  // The value that has to run.
  ValueId output() const { return output_; }
  // From that value. Throws as rows_of_output().
  Said ask(const Batch& batch, const Array& value) const;
  // In the order of the data.
  void add(const Said& said);
  // Complete on the first rank.
  Predictions result(Evaluation evaluation) const;

 private:
  const Session& session_;
  DatasetPtr dataset_;
  ValueId output_;
  bool has_targets_;
  std::vector<std::string> ids_;
  std::vector<std::int64_t> labels_;
  std::vector<Array> outputs_, targets_;  // by batch
};

void to_json(nlohmann::json& json, const OutputCollector::Said& said);
void from_json(const nlohmann::json& json, OutputCollector::Said& said);

// As evaluate_parts(), for a collector that is given the same pass.
PartsEvaluation evaluate_parts(const Session& session, const DatasetPtr& dataset,
                               const std::vector<std::vector<std::size_t>>& parts, const WalkOptions& options,
                               Progress& progress, OutputCollector& outputs);

// As evaluate_parts() and predict() have them. Where there is nothing to compare with, no labels, targets or
// classes, outputs of any shape are taken for their values, and parts stay empty.
struct PredictedEvaluation {
  PartsEvaluation found;
  Predictions predictions;
};
PredictedEvaluation evaluate_and_predict(const Session& session, const DatasetPtr& dataset,
                                         const std::vector<std::vector<std::size_t>>& parts,
                                         const WalkOptions& options, Progress& progress);

}  // namespace assay::inline engine
