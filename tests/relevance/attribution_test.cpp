// Whole networks: conservation, routing, agreement with plain writings and with gradients.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include <assay/array_math.h>
#include <assay/error.h>
#include <assay/extend/random.h>
#include <assay/model.h>
#include <assay/relevance.h>
#include "tests/engine/graphs.h"

namespace assay::relevance {
namespace {

using namespace assay::test;

Array records(Shape shape, std::uint64_t seed = 3) {
  Rng rng(seed);
  return random_array(rng, std::move(shape)).clone();
}

Relevance explain(const Session& session, const std::string& method, const Array& input,
                  std::vector<ValueId> wanted, AttributionOptions options = {}, const Target& target = {}) {
  const auto attribution = make_attribution(method, session, options);
  return attribution->attribute({{session.graph().inputs()[0], input}}, target, wanted);
}

ValueId named(const Graph& graph, const std::string& name) { return graph.find_value(name).value(); }

double total(const Array& t) { return t.to(DType::float64).sum().item<double>(); }
double total(const std::vector<double>& v) {
  double s = 0;
  for (const double x : v) s += x;
  return s;
}

float difference(const Array& a, const Array& b) { return (a - b).abs().max().item<float>(); }

TEST(Lrp, ConservesInEveryLayerWithoutBias) {
  const Graph graph = lenet_like();
  const Session session(graph, {.threads = 1});
  std::vector<ValueId> wanted = {graph.inputs()[0]};
  for (const Layer& layer : session.layers()) wanted.push_back(layer.value);
  for (const char* method : {"lrp-0", "epsilon", "z-plus", "epsilon-plus", "epsilon-plus-flat",
                             "epsilon-gamma-box", "w-square", "flat"}) {
    const Relevance r =
        explain(session, method, records({6, 1, 12, 12}).abs(), wanted, {.bias_absorbs = false});
    for (const ValueId id : wanted) {
      const double scale = r.values.at(id).abs().sum().item<double>() + 1;
      EXPECT_NEAR(total(r.values.at(id)), total(r.start), 2e-3 * scale)
          << method << " at " << graph.value(id).name;
    }
  }
}

// No relevance of a record reaches what the record has no part in.
TEST(EveryAttribution, GivesConstantsAndWhatIsMadeOfThemNone) {
  Rng rng(4);
  GraphBuilder build("constants");
  const ValueId x = build.input("x", DType::float32, {-1, 3});
  const ValueId scale = build.constant("scale", random_array(rng, {3}));
  const ValueId made = build.add("Exp", "made", {scale});
  const ValueId scaled = build.add("Mul", "scaled", {x, made});
  const ValueId weights = build.constant("weights", random_array(rng, {3, 2}));
  build.output(build.add("MatMul", "scores", {scaled, weights}));
  const Graph graph = build.build();
  const Session session(graph, {.threads = 1});
  for (const AttributionInfo& info : attributions()) {
    for (const ValueId id : {made, weights}) {
      const Relevance found = explain(session, info.name, records({4, 3}), {x, id});
      EXPECT_GT(found.values.at(x).abs().sum().item<double>(), 0) << info.name;
      EXPECT_EQ(found.values.at(id).abs().sum().item<double>(), 0) << info.name;
    }
  }
}

// Everything that the compiled way knows, and values with several readers.
Graph all_of_the_compiled_way() {
  using Ints = std::vector<std::int64_t>;
  Rng rng(5);
  GraphBuilder build("compiled");
  int count = 0;
  const auto add = [&](const std::string& op, std::vector<ValueId> inputs,
                       std::map<std::string, Attribute> attributes = {}) {
    return build.add(op, op + std::to_string(count++), std::move(inputs), std::move(attributes));
  };
  const auto weights = [&](Shape shape) { return build.constant("", random_array(rng, std::move(shape))); };
  const auto integers = [&](const Ints& values) {
    return build.constant("", Array::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values));
  };
  const auto number = [&](float value) {
    return build.constant("", Array::of<float>({}, std::vector{value}));
  };
  const ValueId x = build.input("x", DType::float32, {-1, 3, 8, 8});
  const ValueId first =
      add("Relu", {add("Conv", {x, weights({6, 3, 3, 3}), weights({6})}, {{"pads", Ints(4, 1)}})});
  const ValueId twice = add("Add", {first, add("Tanh", {add("Mul", {first, number(0.5F)})})});
  const std::vector<ValueId> normal{twice, weights({6}), weights({6}), weights({6}),
                                    build.constant("", Array::of<float>({6}, std::vector<float>(6, 1.5F)))};
  const ValueId clipped = add("Clip", {add("BatchNormalization", normal), number(-0.5F), number(1)});
  const ValueId pooled = add("MaxPool", {add("Pad", {clipped, integers({0, 0, 1, 0, 0, 0, 0, 1})})},
                             {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}});
  const ValueId meant =
      add("AveragePool", {twice},
          {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 0, 0}}});
  const ValueId apart = add("Sub", {add("Slice", {pooled, integers({0}), integers({3}), integers({3})}),
                                    add("Slice", {meant, integers({1}), integers({4}), integers({3})})});
  const ValueId joined =
      add("Concat", {add("LeakyRelu", {apart}), add("Gelu", {apart})}, {{"axis", std::int64_t{1}}});
  const ValueId turned = add("Transpose", {joined}, {{"perm", Ints{0, 2, 3, 1}}});
  const ValueId rows = add("Reshape", {turned, integers({0, -1, 12})});
  const ValueId dense = add("Add", {add("MatMul", {rows, weights({12, 7})}), weights({7})});
  const ValueId mean =
      add("ReduceMean", {add("Abs", {dense}), integers({1})}, {{"keepdims", std::int64_t{0}}});
  const ValueId most = add("ReduceMax", {dense, integers({1})}, {{"keepdims", std::int64_t{0}}});
  build.output(add("Gemm", {add("Add", {mean, add("Neg", {most})}), weights({7, 4}), weights({4})}));
  return build.build();
}

