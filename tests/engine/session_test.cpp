#include <assay/session.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <fstream>
#include <thread>

#include <assay/array_math.h>
#include <assay/error.h>
#include <assay/extend/operator_traits.h>
#include "tests/engine/graphs.h"

namespace assay {
namespace {

using ::testing::HasSubstr;

Array random_tensor(Shape shape, std::uint64_t seed = 7) {
  Rng rng(seed);
  return test::random_array(rng, std::move(shape)).clone();
}

struct Case {
  std::string name;
  std::function<Graph()> graph;
  std::function<Array(std::int64_t)> records;
};

Array tokens(std::int64_t rows) {
  return array::remainder(array::arange(rows * 7, DType::int64), 11).reshape({rows, 7});
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"lenet", [] { return test::lenet_like(); },
       [](std::int64_t n) {
         return random_tensor({n, 1, 12, 12});
       }},
      {"resnet", test::resnet_like,
       [](std::int64_t n) {
         return random_tensor({n, 3, 8, 8});
       }},
      {"transformer", test::transformer_like,
       [](std::int64_t n) {
         return random_tensor({n, 4, 6});
       }},
      {"lstm", test::lstm_like, tokens},
      {"branches", test::branching,
       [](std::int64_t n) {
         return random_tensor({n, 4, 9, 7});
       }},
      {"sequence_first", test::sequence_first,
       [](std::int64_t n) {
         return random_tensor({n, 4, 6});
       }},
      {"windowed", test::windowed,
       [](std::int64_t n) {
         return random_tensor({n, 4, 4, 3});
       }},
  };
  return all;
}

Tensors give(const Session& session, const Array& records) {
  return {{session.graph().inputs()[0], records}};
}

Array run_one(const Session& session, const Tensors& given, ValueId wanted) {
  return session.run(given, std::span(&wanted, 1)).at(wanted);
}

void expect_near(const Array& a, const Array& b, double tolerance = 1e-4) {
  ASSERT_EQ(a.shape(), b.shape());
  EXPECT_TRUE(array::allclose(a, b, tolerance, tolerance)) << (a - b).abs().max().item<float>();
}

void expect_near(const Activations& a, const Activations& b, double tolerance = 1e-4) {
  ASSERT_EQ(a.rows, b.rows);
  ASSERT_EQ(a.columns, b.columns);
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    ASSERT_NEAR(a.values[i], b.values[i], tolerance * (1 + std::abs(b.values[i]))) << i;
  }
}

std::vector<ValueId> layer_values(const Session& session) {
  std::vector<ValueId> ids;
  for (const Layer& layer : session.layers()) ids.push_back(layer.value);
  return ids;
}

class EveryNetwork : public ::testing::TestWithParam<std::size_t> {
 protected:
  const Case& c = cases()[GetParam()];
};

TEST_P(EveryNetwork, ResumesFromAnyLayerWithTheSameResult) {
  const Session session(c.graph());
  const Tensors given = give(session, c.records(5));
  const ValueId output = session.logits();
  const std::vector<ValueId> ids = layer_values(session);
  ASSERT_FALSE(ids.empty());
  const Tensors values = session.run(given, ids);
  const Array whole = run_one(session, given, output);
  for (const ValueId id : ids) {
    SCOPED_TRACE(session.graph().value(id).name);
    Tensors middle{{id, values.at(id)}};
    // Values beside the cut (the other branch of a residual block) come from the input.
    middle.insert(given.begin(), given.end());
    expect_near(run_one(session, middle, output), whole);
  }
}

TEST_P(EveryNetwork, GivenValuesOverrideComputedOnes) {
  const Session session(c.graph());
  const Tensors given = give(session, c.records(3));
  const Layer& layer = session.penultimate_layer();
  Tensors changed = given;
  changed[layer.value] = array::zeros_like(run_one(session, given, layer.value));
  const Array zeroed = run_one(session, changed, session.logits());
  expect_near(run_one(session, {{layer.value, changed.at(layer.value)}, *given.begin()}, session.logits()),
              zeroed);
  EXPECT_FALSE(array::allclose(zeroed, run_one(session, given, session.logits())));
}

