// Recurrences by the back ends: the kernels' values for every cell, direction and layout, and the same bits
// however records are cut into batches and shared among threads; gradients, where there are any.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include <assay/array_math.h>
#include <assay/model.h>
#include "assay/engine/backend.h"
#include "assay/engine/lanes/kernels.h"
#include "assay/engine/lanes/segment.h"
#include "assay/engine/operators/kernel.h"
#include "tests/random_arrays.h"

namespace assay {
namespace {

constexpr std::int64_t features = 5, steps = 4;

struct Form {
  std::string op;
  std::int64_t gates = 1;
  std::map<std::string, Attribute> attributes = {};
  std::int64_t hidden = 6;
  bool bias = true, states = true;
};

// A network of one node and its values by the kernels.
struct Recurrent {
  explicit Recurrent(const Form& form, std::int64_t rows) {
    array::manual_seed(1);
    const bool records_first = form.attributes.contains("layout");
    const std::int64_t directions =
        form.attributes.contains("direction") &&
                std::get<std::string>(form.attributes.at("direction")) == "bidirectional"
            ? 2
            : 1;
    const auto given = [&](const std::string& name, const Shape& shape) {
      const ValueId id = builder.input(name, DType::float32, Shape(shape.size(), -1));
      values[id] = array::randn(shape);
      return id;
    };
    const auto constant = [&](const Shape& shape) {
      const Array tensor = array::randn(shape) * 0.4;
      const ValueId id = builder.constant("", tensor);
      values[id] = tensor;
      return id;
    };
    const std::int64_t g = form.gates * form.hidden;
    std::vector<ValueId> inputs{
        given("x", records_first ? Shape{rows, steps, features} : Shape{steps, rows, features}),
        constant({directions, g, features}), constant({directions, g, form.hidden})};
    inputs.push_back(form.bias ? constant({directions, 2 * g}) : no_value);
    inputs.push_back(no_value);
    const Shape state =
        records_first ? Shape{rows, directions, form.hidden} : Shape{directions, rows, form.hidden};
    const std::size_t states = form.op == "LSTM" ? 2 : 1;
    for (std::size_t k = 0; form.states && k < states; ++k)
      inputs.push_back(given(fmt::format("state{}", k), state));
    for (std::size_t o = 0; o <= states; ++o) outputs.push_back(builder.value(fmt::format("y{}", o)));
    builder.node(
        {.name = "cell", .op = form.op, .inputs = inputs, .outputs = outputs, .attributes = form.attributes});
    builder.set_outputs(outputs);
    graph = builder.build();
    std::vector<Array> call;
    for (const ValueId id : inputs) call.push_back(id == no_value ? Array() : values.at(id));
    KernelContext context;
    expected = run_node(graph.nodes()[0], call, context);
  }

  bool supported(const Backend& backend) const { return backend.supports(graph, graph.nodes()[0], shape_of); }
  std::unique_ptr<Segment> compile(const Backend& backend, int threads,
                                   std::vector<ValueId> trainable = {}) const {
    return backend.compile({.graph = &graph,
                            .nodes = {NodeId{0}},
                            .shape_of = shape_of,
                            .keep = outputs,
                            .taps = {},
                            .trainable = std::move(trainable),
                            .threads = threads});
  }
  // Of records [begin, end), which lie along the axis.
  Tensors run(const Backend& backend, int threads, std::int64_t begin, std::int64_t end) const {
    const auto segment = compile(backend, threads);
    Tensors given, results;
    for (const ValueId id : segment->inputs())
      given[id] = values.at(id).narrow(axis_of(id), begin, end - begin);
    segment->run(given, results, {});
    return results;
  }
  std::int64_t axis_of(ValueId id) const {
    if (graph.nodes()[0].has("layout")) return 0;
    return id == outputs[0] ? 2 : 1;
  }