// One program of a back end does what the nodes do one by one, for every value and target.
TEST(Lrp, CompiledEpsilonEqualsNodeByNode) {
  const Graph graphs[] = {all_of_the_compiled_way(), lenet_like(), lenet_like(true), resnet_like(),
                          branching()};
  for (const Graph& graph : graphs) {
    const Session compiled(graph, {.threads = 2}), plain(graph, {.threads = 1, .engine = "reference"});
    Shape shape = compiled.shape(graph.inputs()[0]);
    shape[0] = 37;
    // Few different numbers, so that maxima tie and values are 0.
    const Array x = (records(shape) * 2).round() / 2;
    std::vector<ValueId> values{graph.inputs()[0]};
    for (const Layer& layer : compiled.layers()) values.push_back(layer.value);
    Target target;
    for (std::int64_t i = 0; i < 37; ++i) target.classes.push_back(i % 5 == 0 ? Target::no_class : i % 3);
    for (const auto& [method, tolerance] :
         {std::pair("epsilon", 2e-5F), std::pair("lrp-0", 1e-3F), std::pair("epsilon[ties=first]", 2e-5F)}) {
      const auto quick = make_attribution(method, compiled), slow = make_attribution(method, plain);
      for (const ValueId id : values) {
        SCOPED_TRACE(graph.name() + " " + method + " " + graph.value(id).name);
        if (&graph == graphs && id != compiled.logits()) {
          EXPECT_EQ(std::ranges::count(quick->reads(std::span(&id, 1)), compiled.logits()), 0)
              << "it starts at the decision itself";
        }
        for (const Target& of : {Target{}, target}) {
          const Tensors given{{graph.inputs()[0], x}};
          const Relevance got = quick->attribute(given, of, std::span(&id, 1)),
                          want = slow->attribute(given, of, std::span(&id, 1));
          const float scale = std::max(1.0F, want.values.at(id).abs().max().item<float>());
          EXPECT_LE(difference(got.values.at(id), want.values.at(id)), tolerance * scale);
          ASSERT_EQ(got.start.size(), want.start.size());
          for (std::size_t i = 0; i < got.start.size(); ++i)
            EXPECT_NEAR(got.start[i], want.start[i], 1e-4 * (1 + std::abs(want.start[i])));
        }
      }
    }
    for (const std::int64_t wrong : {-2, 1000}) {
      const ValueId in = graph.inputs()[0];
      EXPECT_THROW(make_attribution("epsilon", compiled)
                       ->attribute({{in, x}}, {std::vector<std::int64_t>(37, wrong)}, std::span(&in, 1)),
                   Error);
    }
  }
}

TEST(Lrp, StartsAtTheChosenClassAndLeavesRecordsOut) {
  const Graph graph = lenet_like(/*softmax=*/true);
  const Session session(graph, {.threads = 1});
  const Array x = records({3, 1, 12, 12});
  const ValueId logits = session.logits(), input = graph.inputs()[0];
  const Array z = session.run({{input, x}}, std::span(&logits, 1)).at(logits);
  const Relevance r = explain(session, "epsilon", x, {logits, input}, {}, {{2, Target::no_class, 4}});
  EXPECT_FLOAT_EQ(r.values.at(logits)[0][2].item<float>(), z[0][2].item<float>());
  EXPECT_DOUBLE_EQ(r.start[1], 0);
  EXPECT_EQ(r.values.at(input)[1].abs().sum().item<float>(), 0);
  EXPECT_GT(r.values.at(input)[0].abs().sum().item<float>(), 0);
  EXPECT_THROW(explain(session, "epsilon", x, {input}, {}, {{5, 0, 0}}), Error);
  EXPECT_THROW(explain(session, "epsilon", x, {input}, {}, {{0}}), Error);
}

// For networks of ReLU, max pooling and linear layers without bias LRP-0 is gradient x input.
TEST(Lrp, WithoutBiasesLrp0IsGradientTimesInput) {
  Net net("plain");
  ValueId x = net.input({-1, 2, 8, 8});
  x = net.max_pool("pool", net.relu("relu", net.conv("conv", x, 2, 4, 3, {}, false)));
  x = net.builder.add("MatMul", "logits", {net.flatten("flat", x), net.weight("w", {36, 5})});
  const Graph graph = net.build(x);
  const Session session(graph, {.threads = 1});
  const Array input = records({4, 2, 8, 8});
  const auto lrp = explain(session, "lrp-0", input, {graph.inputs()[0]}).values.at(graph.inputs()[0]);
  const auto gradient =
      explain(session, "gradient-x-input", input, {graph.inputs()[0]}).values.at(graph.inputs()[0]);
  EXPECT_LT(difference(lrp, gradient), 1e-3);
  EXPECT_GT(lrp.abs().sum().item<float>(), 0.1);
}

TEST(Attributions, SaliencyAndGradCamAreTheirFormulasOfTheGradient) {
  const Graph graph = lenet_like();
  const Session session(graph, {.threads = 1});
  const ValueId x = graph.inputs()[0];
  const Array input = records({3, 1, 12, 12});
  const Array gradient = gradients_of(session, {{x, input}}, {}, std::span(&x, 1)).at(x);
  EXPECT_LT(difference(explain(session, "saliency", input, {x}).values.at(x), gradient.abs()), 1e-6);
  const Array cam = explain(session, "grad-cam", input, {x}).values.at(x);
  for (int i = 0; i < 3; ++i) EXPECT_LT(difference(cam[i], input[i] * gradient[i].mean()), 1e-6);
}