TEST_P(EveryNetwork, FastBackEndAndReferenceAgreeOnEveryValue) {
  const Session reference(c.graph(), {.engine = "reference"});
  for (const char* engine : {"auto", "channels", "lanes"}) {
    SCOPED_TRACE(engine);
    const Session fast(c.graph(), {.engine = engine});
    for (const std::int64_t rows : {1, 2, 19}) {
      const Tensors given = give(fast, c.records(rows));
      for (const ValueId id : layer_values(fast)) {
        SCOPED_TRACE(fast.graph().value(id).name);
        expect_near(run_one(fast, given, id), run_one(reference, given, id));
      }
      const Tensors all = fast.run(given, layer_values(fast)),
                    expected = reference.run(given, layer_values(fast));
      ASSERT_EQ(all.size(), expected.size());
      for (const auto& [id, tensor] : all) expect_near(tensor, expected.at(id));
    }
  }
}

TEST_P(EveryNetwork, ObservesWhatReducingWholeValuesGives) {
  for (const char* engine : {"auto", "channels", "lanes", "reference"}) {
    SCOPED_TRACE(engine);
    const Session session(c.graph(), {.engine = engine});
    const Tensors given = give(session, c.records(6));
    const Tensors values = session.run(given, layer_values(session));
    for (const Reduction reduction :
         {Reduction::mean, Reduction::max, Reduction::min, Reduction::every_position}) {
      const ValueId logits = session.logits();
      const Session::Observed seen =
          session.observe(given, taps_of(session.layers(), reduction), std::span(&logits, 1));
      expect_near(seen.outputs.at(logits), run_one(session, given, logits));
      ASSERT_EQ(seen.layers.size(), session.layers().size());
      for (std::size_t i = 0; i < seen.layers.size(); ++i) {
        const Layer& layer = session.layers()[i];
        SCOPED_TRACE(layer.name);
        const Array matrix = reduce_to_neurons(values.at(layer.value), layer, reduction).contiguous();
        const float* const begin = matrix.elements<float>();
        expect_near(seen.layers[i], {.rows = 6,
                                     .columns = static_cast<std::size_t>(matrix.size(1)),
                                     .values = {begin, begin + matrix.count()}});
      }
    }
    // Over all that a layer has, beside its neurons.
    std::vector<Tap> taps = taps_of(session.layers(), Reduction::mean);
    for (const Layer& layer : session.layers()) {
      for (const Reduction reduction : {Reduction::min, Reduction::max, Reduction::mean})
        taps.push_back({&layer, reduction, /*whole=*/true});
    }
    const Session::Observed seen = session.observe(given, taps, {});
    for (std::size_t i = session.layers().size(); i < taps.size(); ++i) {
      const Array all =
          reduce_to_neurons(values.at(taps[i].layer->value), *taps[i].layer, Reduction::every_position);
      const Array want = taps[i].reduction == Reduction::mean  ? all.mean(1)
                         : taps[i].reduction == Reduction::max ? all.amax(1)
                                                               : all.amin(1);
      SCOPED_TRACE(taps[i].layer->name);
      const Array numbers = want.contiguous();
      const float* const begin = numbers.elements<float>();
      expect_near(seen.layers[i], {.rows = 6, .columns = 1, .values = {begin, begin + 6}});
    }
  }
}

TEST_P(EveryNetwork, BatchSizeAndThreadsDoNotChangeResults) {
  const Session one(c.graph(), {.threads = 1}), two(c.graph(), {.threads = 2});
  const Array records = c.records(9);
  const Array whole = run_one(one, give(one, records), one.logits());
  expect_near(run_one(two, give(two, records), two.logits()), whole, 1e-5);
  for (std::int64_t i = 0; i < 9; ++i) {
    expect_near(run_one(two, give(two, records.narrow(0, i, 1)), two.logits()), whole.narrow(0, i, 1), 1e-5);
  }
}