  GraphBuilder builder{"net"};
  Graph graph;
  Tensors values;
  std::vector<ValueId> outputs;
  std::vector<Array> expected;
  ShapeOf shape_of = [](ValueId) -> const Shape& {
    static const Shape unknown;
    return unknown;
  };
};

std::vector<Form> forms() {
  std::vector<Form> all;
  for (const Form& cell : {Form{"RNN", 1}, Form{"LSTM", 4}, Form{"GRU", 3},
                           Form{"GRU", 3, {{"linear_before_reset", std::int64_t{1}}}}}) {
    for (const char* direction : {"forward", "reverse", "bidirectional"}) {
      for (const bool records_first : {false, true}) {
        Form form = cell;
        form.attributes["direction"] = std::string(direction);
        if (records_first) form.attributes["layout"] = std::int64_t{1};
        form.bias = !records_first;
        form.states = std::string(direction) != "reverse";
        form.hidden = records_first ? 67 : 6;
        all.push_back(form);
      }
    }
  }
  return all;
}

class Recurrences : public testing::Test {
 protected:
  const Backend& backend() const { return lanes::backend(); }
};

TEST_F(Recurrences, AgreeWithTheKernels) {
  for (const Form& form : forms()) {
    for (const std::int64_t rows : {1, 7, 65}) {
      const Recurrent net(form, rows);
      SCOPED_TRACE(net.graph.nodes()[0].describe());
      ASSERT_TRUE(net.supported(backend()));
      EXPECT_GT(backend().cost(net.graph, net.graph.nodes()[0], net.shape_of), 0);
      EXPECT_GT(backend().most_steps(net.graph, net.graph.nodes()[0]), 1000);
      const Tensors found = net.run(backend(), 2, 0, rows);
      for (std::size_t o = 0; o < net.outputs.size(); ++o)
        EXPECT_TRUE(array::allclose(found.at(net.outputs[o]), net.expected[o], 1e-4, 1e-5))
            << "result " << o << " of " << rows << " records";
    }
  }
}

TEST_F(Recurrences, GiveTheSameBitsInEveryBatchOnAnyThreads) {
  for (const Form& form : forms()) {
    constexpr std::int64_t rows = 150;
    const Recurrent net(form, rows);
    SCOPED_TRACE(net.graph.nodes()[0].describe());
    const Tensors whole = net.run(backend(), 1, 0, rows);
    for (const auto& [begin, end, threads] :
         {std::tuple(0, 150, 3), std::tuple(0, 1, 1), std::tuple(149, 150, 2), std::tuple(3, 80, 2)}) {
      const Tensors part = net.run(backend(), threads, begin, end);
      for (const ValueId id : net.outputs)
        EXPECT_TRUE(array::equal(part.at(id), whole.at(id).narrow(net.axis_of(id), begin, end - begin)))
            << begin << " to " << end << " on " << threads << " threads";
    }
  }
}

// With respect to records, states and, compiled with other values of them than those that come with the run,
// weights; of all outputs and of each alone.
TEST_F(Recurrences, GradientsAgreeWithTheKernels) {
  for (const Form& form : forms()) {
    constexpr std::int64_t rows = 37;
    Recurrent net(form, rows);
    const Node& node = net.graph.nodes()[0];
    SCOPED_TRACE(node.describe());
    std::vector<ValueId> trainable;
    Tensors given = net.values;
    for (std::size_t i = 1; i < 4 && i < node.inputs.size(); ++i) {
      if (node.inputs[i] == no_value) continue;
      trainable.push_back(node.inputs[i]);
      given[node.inputs[i]] = array::randn_like(net.values.at(node.inputs[i])) * 0.4;
    }
    const auto segment = net.compile(backend(), 2, trainable);
    const array::Recording recorded(true);
    std::vector<Array> call, leaves;
    std::vector<ValueId> ids;
    for (const ValueId id : node.inputs) {
      if (id == no_value) {
        call.emplace_back();
        continue;
      }
      leaves.push_back(given.at(id).detach().clone().requires_grad_());
      call.push_back(leaves.back());
      ids.push_back(id);
    }
    KernelContext context;
    const std::vector<Array> expected = run_node(node, call, context);
    for (std::size_t alone = 0; alone <= net.outputs.size(); ++alone) {
      std::vector<Array> factors(net.outputs.size());
      Array sum = array::zeros({});
      for (std::size_t o = 0; o < net.outputs.size(); ++o) {
        if (alone < net.outputs.size() && o != alone) continue;
        factors[o] = array::randn_like(expected[o]);
        sum = sum + (expected[o] * factors[o]).sum();
      }
      const auto wanted = array::gradients(std::span(&sum, 1), leaves, {}, /*keep=*/true);
      const std::vector<Array> found = segment->gradients(given, factors, ids);
      for (std::size_t i = 0; i < ids.size(); ++i) {
        const Array want = wanted[i].defined() ? wanted[i] : array::zeros_like(leaves[i]);
        const float scale = std::max(1.0F, want.abs().max().item<float>());
        EXPECT_LE((found[i] - want).abs().max().item<float>(), 3e-5F * scale)
            << "input " << i << ", output " << alone;
      }
    }
  }
}

TEST_F(Recurrences, GradientsAreTheSameBitsInEveryBatchOnAnyThreads) {
  for (const Form& form : forms()) {
    constexpr std::int64_t rows = 150;
    const Recurrent net(form, rows);
    SCOPED_TRACE(net.graph.nodes()[0].describe());
    const ValueId x = net.graph.nodes()[0].inputs[0], weights = net.graph.nodes()[0].inputs[1];
    const Array factors = array::randn_like(net.expected[0]);
    const auto gradients = [&](int threads, std::int64_t begin, std::int64_t end) {
      const auto segment = net.compile(backend(), threads, {weights});
      Tensors given;
      for (const ValueId id : segment->inputs())
        given[id] =
            id == weights ? net.values.at(id) : net.values.at(id).narrow(net.axis_of(id), begin, end - begin);
      std::vector<Array> seeds(net.outputs.size());
      seeds[0] = factors.narrow(net.axis_of(net.outputs[0]), begin, end - begin);
      const ValueId wanted[] = {x, weights};
      return segment->gradients(given, seeds, wanted);
    };
    const std::vector<Array> whole = gradients(1, 0, rows);
    EXPECT_TRUE(array::equal(gradients(3, 0, rows)[1], whole[1]));
    for (const auto& [begin, end, threads] :
         {std::tuple(0, 150, 3), std::tuple(149, 150, 2), std::tuple(3, 80, 2)}) {
      EXPECT_TRUE(array::equal(gradients(threads, begin, end)[0],
                               whole[0].narrow(net.axis_of(x), begin, end - begin)))
          << begin << " to " << end << " on " << threads << " threads";
    }
  }
}

TEST_F(Recurrences, LeaveRarerFormsToTheKernels) {
  const auto supported = [&](std::map<std::string, Attribute> attributes) {
    return Recurrent({"LSTM", 4, std::move(attributes)}, 2).supported(backend());
  };
  EXPECT_TRUE(supported({}));
  EXPECT_TRUE(supported({{"activations", std::vector<std::string>{"Sigmoid", "Tanh", "TANH"}}}));
  EXPECT_FALSE(supported({{"activations", std::vector<std::string>{"HardSigmoid", "Tanh", "Tanh"}}}));
  EXPECT_FALSE(supported({{"clip", 3.F}}));
  EXPECT_FALSE(supported({{"input_forget", std::int64_t{1}}}));
}

}  // namespace
}  // namespace assay
