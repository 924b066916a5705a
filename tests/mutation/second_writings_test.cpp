// Each operator against what its definition says, written out plainly.

#include <bit>
#include <cmath>
#include <map>
#include <set>

#include <assay/extend/random.h>
#include <assay/model.h>
#include "assay/mutation/operators/rounding.h"
#include "tests/mutation/subjects.h"
#include "tests/short_floats.h"

namespace assay::mutation {
namespace {

using namespace test;

std::vector<float> floats(const Graph& graph, const std::string& constant) {
  const auto span = graph.constant(*graph.find_value(constant)).as<float>();
  return {span.begin(), span.end()};
}

std::set<std::int64_t> changed_neurons(const Mutation& mutation) {
  std::set<std::int64_t> neurons;
  for (const Change& change : mutation.changes) neurons.insert(change.neuron);
  return neurons;
}

// Indices at which two arrays differ.
std::vector<std::size_t> differing(const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::bit_cast<std::uint32_t>(a[i]) != std::bit_cast<std::uint32_t>(b[i])) indices.push_back(i);
  }
  return indices;
}

// Calls visit(network, subject, layer) for every layer of every network that the operator applies to.
template <typename Visit>
void on_every_layer(const std::string& op, Visit&& visit) {
  int visited = 0;
  const Spec spec = parse_spec("mutation operator", op);
  for (const Network& network : networks()) {
    const Graph graph = network.build();
    const Subject subject = subject_of(graph);
    for (const SubjectLayer& layer : subject.layers()) {
      if (!operators().find(spec.name).refusal(layer, options_of(spec)).empty()) continue;
      SCOPED_TRACE(network.name + ": " + layer.name());
      visit(graph, subject, layer);
      ++visited;
    }
  }
  EXPECT_GE(visited, 4);
}

// The value's tensor with neurons first: [neurons, everything else].
Array by_neuron(const Array& value, const SubjectLayer& layer) {
  std::vector<std::int64_t> order(layer.layer.neuron_axes.begin(), layer.layer.neuron_axes.end());
  for (std::int64_t axis = 0; axis < value.rank(); ++axis) {
    if (std::ranges::find(layer.layer.neuron_axes, static_cast<int>(axis)) == layer.layer.neuron_axes.end())
      order.push_back(axis);
  }
  return value.permute(order).reshape({layer.layer.neurons, -1});
}

// Gaussian fuzzing
// -----------------------------------------------------------------------------------------------------

TEST(GaussianFuzzing, ChangesTheShareOfWeightsAskedForAndNoBias) {
  const Graph graph = lenet_like();
  const Subject subject = subject_of(graph);
  for (const auto& [ratio, expected] :
       std::map<std::string, std::size_t>{{"0.01", 2}, {"0.0001", 1}, {"0.5", 108}, {"1", 216}}) {
    const Mutation mutation = apply(subject, mutant("gf[ratio=" + ratio + "]", "conv2"));
    EXPECT_EQ(differing(floats(graph, "conv2/w"), floats(mutation.graph, "conv2/w")).size(), expected)
        << ratio;
    EXPECT_EQ(mutation.sites, static_cast<std::int64_t>(expected));
    EXPECT_EQ(floats(mutation.graph, "conv2/b"), floats(graph, "conv2/b"));
    EXPECT_EQ(floats(mutation.graph, "dense1/w"), floats(graph, "dense1/w"));
  }
  const Mutation with_bias = apply(subject, mutant("gf[ratio=1,bias=true]", "conv2"));
  EXPECT_EQ(differing(floats(graph, "conv2/b"), floats(with_bias.graph, "conv2/b")).size(), 6U);
}

TEST(GaussianFuzzing, IsNormalAroundTheWeight) {
  Net net("wide", 4);
  const Graph graph = net.build(net.dense("logits", net.input({-1, 200}), 200, 100));
  const Subject subject = subject_of(graph);
  const std::vector<float> before = floats(graph, "logits/w");
  double mean = 0, variance = 0;
  for (const float w : before) mean += w;
  mean /= static_cast<double>(before.size());
  for (const float w : before) variance += (w - mean) * (w - mean);
  const double deviation = std::sqrt(variance / static_cast<double>(before.size()));
  const auto noise = [&](const std::string& op) {
    const std::vector<float> after = floats(apply(subject, mutant(op, "logits")).graph, "logits/w");
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < after.size(); ++i) {
      const double step = static_cast<double>(after[i]) - before[i];
      sum += step, squares += step * step;
    }
    return std::pair(sum / static_cast<double>(after.size()),
                     std::sqrt(squares / static_cast<double>(after.size())));
  };
  const auto [relative_mean, relative] = noise("gf[ratio=1,sigma=0.5]");
  EXPECT_NEAR(relative, 0.5 * deviation, 0.02 * deviation);
  EXPECT_NEAR(relative_mean, 0, 0.02 * deviation);
  EXPECT_NEAR(noise("gf[ratio=1,sigma=3,relative=false]").second, 3, 0.1);
}