// Every node that multiplies is in one segment, by the name that the network has for it.
TEST_P(EveryNetwork, PlansWhatRunsItsNodes) {
  const Session session(c.graph()), reference(c.graph(), {.engine = "reference"});
  std::vector<NodeId> nodes;
  double products = 0;
  for (const PlannedSegment& part : session.plan()) {
    nodes.insert(nodes.end(), part.nodes.begin(), part.nodes.end());
    products += part.multiply_adds;
  }
  for (const NodeId n : session.graph().node_ids()) {
    const Node& node = session.graph().node(n);
    if (is_weighted(node.op)) {
      EXPECT_EQ(std::ranges::count(nodes, n), 1) << node.name;
    }
  }
  EXPECT_EQ(products, reference.plan().at(0).multiply_adds);
}

// Networks that carry records elsewhere for a while run on back ends as others do.
TEST(Session, RecordsComeToTheFrontForBackEnds) {
  for (const Graph& graph : {test::sequence_first(), test::windowed()}) {
    for (const PlannedSegment& part : Session(graph, {.engine = "lanes"}).plan()) {
      for (const NodeId n : part.nodes) {
        const Node& node = graph.node(n);
        if (is_weighted(node.op)) {
          EXPECT_EQ(part.engine, "lanes") << node.name;
        }
      }
    }
  }
}

TEST(Session, PrefersBatchesThatFillTiles) {
  EXPECT_EQ(Session(test::lenet_like()).preferred_batch(), 512U);
  // 128 x 128 x 64 numbers a record, three times: 4 MB each, at most two at a time.
  test::Net net("large");
  ValueId x = net.input({-1, 64, 128, 128});
  for (const char* name : {"a", "b"}) x = net.relu(name, x);
  const Graph graph = net.build(x);
  EXPECT_EQ(Session(graph, {.memory_limit = 100'000'000}).preferred_batch(), 5U);
  const Session large(graph);  // lifts the limit again
  EXPECT_EQ(large.preferred_batch(), 112U);
  EXPECT_EQ(large.preferred_batch(/*keeps_values=*/true), 16U);
}

// Networks without kinks: ties in a maximum have no derivative.
class SmoothNetwork : public EveryNetwork {};

// Of sum(output * weights), by central differences along a random direction of each value.
TEST_P(SmoothNetwork, GradientsAgreeWithFiniteDifferences) {
  const Session session(c.graph(), {.engine = "reference"});
  const Tensors given = give(session, c.records(2));
  const ValueId output = session.logits();
  const Array weights = random_tensor(run_one(session, given, output).shape(), 11);
  const auto objective = [&](const Tensors& values) { return (values.at(output) * weights).sum(); };
  std::vector<ValueId> ids = layer_values(session);
  if (is_real(given.begin()->second.dtype())) ids.push_back(given.begin()->first);
  const Tensors slopes = session.gradients(given, std::span(&output, 1), objective, ids);
  const Tensors values = session.run(given, ids);
  for (const ValueId id : ids) {
    SCOPED_TRACE(session.graph().value(id).name);
    const Array& at_point = values.at(id);
    ASSERT_EQ(slopes.at(id).shape(), at_point.shape());
    const Array direction = random_tensor(at_point.shape(), 13);
    const auto along = [&](double step) {
      Tensors moved = given;
      moved[id] = at_point + step * direction;
      return objective(session.run(moved, std::span(&output, 1))).item<double>();
    };
    constexpr double step = 3e-4;
    const double expected = (along(step) - along(-step)) / (2 * step);
    const double got = (slopes.at(id) * direction).sum().item<double>();
    EXPECT_NEAR(got, expected, 3e-3 * (1 + std::abs(expected)));
  }
}

