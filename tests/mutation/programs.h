#pragma once

// A small program of training, and ways to look at data sets.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <assay/records.h>
#include <assay/session.h>
#include <assay/source_mutation.h>
#include "tests/engine/graphs.h"

namespace assay::test {
using namespace mutation;

// All records of a data set.
struct Contents {
  std::vector<std::vector<float>> inputs;
  std::vector<std::int64_t> labels;
  std::vector<std::string> ids;
  bool operator==(const Contents&) const = default;
};

inline Contents contents_of(const Dataset& data) {
  Contents all;
  std::vector<std::size_t> positions(data.size());
  for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = i;
  const Batch batch = data.read(positions);
  const auto values = batch.inputs.as<float>();
  const std::size_t size = values.size() / positions.size();
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const auto row = values.subspan(i * size, size);
    all.inputs.emplace_back(row.begin(), row.end());
    all.ids.push_back(data.id(i));
  }
  all.labels = batch.labels;
  return all;
}

// Pictures [2, 4, 4] with elements in [0, 1], labelled by `labels`; which class it is can be learned.
inline DatasetPtr pictures(const std::vector<std::int64_t>& labels, std::uint64_t seed = 1,
                           std::int64_t classes = 4) {
  Rng rng(seed);
  std::vector<float> values;
  for (const std::int64_t label : labels)
    for (std::int64_t e = 0; e < 32; ++e)
      values.push_back(static_cast<float>(0.6 * rng.uniform() + (e % classes == label ? 0.4 : 0)));
  RecordOptions options;
  for (std::int64_t c = 0; c < classes; ++c) options.class_names.push_back(fmt::format("k{}", c));
  return from_arrays(Array::of<float>({static_cast<std::int64_t>(labels.size()), 2, 4, 4}, values), labels,
                     std::move(options));
}

// 0, 1, 2, 3, 0, 1, ...
inline std::vector<std::int64_t> labels_in_turn(std::size_t count, std::int64_t classes = 4) {
  std::vector<std::int64_t> labels;
  for (std::size_t i = 0; i < count; ++i) labels.push_back(static_cast<std::int64_t>(i) % classes);
  return labels;
}

// A convolution with normalisation, dropout, two layers that keep their shapes.
inline Graph trainable_network() {
  Net net("trainable");
  ValueId x = net.input({-1, 2, 4, 4});
  x = net.relu("relu1", net.batch_norm("bn", net.conv("conv", x, 2, 3, 3), 3));
  x = net.flatten("flatten", x);
  const ValueId ratio = net.builder.constant("ratio", Array::of<float>({}, std::vector<float>{0.25F}));
  x = net.builder.add("Dropout", "dropout", {x, ratio});
  x = net.relu("relu2", net.dense("square", x, 12, 12));
  return net.build(net.builder.add("Softmax", "softmax", {net.dense("logits", x, 12, 4)}));
}

inline Program small_program(std::size_t records = 48) {
  Program program;
  program.graph = trainable_network();
  program.recipe.optimiser = "sgd[momentum=0.5]";
  program.recipe.learning_rate = 0.1;
  program.recipe.batch = 16;
  program.recipe.epochs = 3;
  program.training = pictures(labels_in_turn(records));
  program.validation = pictures(labels_in_turn(16), 2);
  return program;
}

// With something for every operator: a layer without bias and activation function, regularisation, early
// stopping.
inline Program rich_program() {
  Program program = small_program();
  Net net("rich");
  ValueId x = net.input({-1, 2, 4, 4});
  x = net.relu("relu1", net.batch_norm("bn", net.conv("conv", x, 2, 3, 3), 3));
  x = net.flatten("flatten", net.conv("mix", x, 3, 3, 1, {}, false));
  const ValueId ratio = net.builder.constant("ratio", Array::of<float>({}, std::vector<float>{0.25F}));
  x = net.builder.add("Dropout", "dropout", {x, ratio});
  x = net.relu("relu2", net.dense("square", x, 12, 12));
  program.graph = net.build(net.builder.add("Softmax", "softmax", {net.dense("logits", x, 12, 4)}));
  program.recipe.regularisation = "l2[amount=0.001,layer=square+logits]";
  program.recipe.patience = 2;
  return program;
}

// With the subject that its mutants are made by.
struct SmallStudy {
  explicit SmallStudy(Program given = small_program())
      : program(std::move(given)), session(program.graph), subject(session) {}
  Program program;
  Session session;
  Subject subject;

  ProgramMutation mutated(const std::string& text) const {
    return apply(program, subject, parse_mutant(text));
  }
  Contents data(const std::string& text) const { return contents_of(*mutated(text).program.training); }
};

}  // namespace assay::test
