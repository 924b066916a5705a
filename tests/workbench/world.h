#pragma once

// A small world to ask about: three epochs of a parser with an LSTM and a dense layer, and a few hypotheses.

#include <assay/inspection.h>
#include "assay/workbench/query/relations.h"

namespace assay::workbench {

inline std::vector<ModelFacts> world_models() {
  std::vector<ModelFacts> models;
  for (int epoch = 1; epoch <= 3; ++epoch) {
    ModelFacts model{
        .name = "sqlparser" + std::to_string(epoch), .path = "", .hash = "hash" + std::to_string(epoch)};
    model.attributes["epoch"] = std::int64_t{epoch};
    model.layers = {
        {.name = "lstm", .op = "LSTM", .neurons = 4, .parameters = 100, .gates = {"input", "forget"}},
        {.name = "dense", .op = "Gemm", .neurons = 3, .parameters = 12}};
    models.push_back(std::move(model));
  }
  return models;
}

// Names only: what they say of records does not matter here.
class NamedHypotheses final : public inspection::Annotator {
 public:
  explicit NamedHypotheses(std::vector<std::string> names) {
    for (std::string& name : names) hypotheses_.push_back({.name = std::move(name)});
  }
  const std::vector<inspection::Hypothesis>& hypotheses() const override { return hypotheses_; }
  inspection::Behaviours annotate(const inspection::RecordBlock& records) const override {
    return {.positions = {}, .values = std::vector<float>(records.size() * hypotheses_.size(), 0.0F)};
  }
  std::string version() const override { return "1"; }

 private:
  std::vector<inspection::Hypothesis> hypotheses_;
};

// Records of tokens over "ab_", where _ is padding.
inline DatasetPtr world_records() {
  class Tokens final : public Dataset {
   public:
    Tokens()
        : Dataset({.size = 5,
                   .record_shape = {4},
                   .dtype = DType::int64,
                   .has_labels = true,
                   .class_names = {"no", "yes"}}) {}
    Batch read(std::span<const std::size_t> indices) const override {
      Batch batch;
      std::vector<std::int64_t> tokens;
      for (const std::size_t i : indices) {
        batch.indices.push_back(i);
        batch.labels.push_back(static_cast<std::int64_t>(i % 2));
        for (std::size_t k = 0; k < 4; ++k)
          tokens.push_back(k > i ? 2 : static_cast<std::int64_t>((i + k) % 2));
      }
      batch.inputs = Array::of<std::int64_t>({static_cast<std::int64_t>(indices.size()), 4}, tokens);
      return batch;
    }
  };
  return std::make_shared<Tokens>();
}

inline const std::vector<std::string>& world_hypotheses() {
  static const std::vector<std::string> names{"keywords", "inside WHERE", "it's \"quoted\""};
  return names;
}

inline void fill(Database& database) {
  make_relations(database);
  for (const ModelFacts& model : world_models()) put_model(database, model);
  put_records(database, "test", *world_records(),
              inspection::Vocabulary{.symbols = {"a", "b", "_"}, .padding = 2});
  put_hypotheses(database, "world", NamedHypotheses(world_hypotheses()));
}

// The message of the error that `call` throws; empty where it throws none.
template <typename Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

}  // namespace assay::workbench