INSTANTIATE_TEST_SUITE_P(Session, EveryNetwork, ::testing::Range<std::size_t>(0, 7),
                         [](const auto& each) { return cases()[each.param].name; });

INSTANTIATE_TEST_SUITE_P(Session, SmoothNetwork, ::testing::Range<std::size_t>(2, 7),
                         [](const auto& each) { return cases()[each.param].name; });

TEST(Session, GradientsOfValuesTheObjectiveIgnoresAreZero) {
  const Session session(test::lenet_like());
  const ValueId conv = session.layer("conv1").value, output = session.logits();
  const Tensors slopes = session.gradients(
      give(session, random_tensor({2, 1, 12, 12})), std::span(&conv, 1),
      [&](const Tensors& v) { return v.at(conv).sum(); }, std::vector{output, conv});
  EXPECT_EQ(slopes.at(output).abs().max().item<float>(), 0);
  EXPECT_EQ(slopes.at(conv).min().item<float>(), 1);
}

// Half the square of every element, and the elements themselves: by every engine, for several threads, with
// respect to the input and to a value in the middle, and where no slope arrives.
TEST(Session, GradientsOfNumbersOfRecordsAreThoseOfTheirSum) {
  for (const auto& [engine, threads] : {std::pair{"lanes", 1}, {"lanes", 3}, {"auto", 2}, {"reference", 1}}) {
    SCOPED_TRACE(engine);
    const Session session(test::lenet_like(), {.threads = threads, .engine = engine});
    const Tensors given = give(session, random_tensor({37, 1, 12, 12}));
    const ValueId output = session.logits(), middle = session.layer("conv1").value;
    const Tensors resumed{{middle, run_one(session, given, middle)}};
    const RecordObjective objective{
        .read = {output},
        .numbers = 2,
        .gradients = [](std::size_t, std::span<const float> elements, std::span<float> slopes) {
          for (std::size_t i = 0; i < elements.size(); ++i) {
            slopes[i] += elements[i];
            slopes[elements.size() + i] += 1;
          }
        }};
    for (const Tensors& from : {given, resumed}) {
      const ValueId by = from.begin()->first;
      const RecordGradients found = session.gradients(from, objective, std::span(&by, 1));
      EXPECT_TRUE(array::allclose(found.value, run_one(session, from, output), 1e-4, 1e-5));
      const auto sum_of = [&](bool squared) {
        return session
            .gradients(
                from, std::span(&output, 1),
                [&](const Tensors& v) {
                  return squared ? v.at(output).square().sum() / 2 : v.at(output).sum();
                },
                std::span(&by, 1))
            .at(by);
      };
      ASSERT_EQ(found.gradients.size(), 2U);
      EXPECT_TRUE(array::allclose(found.gradients[0].at(by), sum_of(true), 1e-4, 1e-5));
      EXPECT_TRUE(array::allclose(found.gradients[1].at(by), sum_of(false), 1e-4, 1e-5));
    }
    // What is given in the middle cuts the input off.
    Tensors both = given;
    both.insert(*resumed.begin());
    const ValueId input = given.begin()->first;
    const auto by_input = [&](const Tensors& from, const RecordObjective& of) {
      return session.gradients(from, of, std::span(&input, 1)).gradients.at(0).at(input);
    };
    EXPECT_EQ(by_input(both, objective).abs().max().item<float>(), 0);
    EXPECT_GT(by_input(given, objective).abs().max().item<float>(), 0);
    EXPECT_THROW(session.gradients(given, objective, std::span(&middle, 1)), Error);
    RecordObjective fails = objective;
    fails.gradients = [](std::size_t, std::span<const float>, std::span<float>) {
      throw std::runtime_error("no");
    };
    EXPECT_THROW(by_input(given, fails), std::runtime_error);
  }
}

