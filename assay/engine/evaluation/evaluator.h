#pragma once

// The evaluation of a data set, batch by batch.

#include <cstdint>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <assay/evaluate.h>

namespace assay::inline engine {

// 1 for every row without infinities and NaNs.
std::vector<std::uint8_t> finite_rows(const Array& values, std::size_t rows);

// Session and data set must outlive this.
// What calibration sums up of one record.
struct Belief {
  bool counts = false;  // finite scores, and a label among the classes
  double confidence = 0, squared = 0, surprise = 0;
};

class Evaluator {
 public:
  Evaluator(const Session& session, const Dataset& dataset);

  // Decisions of a network for a batch.
  struct Answers {
    std::vector<std::size_t> indices;
    std::vector<std::uint8_t> finite;             // per record
    std::vector<std::int64_t> predicted, labels;  // empty where there are none
    std::vector<double> errors;                   // [records, targets]; empty for classifiers
    std::vector<Belief> beliefs = {};             // of classifiers, where there are labels
  };
  // From the network's decision value.
  Answers ask(const Batch& batch, const Array& logits) const;
  void add(const Answers& answers);
  Evaluation result() const;

 private:
  void note_non_finite(const Answers& answers);
  void classify(const Answers& answers);
  std::vector<double> errors_of(const Batch& batch, const Array& output) const;
  void regress(const Answers& answers);
  std::vector<Belief> beliefs_of(const Answers& answers, const Array& logits) const;
  void believe(const Answers& answers);

  const Session& session_;
  const Dataset& dataset_;
  bool classifies_;
  Evaluation result_;
  Calibration calibration_;
  std::size_t correct_ = 0;
  double squared_error_ = 0;
};

void to_json(nlohmann::json& json, const Evaluator::Answers& answers);
void from_json(const nlohmann::json& json, Evaluator::Answers& answers);

}  // namespace assay::inline engine