TEST(Attributions, HaveTheNamesOfOtherTools) {
  const Graph graph = lenet_like();
  const Session session(graph, {.threads = 1});
  const ValueId x = graph.inputs()[0];
  for (const auto& [name, meant] : {std::pair("lrp", "epsilon"), std::pair("ig", "integrated-gradients"),
                                    std::pair("gradcam", "grad-cam")}) {
    const Array input = records({2, 1, 12, 12});
    EXPECT_TRUE(array::equal(explain(session, name, input, {x}).values.at(x),
                             explain(session, meant, input, {x}).values.at(x)));
  }
}

TEST(Lrp, MaxPoolSharesEquallyAmongTiesWithAnyStrideAndPadding) {
  Net net("pool");
  ValueId x = net.input({-1, 1, 3, 3});
  x = net.builder.add("MaxPool", "pool", {x},
                      {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}, {"pads", Ints{0, 0, 1, 1}}});
  x = net.builder.add("ReduceSum", "sum", {net.flatten("flat", x)}, {});
  const Graph graph = net.build(x);
  const Session session(graph, {.threads = 1});
  const Array input = array::tensor({1.f, 1.f, 2.f, 1.f, 0.f, 2.f, 3.f, 3.f, 5.f}).reshape({1, 1, 3, 3});
  const auto relevance = [&](const char* method) {
    return explain(session, method, input, {graph.inputs()[0]}).values.at(graph.inputs()[0]);
  };
  // Windows: {1 1 1 0} -> 1 shared by three, {2 2} shared, {3 3} shared, {5}.
  const Array expected =
      array::tensor({1.f / 3, 1.f / 3, 1.f, 1.f / 3, 0.f, 1.f, 1.5f, 1.5f, 5.f}).reshape({1, 1, 3, 3});
  EXPECT_LT(difference(relevance("epsilon"), expected), 1e-4);
  const Array first = array::tensor({1.f, 0.f, 2.f, 0.f, 0.f, 0.f, 3.f, 0.f, 5.f}).reshape({1, 1, 3, 3});
  EXPECT_LT(difference(relevance("epsilon[ties=first]"), first), 1e-4);
  EXPECT_THROW(relevance("epsilon[ties=last]"), Error);
}

TEST(Lrp, MaximaOfAxesAndOperandsShareAmongTiesOrGiveTheFirstAll) {
  for (const char* engine : {"auto", "reference"}) {
    Net net("maxima");
    const ValueId x = net.input({-1, 2, 3});
    const ValueId axes =
        net.builder.constant("axes", Array::of<std::int64_t>({1}, std::vector<std::int64_t>{2}));
    const ValueId rows = net.builder.add("ReduceMax", "rows", {x, axes}, {{"keepdims", std::int64_t{0}}});
    const ValueId both = net.builder.add("Max", "both", {rows, rows});
    const Graph graph = net.build(net.builder.add("ReduceSum", "sum", {both}, {}));
    const Session session(graph, {.threads = 1, .engine = engine});
    const Array input = array::tensor({4.f, 1.f, 4.f, 2.f, 3.f, 3.f}).reshape({1, 2, 3});
    const auto relevance = [&](const char* method) {
      return explain(session, method, input, {x}).values.at(x).flatten();
    };
    EXPECT_LT(difference(relevance("epsilon"), array::tensor({2.f, 0.f, 2.f, 0.f, 1.5f, 1.5f})), 1e-4);
    EXPECT_LT(difference(relevance("epsilon[ties=first]"), array::tensor({4.f, 0.f, 0.f, 0.f, 3.f, 0.f})),
              1e-4);
  }
}

TEST(Lrp, SumsShareInProportionAndConcatenationsRoute) {
  Net net("branches");
  const ValueId x = net.input({-1, 4});
  const ValueId a = net.relu("a", x), b = net.builder.add("Tanh", "b", {x});
  const ValueId sum = net.builder.add("Add", "sum", {a, b});
  const ValueId joined = net.builder.add("Concat", "joined", {sum, a}, {{"axis", std::int64_t{1}}});
  const Graph graph = net.build(net.builder.add("MatMul", "logits", {joined, net.weight("w", {8, 3})}));
  const Session session(graph, {.threads = 1});
  const Array input = records({5, 4}).abs() + 0.1;
  const ValueId va = named(graph, "a"), vb = named(graph, "b"), vs = named(graph, "sum"),
                vj = named(graph, "joined");
  const auto r = explain(session, "lrp-0", input, {va, vb, vs, vj, x}).values;
  EXPECT_LT(difference(r.at(vs), r.at(vj).narrow(1, 0, 4)), 1e-6);
  const Array tanh = array::tanh(input), share = r.at(vs) / (input + tanh);
  EXPECT_LT(difference(r.at(vb), share * tanh), 1e-4);
  EXPECT_LT(difference(r.at(va), share * input + r.at(vj).narrow(1, 4, 4)), 1e-4);
  EXPECT_LT(difference(r.at(x), r.at(va) + r.at(vb)), 1e-5);
}