// Of half the squares of all that layers hold for a record, weighted by its place, and of the decision alone;
// from the first value that has gradients.
TEST_P(EveryNetwork, GradientsOfNumbersThatReadSeveralValues) {
  for (const std::string engine : {"auto", "reference"}) {
    SCOPED_TRACE(engine);
    const Session session(c.graph(), {.threads = 2, .engine = engine});
    Tensors given = give(session, c.records(19));
    if (!is_real(given.begin()->second.dtype())) {
      const ValueId embedded = session.graph().nodes()[0].outputs[0];
      given = {{embedded, run_one(session, given, embedded)}};
    }
    const ValueId by = given.begin()->first;
    std::vector<ValueId> read{session.logits()};
    for (const ValueId id : layer_values(session)) {
      if (id != read[0] && id != by && session.record_axis(id).axis >= 0) read.push_back(id);
    }
    const auto batch_major = [&](const Array& value, ValueId id) {
      return value.movedim(session.record_axis(id).axis, 0).reshape({19, -1});
    };
    const Tensors values = session.run(given, read);
    const auto size = static_cast<std::size_t>(batch_major(values.at(read[0]), read[0]).size(1));
    const RecordGradients found = session.gradients(
        given,
        {.read = read,
         .numbers = 2,
         .gradients =
             [&](std::size_t record, std::span<const float> elements, std::span<float> slopes) {
               for (std::size_t i = 0; i < elements.size(); ++i)
                 slopes[i] += elements[i] * static_cast<float>(record + 1);
               for (std::size_t i = 0; i < size; ++i) slopes[elements.size() + i] += 1;
             }},
        std::span(&by, 1));
    expect_near(found.value, values.at(read[0]));
    const Array places = array::arange(1, 20, DType::float32).unsqueeze(1);
    const auto squares = [&](const Tensors& all) {
      Array sum = array::zeros({});
      for (const ValueId id : read) sum = sum + (batch_major(all.at(id), id).square() * places).sum() / 2;
      return sum;
    };
    const auto decision = [&](const Tensors& all) { return all.at(read[0]).sum(); };
    const auto expect_same = [&](const Array& got, const Array& expected) {
      EXPECT_TRUE(array::allclose(got, expected, 1e-3, 1e-5 * expected.abs().max().item<double>()));
    };
    ASSERT_EQ(found.gradients.size(), 2U);
    expect_same(found.gradients[0].at(by), session.gradients(given, read, squares, std::span(&by, 1)).at(by));
    expect_same(found.gradients[1].at(by),
                session.gradients(given, read, decision, std::span(&by, 1)).at(by));
  }
}

TEST(Session, GradientsReachWeights) {
  const Session session(test::lenet_like());
  const ValueId bias = *session.graph().find_value("logits/b"), output = session.logits();
  const Tensors slopes = session.gradients(
      give(session, random_tensor({3, 1, 12, 12})), std::span(&output, 1),
      [&](const Tensors& v) { return v.at(output).sum(); }, std::span(&bias, 1));
  EXPECT_TRUE(array::allclose(slopes.at(bias), array::full({5}, 3.0f)));
}

TEST(Session, TraceRecordsForAutogradAndTakesOtherWeights) {
  const Session session(test::lenet_like());
  const ValueId output = session.logits(), bias = *session.graph().find_value("logits/b");
  Tensors given = give(session, random_tensor({2, 1, 12, 12}));
  given.begin()->second = given.begin()->second.requires_grad_();
  EXPECT_TRUE(session.trace(given, std::span(&output, 1)).at(output).requires_grad());
  Tensors weights{{bias, session.graph().constant(bias) + 1}};
  const Array moved = session.trace(given, std::span(&output, 1), false, nullptr, &weights).at(output);
  expect_near(moved.detach(), run_one(session, given, output) + 1);
}

TEST(Session, ReplacedWeightsReachWhatWasFoldedFromThem) {
  test::Net net("folded");
  const ValueId x = net.input({-1, 3});
  const ValueId w = net.weight("w", {4, 3});
  const Graph graph =
      net.build(net.builder.add("MatMul", "product", {x, net.builder.add("Transpose", "turned", {w})}));
  const Session session(graph);
  const Tensors given = give(session, random_tensor({2, 3}));
  const Array plain = run_one(session, given, session.logits());
  expect_near(plain, array::matmul(given.begin()->second, graph.constant(w).t()));
  Tensors doubled = given;
  doubled[w] = graph.constant(w) * 2;
  expect_near(run_one(session, doubled, session.logits()), plain * 2);
}