// Weight shuffling
// -----------------------------------------------------------------------------------------------------

// Neuron that element i of a kernel belongs to, by the operator's own layout.
std::int64_t owner(const Graph& graph, const SubjectLayer& layer, std::size_t input, std::int64_t i) {
  const Node& node = graph.node(layer.layer.node);
  const Shape shape = graph.constant(node.inputs[input]).shape();
  const auto from = [&](std::size_t axis) {
    std::int64_t count = 1;
    for (std::size_t a = axis; a < shape.size(); ++a) count *= shape[a];
    return count;
  };
  if (node.op == "Conv") return i / from(1);
  if (node.op == "ConvTranspose") {
    const std::int64_t channel = i / from(1), group = channel / (shape[0] / node.integer("group", 1));
    return group * shape[1] + i / from(2) % shape[1];
  }
  if (node.op == "Gemm" && node.integer("transB", 0) == 1) return i / shape[1];
  if (node.op == "MatMul" && input == 0) return i / shape[1];
  if (node.op == "Gemm" || node.op == "MatMul") return i % shape[1];
  const std::int64_t hidden =
      graph.constant(node.inputs[2]).shape()[2];  // recurrent: [directions, gates * hidden, k]
  return i / from(1) * hidden + i / shape[2] % hidden;
}

TEST(WeightShuffling, PermutesWithinTheChosenNeurons) {
  on_every_layer("ws", [](const Graph& graph, const Subject& subject, const SubjectLayer& layer) {
    const Mutation mutation = apply(subject, mutant("ws[ratio=0.3]", layer.name()));
    const std::set<std::int64_t> chosen = changed_neurons(mutation);
    EXPECT_EQ(chosen.size(), static_cast<std::size_t>(std::max<std::int64_t>(
                                 1, std::llround(0.3 * static_cast<double>(layer.layer.neurons)))));
    const Node& before = graph.node(layer.layer.node);
    const Node& after = mutation.graph.node(*mutation.graph.find_node(before.name));
    for (const LayerWeights& weights : layer.weights) {
      const auto old_values = graph.constant(before.inputs[weights.input]).as<float>();
      const auto new_values = mutation.graph.constant(after.inputs[weights.input]).as<float>();
      std::map<std::int64_t, std::multiset<float>> old_sets, new_sets;
      std::set<std::int64_t> moved;
      for (std::int64_t i = 0; i < weights.count; ++i) {
        const auto u = static_cast<std::size_t>(i);
        const std::int64_t neuron = owner(graph, layer, weights.input, i);
        old_sets[neuron].insert(old_values[u]);
        new_sets[neuron].insert(new_values[u]);
        if (old_values[u] != new_values[u]) moved.insert(neuron);
      }
      EXPECT_EQ(old_sets, new_sets);
      EXPECT_EQ(moved, chosen);
    }
  });
}

TEST(WeightShuffling, ANeuronWithEqualWeightsIsNeverChosenAndALayerOfThemIsRefused) {
  GraphBuilder b("equal");
  const ValueId x = b.input("input", DType::float32, {-1, 3});
  const ValueId mixed =
      b.constant("w", Array::of<float>({3, 3}, std::vector<float>{1, 1, 1, 2, 2, 2, 1, 2, 3}));
  const ValueId y = b.add("Gemm", "one", {x, mixed}, {{"transB", std::int64_t{1}}});
  b.output(b.add("Gemm", "two", {y, b.constant("v", Array::of<float>({3, 2}, std::vector<float>(6, 0.5f)))}));
  const Subject subject = subject_of(b.build());
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    EXPECT_EQ(changed_neurons(apply(subject, mutant("ws", "one", seed))), std::set<std::int64_t>{2});
  const Outcome outcome = plan_mutant(subject, mutant("ws", "two"));
  EXPECT_FALSE(outcome.edit);
  EXPECT_NE(outcome.reason.find("changed nothing"), std::string::npos) << outcome.reason;
  EXPECT_NE(plan_mutant(subject, mutant("gf", "two")).reason.find("all its weights are equal"),
            std::string::npos);
}