// Normalisation folded into the convolution: as if the graph had one convolution with the folded weights.
TEST(Lrp, BatchNormalisationIsFoldedIntoTheConvolutionBefore) {
  const auto build = [](bool folded) {
    Net net("bn");
    const ValueId x = net.input({-1, 2, 6, 6});
    const Array w = random_array(net.rng, {3, 2, 3, 3}), shift = random_array(net.rng, {3}),
                mean = random_array(net.rng, {3});
    const Array scale = uniform_array(net.rng, {3}, 0.5, 1.5),
                variance = uniform_array(net.rng, {3}, 0.5, 1.5);
    const Array last = random_array(net.rng, {48, 4});
    ValueId y;
    if (folded) {
      const Array s = scale / array::sqrt(variance + 1e-5);
      const ValueId weight = net.builder.constant("w", w * s.reshape({3, 1, 1, 1}));
      const ValueId bias = net.builder.constant("b", shift - mean * s);
      y = net.builder.add("Conv", "conv", {x, weight, bias});
    } else {
      y = net.builder.add("Conv", "conv", {x, net.builder.constant("w", w)});
      y = net.builder.add("BatchNormalization", "norm",
                          {y, net.builder.constant("s", scale), net.builder.constant("t", shift),
                           net.builder.constant("m", mean), net.builder.constant("v", variance)});
    }
    y = net.flatten("flat", net.relu("relu", y));
    return net.build(net.builder.add("MatMul", "logits", {y, net.builder.constant("last", last)}));
  };
  const Graph one = build(true), two = build(false);
  const Session folded(one, {.threads = 1}), separate(two, {.threads = 1});
  const Array input = records({3, 2, 6, 6});
  for (const char* method : {"epsilon-plus", "epsilon-gamma-box", "alpha2-beta1"}) {
    const Array a = explain(folded, method, input, {one.inputs()[0]}).values.at(one.inputs()[0]);
    const Array b = explain(separate, method, input, {two.inputs()[0]}).values.at(two.inputs()[0]);
    EXPECT_LT(difference(a, b) / a.abs().max().item<float>(), 1e-3) << method;
  }
}

TEST(Lrp, PassesResidualRecurrentAndAttentionNetworks) {
  const struct {
    Graph graph;
    Array input;
  } cases[] = {
      {resnet_like(), records({3, 3, 8, 8})},
      {lstm_like(), array::remainder(array::arange(21).reshape({3, 7}), 11)},
      {transformer_like(), records({3, 4, 6})},
  };
  for (const auto& [graph, input] : cases) {
    const Session session(graph, {.threads = 1});
    std::vector<ValueId> wanted;
    for (const Layer& layer : session.layers()) wanted.push_back(layer.value);
    const Relevance r = explain(session, "epsilon", input, wanted);
    for (const auto& [id, relevance] : r.values) {
      EXPECT_TRUE(array::isfinite(relevance).all().item<bool>()) << graph.value(id).name;
    }
    // (The first layer of the transformer is the query projection, which only shapes the attention weights.)
    const Layer& last = session.penultimate_layer();
    EXPECT_GT(r.values.at(last.value).abs().sum().item<float>(), 1e-4) << graph.name();
    EXPECT_TRUE(carries_relevance(session, last)) << graph.name();
  }
}

// Attention weights are constants: nothing flows into the scores, all into the values.
TEST(Lrp, AttentionPassesThroughTheValuesOnly) {
  const Graph graph = transformer_like();
  const Session session(graph, {.threads = 1});
  const ValueId scores = named(graph, "scores"), context = named(graph, "context"),
                value = named(graph, "v_heads");
  const auto r = explain(session, "lrp-0", records({2, 4, 6}), {scores, context, value}).values;
  EXPECT_EQ(r.at(scores).abs().sum().item<float>(), 0);
  EXPECT_NEAR(total(r.at(value)), total(r.at(context)), 1e-3 * (1 + r.at(value).abs().sum().item<double>()));
  EXPECT_GT(r.at(value).abs().sum().item<float>(), 1e-3);
}

// One LSTM step without bias: everything that arrives at the cell's signal goes to x (the initial state is
// zero).
TEST(Lrp, LstmAgreesWithThePlainWritingOfTwoSteps) {
  Net net("cell");
  const ValueId x = net.input({2, -1, 3});
  const ValueId y = net.builder.value("lstm");
  const Array w = random_array(net.rng, {1, 8, 3}), u = random_array(net.rng, {1, 8, 2});
  net.builder.node({.name = "lstm",
                    .op = "LSTM",
                    .inputs = {x, net.builder.constant("w", w), net.builder.constant("u", u)},
                    .outputs = {no_value, y},
                    .attributes = {{"hidden_size", std::int64_t{2}}}});
  const ValueId flat = net.builder.add("Squeeze", "flat", {y, net.builder.constant("axes", integers({0}))});
  const Graph graph = net.build(net.builder.add("Identity", "logits", {flat}));
  const Session session(graph, {.threads = 1});
  const Array input = records({2, 1, 3});
  const Array got = explain(session, "lrp-0", input, {x}, {.epsilon = 0}, {{1}}).values.at(x);

  // Gates i, o, f, c. Two steps written out for hidden unit k.
  const Array W = w[0], U = u[0], x0 = input[0][0], x1 = input[1][0];
  const auto part = [](const Array& t, int gate) { return t.narrow(0, 2 * gate, 2); };
  const Array a0 = array::mv(W, x0);
  const Array c0 = array::sigmoid(part(a0, 0)) * array::tanh(part(a0, 3)),
              h0 = array::sigmoid(part(a0, 1)) * array::tanh(c0);
  const Array a1 = array::mv(W, x1) + array::mv(U, h0);
  const Array kept = array::sigmoid(part(a1, 2)) * c0,
              fresh = array::sigmoid(part(a1, 0)) * array::tanh(part(a1, 3)), c1 = kept + fresh;
  const Array h1 = array::sigmoid(part(a1, 1)) * array::tanh(c1);
  Array start = array::zeros({2});
  start[1].copy_(h1[1]);
  const Array rc = start / c1, to_fresh = rc * fresh / part(a1, 3);
  const Array rx1 = x1 * array::mv(part(W, 3).t(), to_fresh), rh0 = h0 * array::mv(part(U, 3).t(), to_fresh);
  const Array rx0 = x0 * array::mv(part(W, 3).t(), (rh0 + rc * kept) / part(a0, 3));
  EXPECT_LT(difference(got[1][0], rx1), 1e-4);
  EXPECT_LT(difference(got[0][0], rx0), 1e-4);
  EXPECT_NEAR(total(got), h1[1].item<double>(), 1e-4);
}