TEST(Session, NumbersThatDependOnHowManyRecordsThereAreStayComputed) {
  test::Net net("counts");
  const ValueId x = net.input({-1, 3});
  const ValueId few = net.builder.add(
      "Min", "few", {size_of(net, "records", x, 0), net.builder.constant("three", test::integers({3}))});
  const ValueId factor = net.builder.add("Cast", "float", {few}, {{"to", std::int64_t{1}}});
  const Session session(net.build(net.builder.add("Mul", "product", {x, factor})));
  for (const std::int64_t rows : {1, 2, 3, 4, 19}) {
    const Tensors given = give(session, random_tensor({rows, 3}));
    expect_near(run_one(session, given, session.logits()),
                given.begin()->second * std::min<std::int64_t>(rows, 3));
  }
}

// Made-up records are all positive: they have one sign, real ones have up to three.
TEST(Session, SizesThatFollowFromWhatRecordsHoldAreThoseOfTheRecords) {
  test::Net net("signs");
  GraphBuilder& b = net.builder;
  const ValueId x = net.input({-1, 3});
  const ValueId count = size_of(net, "count", b.add("Unique", "signs", {b.add("Sign", "sign", {x})}), 0);
  const ValueId factor = b.add("Cast", "float", {count}, {{"to", std::int64_t{1}}});
  const ValueId cut =
      b.add("Slice", "cut",
            {x, b.constant("begin", test::integers({0})), count, b.constant("axis", test::integers({1}))});
  const ValueId squashed = b.add("Tanh", "tanh", {net.relu("relu", cut)});
  b.output(b.add("Mul", "product", {x, factor}));
  b.output(squashed);
  const Graph graph = b.build();
  const Array records = array::tensor({1.0F, -2.0F, 0.0F, 3.0F, 4.0F, -5.0F}).reshape({2, 3});
  for (const char* engine : {"auto", "channels", "lanes", "reference"}) {
    SCOPED_TRACE(engine);
    const Session session(graph, {.engine = engine});
    const Tensors found = session.run(give(session, records), graph.outputs());
    expect_near(found.at(graph.outputs()[0]), records * 3);
    expect_near(found.at(graph.outputs()[1]), array::relu(records).tanh());
  }
}

// A weight that a size is multiplied with is a constant for inference, and none while it learns.
TEST(Session, LearnedWeightsReachWhatIsFoldedWithShapes) {
  test::Net net("sized");
  const ValueId x = net.input({-1, 3}), w = net.weight("w", {3, 4});
  const ValueId width =
      net.builder.add("Cast", "float", {size_of(net, "width", x, -1)}, {{"to", std::int64_t{1}}});
  const Session session(
      net.build(net.builder.add("MatMul", "product", {x, net.builder.add("Mul", "scaled", {w, width})})));
  const Tensors given = give(session, random_tensor({2, 3}));
  const ValueId output = session.logits();
  const Array plain = run_one(session, given, output), weights = session.graph().constant(w);
  expect_near(plain, array::matmul(given.begin()->second, weights) * 3);
  Tensors learned{{w, (weights * 2).requires_grad_()}};
  const Array doubled =
      session.trace(given, std::span(&output, 1), /*training=*/true, nullptr, &learned).at(output);
  expect_near(doubled.detach(), plain * 2);
  EXPECT_TRUE(doubled.requires_grad());
}