// Neuron effect blocking
// -----------------------------------------------------------------------------------------------

// The graph with the outgoing weights of these neurons zeroed by hand: along one axis of the next layer's
// kernel, where each neuron has `each` consecutive entries.
Graph zeroed(const Graph& graph, const std::string& kernel, std::int64_t axis,
             const std::set<std::int64_t>& neurons, std::int64_t each = 1) {
  const ValueId id = *graph.find_value(kernel);
  Array weights = graph.constant(id).clone();
  for (const std::int64_t neuron : neurons) weights.narrow(axis, neuron * each, each).zero_();
  GraphBuilder edit(graph);
  edit.replace_constant(id, weights);
  return edit.build();
}

TEST(NeuronEffectBlocking, IsZeroingTheOutgoingWeights) {
  struct Case {
    Graph graph;
    std::string layer, next;
    std::int64_t axis, each;
  };
  const std::vector<Case> cases{
      {lenet_like(), "conv1", "conv2/w", 1, 1},   // past ReLU and pooling
      {lenet_like(), "conv2", "dense1/w", 1, 4},  // past pooling, then flattened: 2 x 2 positions each
      {lenet_like(), "dense1", "logits/w", 1, 1},
      {lenet_like(true), "dense1", "logits/w", 1, 1},
      {grouped(), "narrow", "up/w", 0, 1},  // past batch normalisation, sigmoid and average pooling
      {grouped(), "up", "logits/w", 1, 36},
      {square_dense(), "first", "second/w", 0, 1},
      {lstm_like(), "lstm", "logits/w", 1, 1},
      {recurrent_layers("LSTM", 4, true), "cell", "logits/w", 1, 1},
      {recurrent_layers("GRU", 3, false), "cell", "logits/w", 1, 1},
      {transformer_like(), "up", "down/w", 0, 1},  // past GELU in several nodes
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.graph.name() + ": " + one.layer);
    const Subject subject = subject_of(one.graph);
    const Mutation mutation = apply(subject, mutant("neb[ratio=0.4]", one.layer));
    const Array records = records_for(one.graph, 6);
    const Array expected =
        output_of(zeroed(one.graph, one.next, one.axis, changed_neurons(mutation), one.each), records);
    EXPECT_LT(difference(output_of(mutation.graph, records), expected), 1e-5);
    EXPECT_GT(difference(output_of(one.graph, records), expected), 1e-5);
  }
}

TEST(NeuronEffectBlocking, ReachesEveryBranch) {
  Net net("fork");
  const ValueId x = net.conv("first", net.input({-1, 2, 5, 5}), 2, 3, 3);
  const ValueId through = net.builder.add("Sigmoid", "act", {net.batch_norm("bn", x, 3)});
  const ValueId left = net.conv("left", through, 3, 4, 1), right = net.conv("right", x, 3, 4, 1);
  const Graph graph = net.build(
      net.dense("logits", net.flatten("flatten", net.builder.add("Add", "sum", {left, right})), 36, 3));
  const Mutation mutation = apply(subject_of(graph), mutant("neb", "first"));
  const auto neurons = changed_neurons(mutation);
  ASSERT_EQ(neurons.size(), 1U);
  const Array records = records_for(graph, 4);
  const Graph by_hand = zeroed(zeroed(graph, "left/w", 1, neurons), "right/w", 1, neurons);
  EXPECT_LT(difference(output_of(mutation.graph, records), output_of(by_hand, records)), 1e-5);
}

TEST(NeuronEffectBlocking, IsRefusedForTheLayerThatGivesTheOutput) {
  const Subject subject = subject_of(lenet_like());
  EXPECT_NE(plan_mutant(subject, mutant("neb", "logits")).reason.find("no outgoing weights"),
            std::string::npos);
}

// Neuron activation inverse
// ----------------------------------------------------------------------------------------------

