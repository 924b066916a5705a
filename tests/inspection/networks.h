#pragma once

// Small networks with random weights, records for them, and hypotheses written as functions.

#include <functional>
#include <memory>

#include <assay/array_math.h>
#include <assay/extend/random.h>
#include <assay/inspection.h>
#include <assay/model.h>
#include <assay/records.h>

namespace assay::inspection::testing_networks {

using Ints = std::vector<std::int64_t>;

class RandomWeights {
 public:
  explicit RandomWeights(GraphBuilder& build, std::uint64_t seed = 3) : build_(build), rng_(seed) {}
  ValueId operator()(const std::string& name, Shape shape) {
    std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
    for (float& v : values) v = static_cast<float>(rng_.normal() * 0.6);
    return build_.constant(name, Array::of<float>(std::move(shape), values));
  }

 private:
  GraphBuilder& build_;
  Rng rng_;
};

// [N, 4] -> dense 5, tanh -> dense 3.
inline Graph dense_network() {
  GraphBuilder b("dense");
  RandomWeights w(b);
  ValueId x = b.input("x", DType::float32, {-1, 4});
  x = b.add("Tanh", "tanh", {b.add("Gemm", "fc1", {x, w("w1", {4, 5}), w("b1", {5})})});
  b.output(b.add("Gemm", "fc2", {x, w("w2", {5, 3}), w("b2", {3})}));
  return b.build();
}

// [N, 1, 6, 6] -> conv 3, relu, pool -> conv 2, tanh -> dense 2.
inline Graph conv_network() {
  GraphBuilder b("conv");
  RandomWeights w(b);
  ValueId x = b.input("x", DType::float32, {-1, 1, 6, 6});
  x = b.add("Relu", "relu1",
            {b.add("Conv", "conv1", {x, w("w1", {3, 1, 3, 3}), w("b1", {3})}, {{"pads", Ints{1, 1, 1, 1}}})});
  x = b.add("MaxPool", "pool", {x}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
  x = b.add("Tanh", "tanh2", {b.add("Conv", "conv2", {x, w("w2", {2, 3, 2, 2}), w("b2", {2})})});
  x = b.add("Flatten", "flat", {x});
  b.output(b.add("Gemm", "fc", {x, w("w3", {8, 2}), w("b3", {2})}));
  return b.build();
}

struct Recurrent {
  std::string op = "LSTM", direction = "forward";
  std::int64_t layout = 0, linear_before_reset = 0;
  bool peepholes = false, last_only = false;
};

// Tokens [N, 7] of 6 symbols -> vectors of 3 -> 4 recurrent units -> dense 3 on the last state.
inline Graph recurrent_network(const Recurrent& form = {}) {
  GraphBuilder b("recurrent");
  RandomWeights w(b);
  const std::int64_t directions = form.direction == "bidirectional" ? 2 : 1,
                     gates = form.op == "LSTM" ? 4 : 3;
  const ValueId tokens = b.input("tokens", DType::int64, {-1, 7});
  ValueId x = b.add("Gather", "embed", {w("table", {6, 3}), tokens});
  if (form.layout == 0) x = b.add("Transpose", "to_time", {x}, {{"perm", Ints{1, 0, 2}}});
  const ValueId y = b.value("all"), h = b.value("last");
  std::vector<ValueId> inputs{x, w("W", {directions, gates * 4, 3}), w("R", {directions, gates * 4, 4}),
                              w("B", {directions, 2 * gates * 4})};
  if (form.peepholes) inputs.insert(inputs.end(), {no_value, no_value, no_value, w("P", {directions, 12})});
  std::map<std::string, Attribute> attributes{
      {"hidden_size", std::int64_t{4}}, {"direction", form.direction}, {"layout", form.layout}};
  if (form.op == "GRU") attributes["linear_before_reset"] = form.linear_before_reset;
  b.node({"cell", form.op, inputs, {form.last_only ? no_value : y, h}, attributes});
  ValueId last = h;
  if (form.layout == 0) last = b.add("Transpose", "by_record", {h}, {{"perm", Ints{1, 0, 2}}});
  last = b.add("Flatten", "flat", {last});
  b.output(b.add("Gemm", "fc", {last, w("wd", {4 * directions, 3}), w("bd", {3})}));
  return b.build();
}

inline DatasetPtr random_records(const Shape& record, std::size_t count, std::int64_t classes = 3) {
  Shape shape{static_cast<std::int64_t>(count)};
  shape.insert(shape.end(), record.begin(), record.end());
  Rng rng(11);
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (float& v : values) v = static_cast<float>(rng.normal());
  std::vector<std::int64_t> labels;
  for (std::size_t i = 0; i < count; ++i)
    labels.push_back(static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(classes))));
  return from_arrays(Array::of<float>(shape, values), labels);
}