// Without bias the whole of every direction's relevance reaches the inputs.
TEST(Lrp, RecurrentCellsConserveInBothDirections) {
  const std::pair<const char*, std::int64_t> cells[] = {{"LSTM", 4}, {"GRU", 3}, {"RNN", 1}};
  for (const auto& [op, gates] : cells) {
    for (const std::int64_t before_reset : {0, 1}) {
      Net net(op);
      const ValueId x = net.input({5, -1, 3});
      const ValueId y = net.builder.value("y");
      Attributes attributes{{"hidden_size", std::int64_t{4}}, {"direction", std::string("bidirectional")}};
      if (std::string(op) == "GRU") attributes["linear_before_reset"] = before_reset;
      net.builder.node({.name = "cell",
                        .op = op,
                        .inputs = {x, net.weight("w", {2, gates * 4, 3}), net.weight("u", {2, gates * 4, 4})},
                        .outputs = {y},
                        .attributes = attributes});
      const ValueId batch_first = net.builder.add("Transpose", "t", {y}, {{"perm", Ints{2, 0, 1, 3}}});
      const Graph graph = net.build(net.dense("logits", net.flatten("flat", batch_first), 40, 3));
      const Session session(graph, {.threads = 1});
      const auto r = explain(session, "epsilon", records({5, 2, 3}), {x, y}, {.epsilon = 1e-9}).values;
      EXPECT_NEAR(total(r.at(x)), total(r.at(y)), 1e-3 * (1 + r.at(x).abs().sum().item<double>())) << op;
      EXPECT_GT(r.at(x).abs().sum().item<float>(), 1e-3) << op;
    }
  }
}

// With gamma 1 the layer normalisation is linear in what it keeps constant: x (s - mean s).
TEST(Lrp, LayerNormalisationSpeltOutEqualsTheOperator) {
  const auto build = [](bool spelt_out) {
    Net net("norm");
    GraphBuilder& b = net.builder;
    const ValueId x = net.input({-1, 6});
    const ValueId scale = b.constant("scale", uniform_array(net.rng, {6}, 0.5, 1.5)),
                  shift = net.bias("shift", 6);
    ValueId y;
    if (spelt_out) {
      const ValueId axes = b.constant("axes", integers({-1}));
      const auto scalar = [&](const std::string& name, float v) {
        return b.constant(name, Array::of<float>({}, std::vector<float>{v}));
      };
      const ValueId centred = b.add("Sub", "sub", {x, b.add("ReduceMean", "mean", {x, axes})});
      const ValueId variance =
          b.add("ReduceMean", "variance", {b.add("Pow", "pow", {centred, scalar("two", 2)}), axes});
      const ValueId deviation = b.add("Sqrt", "sqrt", {b.add("Add", "eps", {variance, scalar("e", 1e-5f)})});
      y = b.add("Add", "ln",
                {b.add("Mul", "scaled", {b.add("Div", "div", {centred, deviation}), scale}), shift});
    } else {
      y = b.add("LayerNormalization", "ln", {x, scale, shift}, {{"axis", std::int64_t{-1}}});
    }
    return net.build(net.dense("logits", y, 6, 3));
  };
  const Graph one = build(true), two = build(false);
  const Session a(one, {.threads = 1}), b(two, {.threads = 1});
  const Array input = records({4, 6});
  const Array ra = explain(a, "lrp-0", input, {one.inputs()[0]}, {.epsilon = 0}).values.at(one.inputs()[0]);
  const Array rb = explain(b, "lrp-0", input, {two.inputs()[0]}, {.epsilon = 0}).values.at(two.inputs()[0]);
  EXPECT_LT(difference(ra, rb) / rb.abs().max().item<float>(), 1e-3);
}

// Tokens that comparisons turn into rows of 0 and 1: relevance ends at the layer that reads these, as if they
// were given.
TEST(Lrp, ReachesLayersBehindTokensThatAreCompared) {
  const auto build = [](bool compared) {
    Net net("tokens", 7);
    GraphBuilder& b = net.builder;
    ValueId rows =
        net.input(compared ? Shape{-1, 3, 1} : Shape{-1, 3, 4}, compared ? DType::int64 : DType::float32);
    if (compared) {
      const ValueId all = b.constant("all", integers({0, 1, 2, 3}));
      rows = b.add("Cast", "rows", {b.add("Equal", "same", {rows, all})}, {{"to", std::int64_t{1}}});
    }
    const ValueId x = b.add("MatMul", "embedding", {rows, net.weight("table", {4, 5})});
    const ValueId hidden = net.relu("relu", net.dense("hidden", net.flatten("flatten", x), 15, 6));
    return net.build(net.dense("logits", hidden, 6, 3));
  };
  const std::vector<std::int64_t> tokens{0, 3, 1, 2, 2, 0};
  std::vector<float> rows(24);
  for (std::size_t i = 0; i < tokens.size(); ++i) rows[i * 4 + static_cast<std::size_t>(tokens[i])] = 1;
  const auto relevance = [](const Graph& graph, const Array& input) {
    const Session session(graph, {.threads = 1});
    const ValueId layer = session.layer("embedding").value;
    return explain(session, "epsilon", input, {layer}).values.at(layer);
  };
  const Array given = relevance(build(false), Array::of<float>({2, 3, 4}, rows)),
              compared = relevance(build(true), Array::of<std::int64_t>({2, 3, 1}, tokens));
  EXPECT_GT(given.abs().sum().item<float>(), 0.1F);
  EXPECT_LT(difference(given, compared), 1e-6);
}