TEST(NeuronActivationInverse, NegatesThePreactivationOfTheChosenNeuronsAndNoOther) {
  on_every_layer("nai", [](const Graph& graph, const Subject& subject, const SubjectLayer& layer) {
    if (layer.layer.op.starts_with("LSTM") || layer.layer.op.starts_with("GRU") ||
        layer.layer.op.starts_with("RNN"))
      return;
    const Mutation mutation = apply(subject, mutant("nai[ratio=0.4]", layer.name()));
    const Array records = records_for(graph, 4);
    const Array before = by_neuron(value_of(graph, records, layer.preactivation), layer);
    const Array after = by_neuron(value_of(mutation.graph, records, layer.preactivation), layer);
    const auto chosen = changed_neurons(mutation);
    EXPECT_FALSE(chosen.empty());
    for (std::int64_t n = 0; n < layer.layer.neurons; ++n) {
      EXPECT_LT(difference(after[n], chosen.contains(n) ? -before[n] : before[n]), 1e-5) << n;
    }
  });
}

TEST(NeuronActivationInverse, GoesThroughBatchNormalisationAndSharedConstants) {
  const Subject grouped_subject = subject_of(grouped());
  EXPECT_EQ(grouped_subject.layer("narrow").negatable.size(), 2U);
  const Mutation mutation = apply(grouped_subject, mutant("nai", "narrow"));
  for (const Change& change : mutation.changes)
    EXPECT_TRUE(change.constant == "narrow_bn/scale" || change.constant == "narrow_bn/shift")
        << change.constant;
  // Both layers of this network read the same weights; the other one keeps them.
  const Graph shared = tied_weights();
  const Graph mutated = apply(subject_of(shared), mutant("nai", "second")).graph;
  EXPECT_EQ(floats(mutated, "w"), floats(shared, "w"));
  EXPECT_EQ(floats(mutated, "b"), floats(shared, "b"));
}

TEST(NeuronActivationInverse, OfARecurrentNeuronFlipsItInEveryStep) {
  const Graph graph = recurrent_layers("RNN", 1, false);
  const Mutation mutation = apply(subject_of(graph), mutant("nai", "cell"));
  const auto chosen = changed_neurons(mutation);
  const Array records = records_for(graph, 3);
  const Array w = graph.constant(*graph.find_value("cell/w"))[0],
              r = graph.constant(*graph.find_value("cell/r"))[0];
  const Array both = graph.constant(*graph.find_value("cell/b"))[0];
  const Array bias = both.narrow(0, 0, 4) + both.narrow(0, 4, 4);
  Array sign = array::ones({4}), state = array::zeros({3, 4});
  for (const std::int64_t n : chosen) sign[n].fill_(-1);
  for (std::int64_t t = 0; t < 5; ++t)
    state = array::tanh(sign * (array::mm(records.select(1, t), w.t()) + array::mm(state, r.t()) + bias));
  EXPECT_LT(difference(value_of(mutation.graph, records, *mutation.graph.find_value("state"))[0], state),
            1e-5);
}

// Neuron switch
// ----------------------------------------------------------------------------------------------------------

TEST(NeuronSwitch, PairsExchangeTheirActivations) {
  on_every_layer("ns", [](const Graph& graph, const Subject& subject, const SubjectLayer& layer) {
    const Mutation mutation = apply(subject, mutant("ns[ratio=0.3]", layer.name()));
    const Array records = records_for(graph, 4);
    const Array before = by_neuron(value_of(graph, records, layer.layer.value), layer);
    const Array after = by_neuron(value_of(mutation.graph, records, layer.layer.value), layer);
    std::map<std::int64_t, std::int64_t> partner;
    for (const Change& change : mutation.changes)
      partner[change.neuron] = std::stoll(change.what.substr(change.what.rfind(' ') + 1));
    EXPECT_GE(partner.size(), 2U);
    for (std::int64_t n = 0; n < layer.layer.neurons; ++n) {
      const auto other = partner.find(n);
      if (other != partner.end()) {
        EXPECT_EQ(partner.at(other->second), n);
      }
      EXPECT_LT(difference(after[n], before[other == partner.end() ? n : other->second]), 1e-6) << n;
    }
  });
}

TEST(NeuronSwitch, TwiceIsTheIdentity) {
  on_every_layer("ns", [](const Graph& graph, const Subject& subject, const SubjectLayer& layer) {
    const Mutant one = mutant("ns[ratio=0.3]", layer.name());
    const Graph once = apply(subject, one).graph;
    const Graph twice = apply(subject_of(once), one).graph;
    const Array records = records_for(graph, 4);
    EXPECT_GT(difference(output_of(once, records), output_of(graph, records)), 0);
    EXPECT_LT(difference(output_of(twice, records), output_of(graph, records)), 1e-6);
  });
}

// Layers
// -------------------------------------------------------------------------------------------------------------------

