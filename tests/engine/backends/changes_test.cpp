// Layers with some other weights, from what they gave before: against the kernels.

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <cmath>
#include <set>

#include <assay/array_math.h>
#include <assay/extend/random.h>
#include <assay/model.h>
#include <assay/session.h>
#include "assay/engine/changes/changed_weights.h"
#include "tests/random_arrays.h"

namespace assay {
namespace {

using Ints = std::vector<std::int64_t>;

struct Layer {
  std::string name;
  std::string op;
  Shape record, weights;  // of the operand without the batch axis, and of the constant
  std::map<std::string, Attribute> attributes;
  std::vector<std::int64_t> changes;  // of the weights, by position
  bool bias = true;                   // there is one, and its second number changes
};

std::vector<Layer> layers() {
  const std::vector<std::int64_t> some{0, 7, 8, 30, 31};
  return {
      {"Pictures", "Conv", {3, 9, 7}, {5, 3, 3, 3}, {}, some},
      {"WithZerosAround", "Conv", {3, 9, 7}, {5, 3, 3, 3}, {{"pads", Ints{1, 2, 0, 1}}}, some},
      {"Dilated",
       "Conv",
       {2, 11, 40},
       {4, 2, 3, 2},
       {{"dilations", Ints{2, 3}}, {"pads", Ints{0, 1, 2, 1}}},
       {1, 5, 47}},
      {"KeptSize", "Conv", {2, 6, 5}, {4, 2, 2, 3}, {{"auto_pad", std::string("SAME_UPPER")}}, {1, 5, 47}},
      {"Sequences", "Conv", {4, 33}, {3, 4, 5}, {{"pads", Ints{2, 2}}}, {0, 13, 59}, false},
      {"Volumes", "Conv", {2, 5, 4, 6}, {3, 2, 2, 3, 2}, {{"pads", Ints{1, 0, 1, 0, 1, 0}}}, {0, 13, 20}},
      {"OnePosition", "Conv", {2, 3, 3}, {3, 2, 3, 3}, {}, {0, 13, 17}},
      {"Gemm", "Gemm", {40}, {40, 9}, {{"alpha", 0.5F}, {"beta", 2.0F}}, {0, 9, 77, 359}},
      {"GemmOfRows", "Gemm", {40}, {9, 40}, {{"transB", std::int64_t{1}}}, {0, 9, 77, 359}},
      {"MatMul", "MatMul", {40}, {40, 9}, {}, {0, 9, 77, 359}, false},
  };
}

class Pair {
 public:
  explicit Pair(const Layer& layer) : layer_(layer), was_(build(false)), now_(build(true)) {
    const Array one = run(was_, records(1));
    output_.assign(one.shape().begin(), one.shape().end());
    input_ = layer.record;
    input_.insert(input_.begin(), 1);
  }

  Array records(std::int64_t count) const {
    std::vector<std::int64_t> shape(layer_.record);
    shape.insert(shape.begin(), count);
    array::manual_seed(3);
    return array::randn(shape);
  }
  static Array run(const Graph& graph, const Array& x) {
    const ValueId y = graph.outputs()[0];
    return Session(graph, {.engine = "reference"}).run({{graph.inputs()[0], x}}, std::span(&y, 1)).at(y);
  }
  std::optional<ChangedWeights> change() const {
    return ChangedWeights::between(was_, was_.nodes()[0], now_, now_.nodes()[0], input_, output_);
  }
  const Graph& was() const { return was_; }
  const Graph& now() const { return now_; }
  const Shape& input() const { return input_; }
  const Shape& output() const { return output_; }

 private:
  Graph build(bool changed) const {
    GraphBuilder b("layer");
    Rng rng(5);
    const auto constant = [&](const std::string& name, Shape shape,
                              const std::vector<std::int64_t>& changes) {
      std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
      for (float& v : values) v = static_cast<float>(rng.normal());
      for (const std::int64_t i : changes) values.at(static_cast<std::size_t>(i)) += changed ? 1.5F : 0;
      return b.constant(name, Array::of<float>(std::move(shape), values));
    };
    Shape shape = layer_.record;
    shape.insert(shape.begin(), -1);
    std::vector<ValueId> inputs{b.input("x", DType::float32, shape),
                                constant("w", layer_.weights, layer_.changes)};
    const bool by_row = layer_.op == "Conv" || layer_.attributes.contains("transB");
    if (layer_.bias) inputs.push_back(constant("b", {layer_.weights[by_row ? 0 : 1]}, {1}));
    b.output(b.add(layer_.op, "layer", inputs, layer_.attributes));
    return b.build();
  }

