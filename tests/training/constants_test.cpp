// Which float constants are trained, and that they move as the gradient of the loss says.

#include <assay/training.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include <assay/dataset.h>
#include <assay/error.h>
#include <assay/records.h>
#include <assay/tensor.h>
#include "assay/training/trainer.h"
#include "assay/training/weights.h"
#include "tests/engine/graphs.h"

namespace assay::training {
namespace {

using test::integers;
using test::Ints;
using test::Net;

constexpr std::int64_t records = 5;
constexpr std::int64_t classes = 3;

DatasetPtr data_of(Shape record) {
  Rng rng(9);
  record.insert(record.begin(), records);
  return from_arrays(test::random_array(rng, record), {0, 1, 2, 1, 0});
}

// The mean cross-entropy of the softmax of the scores, in float64.
double loss_of(const Graph& graph, const Array& inputs, std::span<const std::int64_t> labels) {
  const Session session(graph, {.threads = 1, .engine = "reference"});
  const ValueId out = graph.outputs()[0];
  const Array scores = session.run(session.bind(inputs), std::span(&out, 1)).at(out).contiguous();
  const std::span<const float> values = scores.as<float>();
  double sum = 0;
  for (std::size_t r = 0; r < labels.size(); ++r) {
    double all = 0;
    for (std::size_t c = 0; c < classes; ++c) all += std::exp(static_cast<double>(values[r * classes + c]));
    sum += std::log(all) - values[r * classes + static_cast<std::size_t>(labels[r])];
  }
  return sum / static_cast<double>(labels.size());
}

// One step of gradient descent of rate 1 moves each element of the named constants by minus the difference
// quotient of the loss, on every engine.
void expect_descends(const Graph& graph, const std::vector<std::string>& names,
                     const ConstantChoice& choice = {}) {
  const Shape declared = graph.value(graph.inputs()[0]).shape;
  const DatasetPtr data = data_of(Shape(declared.begin() + 1, declared.end()));
  Recipe recipe;
  recipe.optimiser = "sgd", recipe.learning_rate = 1, recipe.initialiser = "keep";
  recipe.batch = records, recipe.epochs = 1;
  const std::vector<std::int64_t> labels{0, 1, 2, 1, 0};
  Rng rng(9);
  Shape shape = declared;
  shape[0] = records;
  const Array inputs = test::random_array(rng, shape);
  for (const char* engine : {"reference", "auto"}) {
    const Graph trained =
        train_chosen(graph, data, nullptr, recipe, choice, {.threads = 1, .engine = engine}, silence()).graph;
    for (const std::string& name : names) {
      const ValueId id = *graph.find_value(name);
      const auto before = graph.constant(id).as<float>(), after = trained.constant(id).as<float>();
      double moved = 0;
      for (std::size_t i = 0; i < before.size(); i += 1 + before.size() / 7) {
        constexpr float step = 5e-3F;
        const auto at = [&](float by) {
          std::vector<float> values(before.begin(), before.end());
          values[i] += by;
          GraphBuilder edit(graph);
          edit.replace_constant(id, Array::of<float>(graph.constant(id).shape(), values));
          return loss_of(edit.build(), inputs, labels);
        };
        const double gradient = (at(step) - at(-step)) / (2.0 * step);
        EXPECT_NEAR(after[i] - before[i], -gradient, 3e-4 + 0.01 * std::abs(gradient))
            << graph.name() << " " << name << " " << i << " " << engine;
        moved += std::abs(after[i] - before[i]);
      }
      EXPECT_GT(moved, 1e-4) << graph.name() << " " << name << " " << engine;
    }
  }
}

ValueId dense_scores(Net& net, ValueId x, std::int64_t width) {
  const ValueId mean = net.builder.add("ReduceMean", "mean", {x, net.builder.constant("axis", integers({1}))},
                                       {{"keepdims", std::int64_t{0}}});
  return net.dense("logits", mean, width, classes);
}

TEST(TrainedConstants, PositionsTokensAndScalesMoveAsTheirGradientSays) {
  Net net("transformer");
  GraphBuilder& b = net.builder;
  const ValueId x = net.input({-1, 6, 4});
  const ValueId shape = b.add("Shape", "shape", {x}, {{"end", std::int64_t{1}}});
  const ValueId rows = b.add("Concat", "rows", {shape, b.constant("one_token", integers({1, 4}))},
                             {{"axis", std::int64_t{0}}});
  const ValueId token = b.add("Expand", "expand", {net.weight("token", {1, 1, 4}), rows});
  const ValueId with_token = b.add("Concat", "with_token", {token, x}, {{"axis", std::int64_t{1}}});
  const ValueId placed = b.add("Add", "placed", {with_token, net.weight("positions", {1, 7, 4})});
  const ValueId centred = b.add("Sub", "shifted", {placed, net.weight("shift", {4})});
  const ValueId block =
      b.add("Tanh", "tanh", {b.add("MatMul", "product", {centred, net.weight("w", {4, 8})})});
  const ValueId scaled = b.add("Mul", "layer_scale", {block, net.weight("gamma", {8})});
  const ValueId divided = b.add(
      "Div", "div", {scaled, b.constant("temperature", Array::of<float>({1}, std::vector<float>{1.7F}))});
  const Graph graph = net.build(dense_scores(net, divided, 8));
  expect_descends(graph,
                  {"token", "positions", "shift", "w", "gamma", "temperature", "logits/w", "logits/b"});
}

TEST(TrainedConstants, KernelsOfContractionsMove) {
  Net net("einsum");
  GraphBuilder& b = net.builder;
  const ValueId x = net.input({-1, 6, 4});
  const ValueId y = b.add("Einsum", "einsum", {x, net.weight("kernel", {4, 2, 5})},
                          {{"equation", std::string("btd,dhe->bthe")}});
  const ValueId flat =
      b.add("Reshape", "flat", {net.relu("relu", y), b.constant("to", integers({0, 0, 10}))});
  const Graph graph = net.build(dense_scores(net, flat, 10));
  expect_descends(graph, {"kernel"});
  const std::vector<Weight> weights = find_weights(graph);
  const auto found = std::ranges::find(weights, *graph.find_value("kernel"), &Weight::value);
  ASSERT_NE(found, weights.end());
  EXPECT_EQ(found->role, Role::kernel);
  EXPECT_EQ(found->fan_in, 4);
  EXPECT_EQ(found->fan_out, 10);
}

// As exporters write PyTorch's cells: gates cut out and put together again in another order.
TEST(TrainedConstants, RecurrentKernelsMoveThroughSliceConcatAndUnsqueeze) {
  for (const char* cell : {"GRU", "LSTM", "RNN"}) {
    constexpr std::int64_t hidden = 3;
    const std::int64_t gates = cell[0] == 'G' ? 3 : cell[0] == 'L' ? 4 : 1;
    Net net(cell);
    GraphBuilder& b = net.builder;
    const ValueId x = net.input({-1, 5, 4});
    const ValueId time = b.add("Transpose", "time", {x}, {{"perm", Ints{1, 0, 2}}});
    const ValueId zero = b.constant("zero", integers({0}));
    const auto slice = [&](const std::string& name, ValueId of, std::int64_t from, std::int64_t to) {
      return b.add(
          "Slice", name,
          {of, b.constant(name + "/from", integers({from})), b.constant(name + "/to", integers({to})), zero});
    };
    const ValueId whole = net.weight("r_all", {gates * hidden, hidden});
    ValueId r = whole;
    if (gates > 1) {
      const ValueId last = slice("last_gate", whole, (gates - 1) * hidden, gates * hidden);
      const ValueId first = slice("first_gates", whole, 0, (gates - 1) * hidden);
      r = b.add("Concat", "gates", {last, first}, {{"axis", std::int64_t{0}}});
    }
    const ValueId both =
        b.add("Concat", "biases", {net.bias("b_ih", gates * hidden), net.bias("b_hh", gates * hidden)},
              {{"axis", std::int64_t{0}}});
    const auto in_front = [&](const std::string& name, ValueId of) {
      return b.add("Unsqueeze", name, {of, zero});
    };
    const ValueId all_w = net.weight("w_all", {2, gates * hidden, 4});
    const ValueId state = b.value("state");
    b.node({.name = "cell",
            .op = cell,
            .inputs = {time, slice("w_direction", all_w, 1, 2), in_front("r", r), in_front("b", both)},
            .outputs = {no_value, state},
            .attributes = {{"hidden_size", hidden}}});
    const ValueId last = b.add("Squeeze", "squeeze", {state, zero});
    const Graph graph = net.build(net.dense("logits", last, hidden, classes));
    expect_descends(graph, {"w_all", "r_all", "b_ih", "b_hh"});
    for (const Weight& weight : find_weights(graph)) {
      const std::string& name = graph.value(weight.value).name;
      EXPECT_EQ(weight.role == Role::recurrent, name == "r_all") << name;
      EXPECT_EQ(weight.role == Role::bias, name.starts_with("b_") || name == "logits/b") << name;
    }
    const Graph fresh = initialise(graph, "keras", 3);
    for (const char* name : {"w_all", "r_all", "b_ih", "b_hh"}) {
      const auto before = graph.constant(*graph.find_value(name)).as<float>(),
                 after = fresh.constant(*graph.find_value(name)).as<float>();
      EXPECT_FALSE(std::ranges::equal(before, after)) << cell << " " << name;
    }
  }
}

// Weights that are computed from others, as weight normalisation has them.
TEST(TrainedConstants, FactorsOfComputedKernelsMove) {
  Net net("weight normalisation");
  GraphBuilder& b = net.builder;
  const ValueId x = net.input({-1, 2, 4});
  const ValueId v = net.weight("v", {4, 6});
  const ValueId norm = b.add("ReduceL2", "norm", {v, b.constant("rows", integers({0}))});
  const ValueId w = b.add("Mul", "w", {net.weight("g", {1, 6}), b.add("Div", "unit", {v, norm})});
  const Graph graph = net.build(dense_scores(net, b.add("MatMul", "product", {x, w}), 6));
  expect_descends(graph, {"v", "g"});
}

// A GELU that is spelt out, attention's divisor, an epsilon, a causal mask, dropout's mask, bounds.
Graph settings() {
  Net net("settings");
  GraphBuilder& b = net.builder;
  const auto number = [&](const std::string& name, float value, Shape shape = {}) {
    return b.constant(name, Array::of<float>(std::move(shape), std::vector<float>{value}));
  };
  const ValueId x = net.input({-1, 6, 4});
  const ValueId halves = b.add("Mul", "halves", {x, number("half", 0.5F)});
  const ValueId bounded = b.add("Clip", "clip", {halves, number("low", -2), number("high", 2)});
  const ValueId square =
      b.add("ReduceMean", "square",
            {b.add("Mul", "squares", {bounded, bounded}), b.constant("last", integers({-1}))});
  const ValueId root = b.add("Sqrt", "root", {b.add("Add", "sum", {square, number("epsilon", 1e-5F, {1})})});
  const ValueId unit = b.add("Div", "unit", {bounded, root});
  std::vector<float> causal(36, 0), kept(4, 1);
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = i + 1; j < 6; ++j) causal[6 * i + j] = -std::numeric_limits<float>::infinity();
  kept[2] = 0;
  const ValueId turned = b.add("Transpose", "turned", {unit}, {{"perm", Ints{0, 2, 1}}});
  const ValueId attention = b.add("Softmax", "attention",
                                  {b.add("Add", "masked",
                                         {b.add("MatMul", "products", {unit, turned}),
                                          b.constant("causal", Array::of<float>({6, 6}, causal))})},
                                  {{"axis", std::int64_t{-1}}});
  const ValueId mixed = b.add("MatMul", "mixed", {attention, unit});
  const ValueId some = b.add("Mul", "some", {mixed, b.constant("kept", Array::of<float>({4}, kept))});
  const ValueId steps =
      b.add("Round", "round", {b.add("Mul", "before_steps", {x, net.weight("before_a_step", {4})})});
  return net.build(dense_scores(net, b.add("Add", "both", {some, steps}), 4));
}

std::set<std::string> names_of(const Graph& graph, const std::vector<Weight>& weights) {
  std::set<std::string> names;
  for (const Weight& weight : weights) names.insert(graph.value(weight.value).name);
  return names;
}

TEST(TrainedConstants, SettingsStayAndAreNamedWithTheirReason) {
  const Graph graph = settings();
  const TrainedConstants constants = trained_constants(graph);
  EXPECT_EQ(names_of(graph, constants.weights), (std::set<std::string>{"logits/w", "logits/b"}));
  std::map<std::string, std::string> reasons;
  for (const Untrained& one : constants.untrained) reasons[graph.value(one.value).name] = one.reason;
  EXPECT_EQ(reasons,
            (std::map<std::string, std::string>{{"half", "a single number"},
                                                {"before_a_step", "no gradient passes node 'round' (Round)"},
                                                {"epsilon", "keeps a root or a quotient finite"},
                                                {"causal", "a mask"},
                                                {"kept", "a mask"}}));
}

TEST(TrainedConstants, OnesThatAreInsistedOnAreTrained) {
  const Graph graph = settings();
  expect_descends(graph, {"kept"}, {.also = {"kept"}, .frozen = {}});
  const TrainedConstants all = trained_constants(graph, {.also = {"all"}, .frozen = {}});
  EXPECT_EQ(names_of(graph, all.weights),
            (std::set<std::string>{"half", "epsilon", "causal", "kept", "logits/w", "logits/b"}));
  EXPECT_THROW(trained_constants(graph, {.also = {"low"}, .frozen = {}}), Error);  // no gradient reaches it
  EXPECT_THROW(trained_constants(graph, {.also = {"nothing"}, .frozen = {}}), Error);
  EXPECT_THROW(trained_constants(graph, {.also = {}, .frozen = {"nothing"}}), Error);
}

TEST(TrainedConstants, ATemperatureIsTrainedWhereTheUserInsists) {
  Net net("temperature");
  GraphBuilder& b = net.builder;
  const ValueId x = b.add("Tanh", "tanh", {net.dense("hidden", net.input({-1, 4}), 4, 6)});
  const ValueId temperature = b.constant("temperature", Array::of<float>({}, std::vector<float>{1.7F}));
  const Graph graph = net.build(b.add("Div", "cooled", {net.dense("logits", x, 6, classes), temperature}));
  expect_descends(graph, {"temperature", "hidden/w"}, {.also = {"temperature"}, .frozen = {}});
  EXPECT_FALSE(names_of(graph, find_weights(graph)).contains("temperature"));
}

TEST(TrainedConstants, FrozenOnesKeepTheirValues) {
  const Graph graph = test::lenet_like();
  Recipe recipe;
  recipe.optimiser = "sgd", recipe.epochs = 1;
  Rng rng(4);
  const DatasetPtr data = from_arrays(test::random_array(rng, {4, 1, 12, 12}), {0, 1, 2, 3});
  const Graph trained =
      train_chosen(graph, data, nullptr, recipe, {.also = {}, .frozen = {"conv1", "dense1/w"}}, {}, silence())
          .graph;
  for (const auto& [name, kept] : {std::pair{"conv1/w", true},
                                   {"conv1/b", true},
                                   {"dense1/w", true},
                                   {"conv2/w", false},
                                   {"dense1/b", false}}) {
    const auto before = graph.constant(*graph.find_value(name)).as<float>(),
               after = trained.constant(*graph.find_value(name)).as<float>();
    EXPECT_EQ(std::ranges::equal(before, after), kept) << name;
  }
}

TEST(TrainedConstants, MeanAndDeviationOfInputsStay) {
  Net net("standardised");
  GraphBuilder& b = net.builder;
  const ValueId x = net.input({-1, 2, 4});
  const ValueId centred = b.add("Sub", "centred", {x, net.weight("average", {4})});
  const ValueId unit = b.add("Div", "unit", {centred, net.weight("deviation", {4})});
  const Graph graph = net.build(dense_scores(net, unit, 4));
  EXPECT_EQ(names_of(graph, find_weights(graph)), (std::set<std::string>{"logits/w", "logits/b"}));
  expect_descends(graph, {"average"}, {.also = {"average"}, .frozen = {}});
}

TEST(TrainedConstants, OnesAndZerosOfGroupsStay) {
  Net net("groups");
  GraphBuilder& b = net.builder;
  const ValueId x = net.input({-1, 4, 3, 3});
  const ValueId grouped = b.add("Reshape", "split", {x, b.constant("to", integers({0, 2, -1}))});
  const ValueId each =
      b.add("InstanceNormalization", "each", {grouped, net.weight("ones", {2}), net.weight("zeros", {2})});
  const ValueId back = b.add("Reshape", "back", {each, b.constant("from", integers({-1, 4, 3, 3}))});
  const ValueId scaled = b.add("Mul", "scaled", {back, net.weight("gamma", {4, 1, 1})});
  const Graph graph = net.build(b.add("Add", "out", {scaled, net.weight("beta", {4, 1, 1})}));
  EXPECT_EQ(names_of(graph, find_weights(graph)), (std::set<std::string>{"gamma", "beta"}));
}

TEST(TrainedConstants, PositionsAfterAProductAreNotItsBias) {
  Net net("patches");
  GraphBuilder& b = net.builder;
  const ValueId product = b.add("MatMul", "product", {net.input({-1, 6, 4}), net.weight("w", {4, 8})});
  const Graph graph =
      net.build(dense_scores(net, b.add("Add", "placed", {product, net.weight("positions", {6, 8})}), 8));
  expect_descends(graph, {"positions"});
  const Graph fresh = initialise(graph, "keras", 1);
  const ValueId id = *graph.find_value("positions");
  EXPECT_TRUE(std::ranges::equal(fresh.constant(id).as<float>(), graph.constant(id).as<float>()));
}

}  // namespace
}  // namespace assay::training