TEST(LayerDeactivation, GivesTheLayersInput) {
  on_every_layer("ld", [](const Graph& graph, const Subject& subject, const SubjectLayer& layer) {
    const Graph mutated = apply(subject, mutant("ld", layer.name())).graph;
    const Array records = records_for(graph, 3);
    EXPECT_EQ(
        difference(value_of(mutated, records, layer.layer.value), value_of(mutated, records, layer.input)),
        0);
    EXPECT_EQ(difference(value_of(mutated, records, layer.input), value_of(graph, records, layer.input)), 0);
  });
}

TEST(LayerDeactivation, SaysWhichShapesDiffer) {
  const Subject subject = subject_of(lenet_like());
  EXPECT_EQ(plan_mutant(subject, mutant("ld", "conv2")).reason,
            "input [4, 5, 5] and output [6, 5, 5] differ");
}

TEST(ActivationFunctionRemoval, GivesThePreactivation) {
  on_every_layer("afrm", [](const Graph& graph, const Subject& subject, const SubjectLayer& layer) {
    const Graph mutated = apply(subject, mutant("afrm", layer.name())).graph;
    const Array records = records_for(graph, 3);
    const Array expected = value_of(graph, records, layer.preactivation);
    EXPECT_LT(difference(value_of(mutated, records, layer.layer.value), expected), 1e-6);
    EXPECT_GT(difference(value_of(graph, records, layer.layer.value), expected), 1e-6);
  });
}

TEST(ActivationFunctionRemoval, KeepsTheFinalSoftmax) {
  EXPECT_NE(plan_mutant(subject_of(square_dense()), mutant("afrm", "logits")).reason.find("network's output"),
            std::string::npos);
  EXPECT_EQ(plan_mutant(subject_of(lenet_like()), mutant("afrm", "logits")).reason,
            "it has no activation function");
}

TEST(LayerAddition, InsertsAFunctionOfTheLayer) {
  for (const auto& [kind, function] : std::map<std::string, Array (*)(const Array&)>{
           {"relu", [](const Array& x) { return array::relu(x); }},
           {"tanh", [](const Array& x) { return array::tanh(x); }},
           {"sigmoid", [](const Array& x) { return array::sigmoid(x); }}}) {
    on_every_layer(
        "lam[kind=" + kind + "]", [&](const Graph& graph, const Subject& subject, const SubjectLayer& layer) {
          const Graph mutated = apply(subject, mutant("lam[kind=" + kind + "]", layer.name())).graph;
          const Array records = records_for(graph, 3);
          EXPECT_LT(difference(value_of(mutated, records, layer.layer.value),
                               function(value_of(graph, records, layer.layer.value))),
                    1e-6);
        });
  }
}

TEST(LayerAddition, DuplicatesWithWeightsAndActivation) {
  const Graph graph = square_dense();
  const Subject subject = subject_of(graph);
  const Array records = records_for(graph, 4);
  const auto constant = [&](const char* name) { return graph.constant(*graph.find_value(name)); };
  const Array first = value_of(graph, records, subject.layer("first").layer.value);
  const Array again = array::sigmoid(array::addmm(constant("first/b"), first, constant("first/w").t()));
  const Graph mutated = apply(subject, mutant("lam[kind=duplicate]", "first")).graph;
  EXPECT_LT(difference(value_of(mutated, records, subject.layer("first").layer.value), again), 1e-6);
  // With batch normalisation between: feeding the layer its own output is running the original from the
  // middle.
  on_every_layer("lam[kind=duplicate]", [&](const Graph& net, const Subject& of, const SubjectLayer& layer) {
    const Array given = records_for(net, 3);
    const Graph doubled = apply(of, mutant("lam[kind=duplicate]", layer.name())).graph;
    const Session original(net, {.threads = 1});
    const Array value = value_of(net, given, layer.layer.value);
    Tensors middle{{net.inputs()[0], given}};
    middle[layer.input] = value;  // which may be the network's input
    const Array expected = original.run(middle, std::span(&layer.layer.value, 1)).at(layer.layer.value);
    EXPECT_LT(difference(value_of(doubled, given, layer.layer.value), expected), 1e-5);
  });
}

TEST(LayerAddition, NeverInsertsAReluWhereItChangesNothing) {
  const Subject subject = subject_of(lenet_like());
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    EXPECT_EQ(apply(subject, mutant("lam", "conv1", seed)).changes[0].what.find("relu"), std::string::npos);
  }
}