TEST(Lrp, NamesTheNodeWithoutARuleBeforeAnythingRuns) {
  Net net("odd");
  const ValueId x = net.input({-1, 4});
  const ValueId y = net.builder.add(
      "ReduceProd", "the_product",
      {x, net.builder.constant("axes", Array::of<std::int64_t>({1}, std::vector<std::int64_t>{1}))},
      {{"keepdims", std::int64_t{1}}});
  const ValueId joined =
      net.builder.add("Concat", "joined", {net.relu("r", y), x}, {{"axis", std::int64_t{1}}});
  Graph graph = net.build(net.dense("logits", joined, 5, 2));
  const Session session(graph, {.threads = 1});
  try {
    make_attribution("epsilon", session, {.wanted = {x}});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::unsupported);
    EXPECT_NE(std::string(error.what()).find("the_product"), std::string::npos) << error.what();
  }
  EXPECT_NO_THROW(make_attribution("epsilon", session, {.wanted = {joined}}));
  EXPECT_THROW(make_attribution("deeplift", session), Error);
  EXPECT_THROW(make_attribution("epsilom", session), Error);
  EXPECT_THROW(
      make_attribution("epsilon", session, {.layer_rules = {{"nowhere", "flat"}}, .wanted = {joined}}),
      Error);
}

// x [n, 1, 4] raised to three powers: every element has three copies.
TEST(Attributions, OperandsThatAreBroadcastTakeWhatTheirCopiesGet) {
  Net net("powers");
  const ValueId x = net.input({-1, 1, 4});
  const ValueId exponents = net.builder.constant("e", Array::of<float>({3, 1}, std::vector<float>{1, 2, 3}));
  const ValueId powers = net.builder.add("Pow", "powers", {x, exponents});
  const Graph graph = net.build(net.dense("logits", net.flatten("flat", powers), 12, 2));
  const Session session(graph, {.threads = 1});
  const Array input = records({5, 1, 4}).abs() + 0.1;
  for (const char* method : {"epsilon", "alpha2-beta1", "deeplift"}) {
    const Tensors r = explain(session, method, input, {x, powers}).values;
    const Array one = explain(session, method, input, {x}).values.at(x);
    ASSERT_EQ(r.at(x).shape(), input.shape()) << method;
    ASSERT_EQ(one.shape(), input.shape()) << method;
    EXPECT_LT(difference(r.at(x), r.at(powers).sum({1}, true)), 1e-5) << method;
    EXPECT_LT(difference(one, r.at(x)), 1e-5) << method;
  }
}

TEST(Lrp, LayerRulesReplaceTheCompositesChoice) {
  const Graph graph = lenet_like();
  const Session session(graph, {.threads = 1});
  const Array input = records({2, 1, 12, 12}).abs();
  const ValueId x = graph.inputs()[0];
  const Array flat =
      explain(session, "epsilon", input, {x}, {.layer_rules = {{"conv1", "flat"}}}).values.at(x);
  const Array plain = explain(session, "epsilon", input, {x}).values.at(x);
  EXPECT_GT(difference(flat, plain), 1e-4);
}

TEST(DeepLift, IsComplete) {
  for (const Graph& graph : {lenet_like(), resnet_like()}) {
    const Session session(graph, {.threads = 1});
    Shape shape = graph.value(graph.inputs()[0]).shape;
    shape[0] = 1;
    const std::vector<ValueId> wanted{graph.inputs()[0]};
    for (std::uint64_t seed = 1; seed < 4; ++seed) {
      const Relevance r = explain(session, "deeplift", records(shape, seed), wanted);
      EXPECT_NEAR(total(r.values.at(wanted[0])), r.start[0], 1e-4 * std::max(1.0, std::abs(r.start[0])))
          << graph.name();
      EXPECT_GT(std::abs(r.start[0]), 1e-3);
    }
  }
}

// The greatest of a window at the record and at the reference differ: who wins on the greater side takes all.
TEST(DeepLift, ExtremesBelongToTheWinnerOnTheSideThatDecides) {
  for (const auto& [op, expected] :
       {std::pair("ReduceMax", std::vector{3.f, 0.f, 0.f, -2.f}),  // 5 - 2 by the first; 2 - 4 by the second
        std::pair("ReduceMin",
                  std::vector{0.f, -1.f, 1.f, 0.f})}) {  // 1 - 2 by the second; 1 - 0 by the first
    Net net("extremes");
    const ValueId x = net.input({-1, 2});
    const ValueId axes =
        net.builder.constant("axes", Array::of<std::int64_t>({1}, std::vector<std::int64_t>{1}));
    const Graph graph = net.build(net.builder.add(op, "extreme", {x, axes}, {{"keepdims", std::int64_t{1}}}));
    const Session session(graph, {.threads = 1});
    const auto of = [&](std::vector<float> record, std::vector<float> reference) {
      return explain(session, "deeplift", array::tensor(std::move(record)).reshape({1, 2}), {x},
                     {.outputs = true, .baseline = array::tensor(std::move(reference))})
          .values.at(x);
    };
    const bool greatest = std::string(op) == "ReduceMax";
    const Array up = greatest ? of({5, 1}, {0, 2}) : of({3, 1}, {2, 4});
    const Array down = greatest ? of({2, 1}, {0, 4}) : of({1, 3}, {0, 2});
    EXPECT_LT(difference(up.flatten(), array::tensor(std::vector{expected[0], expected[1]})), 1e-5) << op;
    EXPECT_LT(difference(down.flatten(), array::tensor(std::vector{expected[2], expected[3]})), 1e-5) << op;
  }
}