// Tokens 1 to 5; the end of every record is filled up with up to two of token 0.
inline DatasetPtr random_tokens(std::size_t count, bool padded = false) {
  Rng rng(12);
  std::vector<std::int64_t> tokens, labels;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t filled = padded ? 7 - rng.below(3) : 7;
    for (std::size_t t = 0; t < 7; ++t)
      tokens.push_back(t < filled ? static_cast<std::int64_t>(1 + rng.below(5)) : 0);
    labels.push_back(static_cast<std::int64_t>(rng.below(3)));
  }
  return from_arrays(Array::of<std::int64_t>({static_cast<std::int64_t>(count), 7}, tokens), labels);
}

// A hypothesis as a function of a record's number.
class Written final : public Annotator {
 public:
  using Function = std::function<std::vector<float>(std::size_t record)>;
  Written(Hypothesis hypothesis, Shape positions, Function function)
      : hypotheses_{std::move(hypothesis)},
        positions_(std::move(positions)),
        function_(std::move(function)) {}
  const std::vector<Hypothesis>& hypotheses() const override { return hypotheses_; }
  std::string version() const override { return "1"; }
  Behaviours annotate(const RecordBlock& records) const override {
    Behaviours all{positions_, {}};
    for (const std::size_t record : records.batch.indices) {
      const std::vector<float> values = function_(record);
      all.values.insert(all.values.end(), values.begin(), values.end());
    }
    return all;
  }

 private:
  std::vector<Hypothesis> hypotheses_;
  Shape positions_;
  Function function_;
};

inline AnnotatorChoice written(const std::string& name, Shape positions, Written::Function function,
                               BehaviourKind kind = BehaviourKind::numeric) {
  return {name,
          std::make_shared<Written>(Hypothesis{name, kind, {}}, std::move(positions), std::move(function))};
}

inline InspectedModel inspected(Graph graph, int threads = 1) {
  return {"net", std::make_shared<const Session>(std::move(graph), SessionOptions{.threads = threads})};
}

// A value of the network for one record, as the engine gives it.
inline std::vector<float> value_of(const Session& session, const Dataset& data, std::size_t record,
                                   ValueId value) {
  const Tensors values = session.run(session.bind(data.read(std::span(&record, 1))), std::span(&value, 1));
  const Array host = values.at(value).to(DType::float32).contiguous();
  return {host.elements<float>(), host.elements<float>() + host.count()};
}

inline const ScoreRow& row_of(const Inspection& inspection, std::optional<std::size_t> unit,
                              const std::string& hypothesis, const std::string& measure = "pearson") {
  const auto found = std::ranges::find_if(inspection.rows, [&](const ScoreRow& row) {
    return row.unit == unit && row.hypothesis == hypothesis && row.measure == measure;
  });
  EXPECT_NE(found, inspection.rows.end()) << hypothesis << " " << measure;
  return found == inspection.rows.end() ? inspection.rows.at(0) : *found;
}

}  // namespace assay::inspection::testing_networks