// Weights and values
// ---------------------------------------------------------------------------------------------------------

TEST(WeightInhibition, ZeroesTheChosenWeights) {
  const Graph graph = lenet_like();
  const Mutation mutation = apply(subject_of(graph), mutant("wi[ratio=0.25]", "dense1"));
  const auto before = floats(graph, "dense1/w"), after = floats(mutation.graph, "dense1/w");
  const auto places = differing(before, after);
  EXPECT_EQ(places.size(), 60U);
  for (const std::size_t i : places) EXPECT_EQ(after[i], 0);
}

TEST(StuckNeuron, HasTheValueEverywhereAndNoOtherChanges) {
  on_every_layer("stuck", [](const Graph& graph, const Subject& subject, const SubjectLayer& layer) {
    const Mutation mutation = apply(subject, mutant("stuck[ratio=0.4,value=-2.5]", layer.name()));
    const ValueId value = layer.output_function ? layer.preactivation : layer.layer.value;
    const Array records = records_for(graph, 3);
    const Array before = by_neuron(value_of(graph, records, value), layer),
                after = by_neuron(value_of(mutation.graph, records, value), layer);
    const auto chosen = changed_neurons(mutation);
    for (std::int64_t n = 0; n < layer.layer.neurons; ++n) {
      EXPECT_LT(difference(after[n], chosen.contains(n) ? array::full_like(before[n], -2.5) : before[n]),
                1e-6)
          << n;
    }
  });
}

TEST(BitFlip, FlipsOneBitOfTheKindAskedFor) {
  const Graph graph = lenet_like();
  const Subject subject = subject_of(graph);
  const std::map<std::string, std::uint32_t> masks{{"any", 0xffffffffU},
                                                   {"sign", 0x80000000U},
                                                   {"exponent", 0x7f800000U},
                                                   {"mantissa", 0x007fffffU},
                                                   {"0", 1U},
                                                   {"30", 0x40000000U}};
  for (const auto& [bits, mask] : masks) {
    std::uint32_t seen = 0;
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const Mutation mutation = apply(subject, mutant("bitflip[count=20,bits=" + bits + "]", "dense1", seed));
      const auto before = floats(graph, "dense1/w"), after = floats(mutation.graph, "dense1/w");
      const auto places = differing(before, after);
      EXPECT_EQ(places.size(), 20U);
      for (const std::size_t i : places) {
        const std::uint32_t flipped =
            std::bit_cast<std::uint32_t>(before[i]) ^ std::bit_cast<std::uint32_t>(after[i]);
        EXPECT_EQ(std::popcount(flipped), 1);
        EXPECT_EQ(flipped & ~mask, 0U) << bits;
        seen |= flipped;
      }
    }
    if (std::popcount(mask) > 1) {
      EXPECT_GT(std::popcount(seen), std::popcount(mask) / 2) << bits;
    }
  }
  EXPECT_EQ(apply(subject, mutant("bitflip", "dense1")).sites, 1);
}

// Rows of integers times a scale of their own, as a quantiser stores them.
TEST(Int8Flip, InvertsOneBitOfTheStoredInteger) {
  const Graph plain = lenet_like();
  const ValueId id = *plain.find_value("dense1/w");
  const Shape& shape = plain.constant(id).shape();
  const std::int64_t width = shape[1];
  Rng rng(12);
  std::vector<float> stored, scales;
  for (std::int64_t row = 0; row < shape[0]; ++row) {
    scales.push_back(static_cast<float>(rng.uniform(0.001, 0.1)));
    for (std::int64_t i = 0; i < width; ++i) {
      const double whole = i == 0 ? 1 : i == 1 ? -128 : static_cast<double>(rng.below(256)) - 128;
      stored.push_back(static_cast<float>(whole) * scales.back());
    }
  }
  GraphBuilder edit(plain);
  edit.replace_constant(id, Array::of<float>(shape, stored));
  const Graph graph = edit.build();
  const Subject subject = subject_of(graph);
  unsigned seen = 0;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const Mutation mutation = apply(subject, mutant("int8flip[count=20]", "dense1", seed));
    const auto before = floats(graph, "dense1/w"), after = floats(mutation.graph, "dense1/w");
    const auto places = differing(before, after);
    EXPECT_EQ(places.size(), 20U);
    for (const std::size_t i : places) {
      const auto byte = [&](float w) {
        const float whole = w / scales[i / static_cast<std::size_t>(width)];
        EXPECT_NEAR(whole, std::nearbyint(whole), 1e-3);
        return static_cast<std::uint8_t>(static_cast<std::int8_t>(std::nearbyint(whole)));
      };
      const auto flipped = static_cast<unsigned>(byte(before[i]) ^ byte(after[i]));
      EXPECT_EQ(std::popcount(flipped), 1);
      seen |= flipped;
    }
  }
  EXPECT_EQ(seen, 0xffU);
  // Weights that are no multiples of one step stay: there is no such mutant.
  EXPECT_THROW(apply(subject_of(plain), mutant("int8flip", "dense1")), Error);
}