TEST(DeepLift, LeavesComputedPositionsAsTheyAre) {
  Net net("pick");
  const ValueId x = net.input({-1, 4}), place = net.builder.input("place", DType::int64, {-1, 1});
  const ValueId next = net.builder.add(
      "Add", "next",
      {place, net.builder.constant("one", Array::of<std::int64_t>({1}, std::vector<std::int64_t>{1}))});
  const ValueId picked = net.builder.add("GatherElements", "picked", {x, next}, {{"axis", std::int64_t{1}}});
  const Graph graph = net.build(net.dense("logits", net.relu("r", picked), 1, 2));
  const Session session(graph, {.threads = 1});
  const Array input = records({3, 4}).abs() + 0.1;
  const Array places = array::tensor(std::vector<std::int64_t>{0, 1, 2}).unsqueeze(1);
  const std::vector<ValueId> wanted{x};
  const Relevance r =
      make_attribution("deeplift", session, {})->attribute({{x, input}, {place, places}}, {}, wanted);
  const Array& found = r.values.at(x);
  for (std::int64_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(found[i][i + 1].item<double>(), r.start[static_cast<std::size_t>(i)], 1e-5);
    EXPECT_EQ(found[i][0].item<float>(), 0);
  }
}

// Messages of a graph added up at its nodes, as graph networks are exported: node i gets those of its edges.
TEST(LayerwiseRelevance, PassesThroughScatteredElements) {
  for (const std::string how : {"add", "none"}) {
    Net net("scatter");
    const auto integers = [&](const std::vector<std::int64_t>& values) {
      return net.builder.constant("", Array::of<std::int64_t>({1}, values));
    };
    const ValueId x = net.input({-1, 4});
    const ValueId tensor =
        net.builder.add("Slice", "tensor", {x, integers({0}), integers({2}), integers({1})});
    const ValueId places = net.builder.constant(
        "places", Array::of<std::int64_t>({1, 4}, how == "add" ? std::vector<std::int64_t>{0, 0, 1, 0}
                                                               : std::vector<std::int64_t>{2, 3, 4, 6}));
    const ValueId wide = net.builder.add("Concat", "wide", {tensor, x, tensor}, {{"axis", std::int64_t{1}}});
    const ValueId like = net.builder.add("Shape", "like", {x});
    const ValueId there = net.builder.add("Expand", "there", {places, like});
    const ValueId put = net.builder.add("ScatterElements", "put", {wide, there, x},
                                        {{"axis", std::int64_t{1}}, {"reduction", how}});
    const Graph graph = net.build(put);
    const Session session(graph, {.threads = 1});
    const Array input = records({2, 4}).abs() + 0.1;
    AttributionOptions options;
    options.epsilon = 1e-9;
    for (std::int64_t target = 0; target < 8; ++target) {
      const Relevance r = explain(session, "epsilon", input, {x}, options, {{target, target}});
      for (std::int64_t n = 0; n < 2; ++n) {
        // Every output is a sum of elements of x, whose parts are the elements as often as they are in it.
        const auto v = [&](std::int64_t i) { return input[n][i].item<double>(); };
        double expected[4] = {};
        const std::int64_t base[8] = {0, 1, 0, 1, 2, 3, 0, 1};
        if (how == "add") {
          expected[base[target]] += v(base[target]);
          if (target == 0) expected[0] += v(0), expected[1] += v(1), expected[3] += v(3);
          if (target == 1) expected[2] += v(2);
        } else {
          const std::int64_t from[8] = {0, 1, 0, 1, 2, 3, 3, 1};
          expected[from[target]] = v(from[target]);
        }
        double sum = 0;
        for (std::int64_t i = 0; i < 4; ++i) {
          EXPECT_NEAR(r.values.at(x)[n][i].item<double>(), expected[i], 1e-5) << how << target << i;
          sum += expected[i];
        }
        EXPECT_NEAR(r.start[static_cast<std::size_t>(n)], sum, 1e-5) << how << target;
      }
    }
  }
}

TEST(LayerwiseRelevance, GoesBackToTheLargestElements) {
  Net net("top");
  const ValueId x = net.input({-1, 5});
  const ValueId two = net.builder.constant("two", Array::of<std::int64_t>({1}, std::vector<std::int64_t>{2}));
  const ValueId values = net.builder.value("values"), order = net.builder.value("order");
  net.builder.node(
      {.name = "top", .op = "TopK", .inputs = {x, two}, .outputs = {values, order}, .attributes = {}});
  const Graph graph = net.build(net.dense("logits", net.relu("r", values), 2, 2));
  const Session session(graph, {.threads = 1});
  const Array input = array::tensor(std::vector<float>{1, 5, 2, 4, 3}).unsqueeze(0);
  const Array found = explain(session, "lrp-0", input, {x}).values.at(x)[0];
  for (const std::int64_t i : {0, 2, 4}) EXPECT_EQ(found[i].item<float>(), 0);
  EXPECT_NE(found[1].item<float>(), 0);
  EXPECT_NE(found[3].item<float>(), 0);
}

// Scores beside the class and the place that their positions stand for, as detectors have them.
TEST(LayerwiseRelevance, PassesByPositionsAndTheirRemainders) {
  Net net("labels");
  const ValueId x = net.input({-1, 6});
  const ValueId two = net.builder.constant("two", Array::of<std::int64_t>({1}, std::vector<std::int64_t>{2}));
  const ValueId three =
      net.builder.constant("three", Array::of<std::int64_t>({}, std::vector<std::int64_t>{3}));
  const ValueId values = net.builder.value("values"), order = net.builder.value("order");
  net.builder.node(
      {.name = "top", .op = "TopK", .inputs = {x, two}, .outputs = {values, order}, .attributes = {}});
  const auto number = [&](const std::string& op) {
    return net.builder.add("Cast", op + "_real", {net.builder.add(op, op, {order, three})},
                           {{"to", std::int64_t{1}}});
  };
  const ValueId rows =
      net.builder.add("Concat", "rows", {values, number("Mod"), number("Div")}, {{"axis", std::int64_t{1}}});
  const Graph graph = net.build(net.dense("logits", rows, 6, 2));
  const Session session(graph, {.threads = 1});
  const Array input = array::tensor(std::vector<float>{1, 6, 2, 3, 5, 4}).unsqueeze(0);
  const auto weights = graph.constant(*graph.find_value("logits/w")).as<float>();
  for (const std::string method : {"lrp-0", "gradient-x-input"}) {
    const Array found = explain(session, method, input, {x}, {}, {{0}}).values.at(x)[0];
    for (const std::int64_t i : {0, 2, 3, 5}) EXPECT_EQ(found[i].item<float>(), 0) << method;
    EXPECT_NEAR(found[1].item<float>(), 6 * weights[0], 1e-5) << method;
    EXPECT_NEAR(found[4].item<float>(), 5 * weights[1], 1e-5) << method;
  }
}