// A long chain of values of 1 MB each would need 200 MB if nothing were released.
TEST(Session, ReleasesValuesAfterTheirLastReader) {
  test::Net net("chain");
  ValueId x = net.input({-1, 16, 128, 128});
  for (int i = 0; i < 200; ++i)
    x = net.builder.add(i % 2 ? "Sigmoid" : "Tanh", fmt::format("step{}", i), {x});
  const Session session(net.build(x), {.engine = "reference"});
  const auto resident = [] {
    std::ifstream file("/proc/self/statm");
    long total = 0, pages = 0;
    file >> total >> pages;
    return pages * 4096.0 / 1e6;
  };
  const Tensors given = give(session, array::zeros({4, 16, 128, 128}));
  const ValueId output = session.graph().outputs()[0];
  run_one(session, given, output);
  const double before = resident();
  double peak = 0;
  std::atomic<bool> done{false};
  std::jthread watcher([&] {
    while (!done)
      peak = std::max(peak, resident()), std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  run_one(session, given, output);
  done = true;
  watcher.join();
  EXPECT_LT(peak - before, 100);
}

TEST(Session, NamesTheInputThatIsMissing) {
  const Session session(test::lenet_like());
  const ValueId output = session.logits();
  try {
    session.run({}, std::span(&output, 1));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("'input' was not given"));
  }
}

TEST(Session, NamesTheOperatorThatIsUnknown) {
  test::Net net("odd");
  const Graph graph = net.build(net.builder.add("Frobnicate", "odd_node", {net.input({-1, 3})}));
  try {
    const Session session(graph);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::unsupported);
    EXPECT_THAT(error.what(), HasSubstr("node 'odd_node' (Frobnicate)"));
  }
}

TEST(Session, RefusesMoreMemoryThanAllowed) {
  test::Net net("giant");
  const ValueId shape = net.builder.constant("shape", test::integers({1, 1 << 30}));
  const ValueId x = net.input({-1, 1});
  const Graph graph =
      net.build(net.builder.add("Mul", "giant", {net.builder.add("Expand", "expand", {x, shape}), x}));
  const Session session(graph, {.memory_limit = 1 << 20});
  try {
    session.layers();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::resources);
  }
  set_engine_threads(2);
  const Session other(test::lenet_like());  // lifts the limit again
}

TEST(Session, RefusesANetworkWithoutOutputs) {
  try {
    const Session session{Graph()};
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::model);
    EXPECT_THAT(error.what(), HasSubstr("no outputs"));
  }
}

// What a forked process says, or "ran" when it could run a network on so many threads.
std::string said_after_fork(const Graph& graph, int threads) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    std::string text = "ran";
    try {
      const Session session(graph, {.threads = threads});
      session.run({{graph.inputs()[0], array::zeros({2, 1, 12, 12})}}, graph.outputs());
    } catch (const std::exception& error) {
      text = error.what();
    }
    ::_exit(::write(ends[1], text.data(), text.size()) < 0);
  }
  ::close(ends[1]);
  std::string text;
  char buffer[512];
  for (ssize_t count; (count = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(count));
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  return text;
}

TEST(Session, MakesThreadsOfItsOwnAfterAFork) {
  const Graph graph = test::lenet_like();
  const Session session(graph, {.threads = 2});
  session.run(give(session, random_tensor({8, 1, 12, 12})), graph.outputs());
  EXPECT_EQ(said_after_fork(graph, 2), "ran");
  EXPECT_EQ(said_after_fork(graph, 1), "ran");
}

TEST(Session, KnowsThatPlacesWithinRecordsKeepRecordsApart) {
  GraphBuilder b("picked");
  const ValueId values = b.input("values", DType::float32, {-1, 5, 4}),
                places = b.input("places", DType::int64, {-1, 1});
  const ValueId picked = b.add("GatherND", "picked", {values, places}, {{"batch_dims", std::int64_t{1}}});
  b.output(picked);
  const Session session(b.build(), {.threads = 1});
  EXPECT_EQ(session.record_axis(picked).axis, 0);
  EXPECT_EQ(session.shape(picked), (Shape{1, 4}));
}

}  // namespace
}  // namespace assay