TEST(Precision, RoundsToTheNearestNumberOfTheFormat) {
  Rng rng(8);
  std::vector<float> values{0.0f,    -0.0f,   1.0f,     65504.0f, 65519.9f, 65520.0f, 1e-8f,
                            5.9e-8f, 6.1e-5f, -3.0e-5f, 3.39e38f, 1e-40f,   2049.0f,  2051.0f};
  for (int i = 0; i < 20'000; ++i)
    values.push_back(static_cast<float>(rng.normal() * std::pow(10.0, rng.uniform(-10, 6))));
  for (const float value : values) {
    EXPECT_EQ(rounded_to(binary16, value), test::float16.nearest(value)) << value;
    EXPECT_EQ(rounded_to(mutation::bfloat16, value), test::bfloat16.nearest(value)) << value;
  }
}

TEST(Precision, OperatorsRoundAllWeightsOfTheLayerAndNoBias) {
  const Graph graph = lenet_like();
  const Subject subject = subject_of(graph);
  for (const auto& [op, numbers] :
       std::map<std::string, const ShortFloats*>{{"fp16", &test::float16}, {"bf16", &test::bfloat16}}) {
    const Graph mutated = apply(subject, mutant(op, "dense1")).graph;
    const Array before = graph.constant(*graph.find_value("dense1/w"));
    EXPECT_EQ(difference(mutated.constant(*mutated.find_value("dense1/w")), numbers->nearest(before)), 0);
    EXPECT_EQ(floats(mutated, "dense1/b"), floats(graph, "dense1/b"));
  }
}

void expect_integers(const std::string& op, float greatest) {
  on_every_layer(op, [&](const Graph& net, const Subject& of, const SubjectLayer& layer) {
    const Graph mutated = apply(of, mutant(op, layer.name())).graph;
    const Node& before = net.node(layer.layer.node);
    const Node& after = mutated.node(*mutated.find_node(before.name));
    for (const LayerWeights& weights : layer.weights) {
      const auto old_values = net.constant(before.inputs[weights.input]).as<float>();
      const auto new_values = mutated.constant(after.inputs[weights.input]).as<float>();
      std::map<std::int64_t, float> range;
      for (std::int64_t i = 0; i < weights.count; ++i) {
        float& r = range[owner(net, layer, weights.input, i)];
        r = std::max(r, std::abs(old_values[static_cast<std::size_t>(i)]));
      }
      for (std::int64_t i = 0; i < weights.count; ++i) {
        const float scale = range[owner(net, layer, weights.input, i)] / greatest;
        const auto u = static_cast<std::size_t>(i);
        EXPECT_EQ(new_values[u], scale * std::nearbyint(old_values[u] / scale));
        EXPECT_LE(std::abs(new_values[u] - old_values[u]), 0.5001f * scale);
      }
    }
  });
}

TEST(Precision, IntegersAreSymmetricPerNeuron) {
  expect_integers("int8", 127);
  expect_integers("int4", 7);
}

TEST(LowRank, AddsAMatrixOfThatRankAndSize) {
  Net net("wide", 4);
  const Graph graph = net.build(net.dense("logits", net.input({-1, 60}), 60, 50));
  const Subject subject = subject_of(graph);
  const std::vector<float> before = floats(graph, "logits/w");
  for (const int rank : {1, 2}) {
    const Mutation mutation =
        apply(subject, mutant(fmt::format("lowrank[rank={},sigma=0.5]", rank), "logits", 3));
    const std::vector<float> after = floats(mutation.graph, "logits/w");
    EXPECT_EQ(floats(mutation.graph, "logits/b"), floats(graph, "logits/b"));
    std::vector<double> noise;
    double squares = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      noise.push_back(static_cast<double>(after[i]) - before[i]);
      squares += noise.back() * noise.back();
    }
    const double typical = std::sqrt(squares / static_cast<double>(noise.size()));
    EXPECT_NEAR(typical / (0.5 * subject.layer("logits").deviation), 1, 0.5);
    // Of rank 1 every row is a multiple of the first; of rank 2 not.
    double apart = 0;
    for (std::size_t row = 1; row < 50; ++row)
      for (std::size_t k = 1; k < 60; ++k)
        apart = std::max(apart, std::abs(noise[0] * noise[row * 60 + k] - noise[k] * noise[row * 60]));
    const bool multiples = apart < 1e-3 * typical * typical;
    EXPECT_EQ(multiples, rank == 1) << rank;
  }
}