TEST(IntegratedGradients, AreCompleteAndBetterWithMoreSteps) {
  const Graph graph = transformer_like();
  const Session session(graph, {.threads = 1});
  const ValueId x = graph.inputs()[0], inner = named(graph, "ln_shift");
  const Array input = records({2, 4, 6}), start = records({1, 4, 6}, 9);
  AttributionOptions options;
  options.baseline = start[0];
  const Relevance r = explain(session, "integrated-gradients[steps=300]", input, {x, inner}, options);
  EXPECT_NEAR(total(r.values.at(x)), total(r.start), 1e-2 * (1 + std::abs(total(r.start))));
  EXPECT_NEAR(total(r.values.at(inner)), total(r.start), 1e-2 * (1 + std::abs(total(r.start))));
}

TEST(GradientTimesInput, AgreesWithFiniteDifferences) {
  const Graph graph = transformer_like();
  const Session session(graph, {.threads = 1});
  const ValueId x = graph.inputs()[0], logits = session.logits();
  const Array input = records({1, 4, 6});
  const Array r = explain(session, "gradient-x-input", input, {x}, {}, {{1}}).values.at(x);
  for (int i = 0; i < 4; ++i) {
    Array up = input.clone(), down = input.clone();
    up[0][i][i].add_(1e-2), down[0][i][i].add_(-1e-2);
    const auto score = [&](const Array& t) {
      return session.run({{x, t}}, std::span(&logits, 1)).at(logits)[0][1].item<double>();
    };
    EXPECT_NEAR(r[0][i][i].item<double>(), (score(up) - score(down)) / 2e-2 * input[0][i][i].item<double>(),
                5e-3);
  }
}

// Steps in front inside, and a constant of as many records as run at a time.
Graph in_groups(bool fixed) {
  Net net("groups");
  GraphBuilder& b = net.builder;
  ValueId x = b.add("Transpose", "in_front", {net.input({fixed ? 4 : -1, 5, 3})}, {{"perm", Ints{1, 0, 2}}});
  x = b.add("MatMul", "dense", {x, net.weight("dense/w", {3, 4})});
  const ValueId row = b.constant("row", random_array(net.rng, {1, 1, 4}));
  const ValueId rows =
      b.add("Concat", "rows", std::vector<ValueId>(fixed ? 4 : 1, row), {{"axis", std::int64_t{1}}});
  x = net.relu("relu", b.add("Add", "add", {x, rows}));
  x = b.add("ReduceMean", "mean", {x, b.constant("axes", integers({0}))}, {{"keepdims", std::int64_t{0}}});
  return net.build(net.dense("logits", x, 4, 3));
}

TEST(Attributions, ExplainNetworksThatRunInGroupsAsOthers) {
  const Session fixed(in_groups(true), {.threads = 1}), free(in_groups(false), {.threads = 1});
  ASSERT_EQ(fixed.group(), 4);
  const Array x = records({6, 5, 3});
  const Target target{{0, 1, 2, Target::no_class, 1, 0}};
  for (const char* method : {"epsilon", "deeplift", "integrated-gradients", "gradient-x-input"}) {
    const auto explained = [&](const Session& session) {
      return explain(session, method, x, {session.graph().inputs()[0], named(session.graph(), "relu")}, {},
                     target);
    };
    const Relevance here = explained(fixed), there = explained(free);
    ASSERT_EQ(here.start.size(), 6U) << method;
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(here.start[i], there.start[i], 1e-4) << method;
    for (const char* name : {"input", "relu"}) {
      const Array &a = here.values.at(named(fixed.graph(), name)),
                  &b = there.values.at(named(free.graph(), name));
      ASSERT_EQ(a.shape(), b.shape()) << method;
      EXPECT_LT(difference(a, b), 1e-4) << method << " at " << name;
    }
  }
}

TEST(Catalogue, EveryAttributionRunsAndDescribesItself) {
  ASSERT_FALSE(attributions().empty());
  const Graph graph = lenet_like();
  const Session session(graph, {.threads = 1});
  for (const AttributionInfo& info : attributions()) {
    const auto attribution = make_attribution(info.name, session);
    EXPECT_FALSE(attribution->describe().empty());
    const Array r =
        attribution->attribute({{graph.inputs()[0], records({2, 1, 12, 12}).abs()}}, {}, graph.inputs())
            .values.at(graph.inputs()[0]);
    EXPECT_EQ(r.shape(), Shape({2, 1, 12, 12})) << info.name;
    EXPECT_TRUE(array::isfinite(r).all().item<bool>()) << info.name;
    EXPECT_GT(r.flatten(1).abs().amax(1).min().item<float>(), 0) << info.name << " explains nothing";
    EXPECT_FALSE(array::equal(r[0], r[1])) << info.name << " explains all records alike";
  }
}

}  // namespace
}  // namespace assay::relevance