  Layer layer_;
  Graph was_, now_;
  Shape input_, output_;
};

Array of_units(const Array& values, const ChangedWeights& change) {
  return values.index_select(1, array::tensor(change.units(), DType::int64));
}

class ChangedLayers : public testing::TestWithParam<Layer> {};

TEST_P(ChangedLayers, GiveWhatTheKernelsGive) {
  const Pair pair(GetParam());
  const auto change = pair.change();
  ASSERT_TRUE(change.has_value());
  EXPECT_LT(std::ssize(change->units()), change->width());
  const Array x = pair.records(37), before = Pair::run(pair.was(), x), want = Pair::run(pair.now(), x);
  const Array got = change->run(x, of_units(before, *change), 2);
  EXPECT_TRUE(array::allclose(got, of_units(want, *change), 1e-4, 1e-5));
  EXPECT_FALSE(array::allclose(got, of_units(before, *change), 1e-2, 1e-2));
  // All other units give what they gave.
  const Array others = array::index_copy(before, 1, array::tensor(change->units(), DType::int64), got);
  EXPECT_TRUE(array::allclose(others, want, 1e-4, 1e-5));
}

TEST_P(ChangedLayers, GiveTheSameBitsInEveryBatch) {
  const Pair pair(GetParam());
  const auto change = pair.change();
  ASSERT_TRUE(change.has_value());
  const Array x = pair.records(20), before = of_units(Pair::run(pair.was(), x), *change),
              whole = change->run(x, before, 3);
  for (const auto& [first, count] : {std::pair{0, 1}, std::pair{3, 16}, std::pair{19, 1}}) {
    const Array part = change->run(x.narrow(0, first, count), before.narrow(0, first, count), 1);
    EXPECT_TRUE(array::equal(part, whole.narrow(0, first, count))) << first;
  }
}

TEST_P(ChangedLayers, SayWhereANumberIsNotFinite) {
  const Pair pair(GetParam());
  const auto change = pair.change();
  ASSERT_TRUE(change.has_value());
  const Array x = pair.records(5);
  Array before = of_units(Pair::run(pair.was(), x), *change);
  EXPECT_TRUE(change->run(x, before, 1).defined());
  for (const float value : {std::nanf(""), -INFINITY}) {
    Array broken = before.clone();
    broken.reshape({-1})[-1].fill_(value);
    EXPECT_FALSE(change->run(x, broken, 1).defined());
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, ChangedLayers, testing::ValuesIn(layers()),
                         [](const auto& layer) { return layer.param.name; });

TEST(ChangedLayers, AllWeightsOfSomeChannels) {
  for (const Layer& layer : layers()) {
    if (layer.op != "Conv" || layer.record[0] < 4) continue;
    const Pair pair(layer);
    const Node& node = pair.was().nodes()[0];
    const std::vector<std::int64_t> channels{2};
    const auto added = ChangedWeights::of_channels(pair.was(), node, channels, pair.input(), pair.output());
    ASSERT_TRUE(added.has_value()) << layer.name;
    const Array x = pair.records(18), before = Pair::run(pair.was(), x);
    Array change = array::zeros_like(x);
    change.select(1, 2).copy_(array::randn_like(change.select(1, 2)));
    const Array got = added->run(change.narrow(1, 2, 1), before, 2);
    EXPECT_TRUE(array::allclose(got, Pair::run(pair.was(), x + change), 1e-4, 1e-5)) << layer.name;
  }
}

TEST(ChangedLayers, LeavesToOthersWhatItCannotDo) {
  Layer equal = layers()[0], strided = equal, groups = equal, many = equal;
  equal.changes = {};
  equal.bias = false;
  EXPECT_FALSE(Pair(equal).change().has_value());
  strided.attributes["strides"] = Ints{1, 2};
  EXPECT_FALSE(Pair(strided).change().has_value());
  groups.record[0] = 5 * 3;
  groups.attributes["group"] = std::int64_t{5};
  EXPECT_FALSE(Pair(groups).change().has_value());
  for (std::int64_t i = 0; i < 60; ++i) many.changes.push_back(i);
  EXPECT_FALSE(Pair(many).change().has_value());
}

// Every instruction set that this processor has, one by one.
TEST(ChangedLayers, AgreeOnEveryInstructionSet) {
  const auto all = static_cast<std::int64_t>(hwy::SupportedTargets());
  for (std::int64_t rest = all; rest != 0; rest &= rest - 1) {
    hwy::SetSupportedTargetsForTest(static_cast<decltype(hwy::SupportedTargets())>(rest & -rest));
    for (const Layer& layer : layers()) {
      const Pair pair(layer);
      const auto change = pair.change();
      const Array x = pair.records(18), before = of_units(Pair::run(pair.was(), x), *change);
      EXPECT_TRUE(
          array::allclose(change->run(x, before, 1), of_units(Pair::run(pair.now(), x), *change), 1e-4, 1e-5))
          << layer.name << " on " << (rest & -rest);
    }
  }
  hwy::SetSupportedTargetsForTest(0);
}

}  // namespace
}  // namespace assay