// Columns (or rows) of a matrix of which a head has three.
Graph with_block_of(const Graph& graph, const std::string& constant,
                    const std::function<void(std::vector<float>&)>& change) {
  std::vector<float> values = floats(graph, constant);
  change(values);
  GraphBuilder edit(graph);
  const ValueId id = *graph.find_value(constant);
  edit.replace_constant(id, Array::of<float>(graph.constant(id).shape(), values));
  return edit.build();
}

TEST(Heads, GiveZeroAsIfTheirValuesWere) {
  const Graph graph = transformer_like();
  const Subject subject = subject_of(graph);
  const Array records = records_for(graph, 5);
  std::set<std::string> seen;
  for (std::uint64_t seed = 1; seed < 8; ++seed) {
    const Mutation mutation = apply(subject, mutant("head", "projection", seed));
    const bool first = mutation.changes[0].what == "head 0 gives 0";
    seen.insert(mutation.changes[0].what);
    const auto without = [&](std::vector<float>& values) {
      for (std::size_t i = 0; i < values.size(); ++i)
        if ((i % 6 < 3) == first) values[i] = 0;
    };
    const Graph expected = with_block_of(with_block_of(graph, "value/w", without), "value/b", without);
    EXPECT_LT(difference(output_of(mutation.graph, records), output_of(expected, records)), 1e-5);
    EXPECT_GT(difference(output_of(graph, records), output_of(expected, records)), 1e-3);
  }
  EXPECT_EQ(seen, (std::set<std::string>{"head 0 gives 0", "head 1 gives 0"}));
  EXPECT_THROW(apply(subject, mutant("head", "value")), Error);
}

TEST(Heads, AreSwappedAsIfTheNextMatrixWere) {
  const Graph graph = transformer_like();
  const Array records = records_for(graph, 5);
  const Mutation mutation = apply(subject_of(graph), mutant("head[kind=swap]", "projection"));
  const Graph expected = with_block_of(graph, "projection/w", [](std::vector<float>& rows) {
    std::swap_ranges(rows.begin(), rows.begin() + 18, rows.begin() + 18);
  });
  EXPECT_LT(difference(output_of(mutation.graph, records), output_of(expected, records)), 1e-5);
  EXPECT_GT(difference(output_of(graph, records), output_of(expected, records)), 1e-3);
}

TEST(Skip, PassesOnWhatTheBlockBeginsWith) {
  const Graph graph = transformer_like();
  const Subject subject = subject_of(graph);
  const Array records = records_for(graph, 5);
  const Mutation mutation = apply(subject, mutant("skip", "projection"));
  GraphBuilder edit(graph);
  const ValueId residual = *graph.find_value("residual");
  edit.redirect(residual, graph.inputs()[0]);
  EXPECT_LT(difference(output_of(mutation.graph, records), output_of(edit.build(), records)), 1e-5);
  EXPECT_GT(difference(output_of(graph, records), output_of(mutation.graph, records)), 1e-3);
  EXPECT_THROW(apply(subject, mutant("skip", "query")), Error);
}

TEST(Precision, AFormatThatChangesNothingGivesNoMutant) {
  GraphBuilder b("exact");
  const ValueId w = b.constant("w", Array::of<float>({2, 2}, std::vector<float>{0.5f, -2, 1, 0.25f}));
  b.output(b.add("MatMul", "product", {b.input("input", DType::float32, {-1, 2}), w}));
  const Drawn drawn = draw_mutants(
      subject_of(b.build()), {.operators = {parse_spec("o", "fp16"), parse_spec("o", "bf16")}, .layers = {}});
  EXPECT_TRUE(drawn.mutants.empty());
  EXPECT_EQ(drawn.not_applicable.size(), 2U);
}

}  // namespace
}  // namespace assay::mutation
