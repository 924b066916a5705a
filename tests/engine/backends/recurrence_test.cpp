// Recurrences by oneDNN: the kernels' values for every cell, direction and layout, and the same bits however
// records are cut into batches and shared among threads.

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include <assay/model.h>
#include "assay/engine/backend.h"
#include "assay/engine/kernel.h"
#include "assay/engine/onednn/segment.h"

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
    at::manual_seed(1);
    const bool records_first = form.attributes.contains("layout");
    const std::int64_t directions =
        form.attributes.contains("direction") &&
                std::get<std::string>(form.attributes.at("direction")) == "bidirectional"
            ? 2
            : 1;
    const auto given = [&](const std::string& name, const Shape& shape) {
      const ValueId id = builder.input(name, DType::float32, Shape(shape.size(), -1));
      values[id] = at::randn(shape);
      return id;
    };
    const auto constant = [&](const Shape& shape) {
      const Tensor tensor = at::randn(shape) * 0.4;
      const ValueId id = builder.constant("", to_array(tensor));
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
    std::vector<Tensor> call;
    for (const ValueId id : inputs) call.push_back(id == no_value ? Tensor() : values.at(id));
    KernelContext context;
    expected = run_node(graph.nodes()[0], call, context);
  }

  bool supported() const { return onednn::backend()->supports(graph, graph.nodes()[0], shape_of); }
  // Of records [begin, end), which lie along the axis.
  Tensors run(int threads, std::int64_t begin, std::int64_t end) const {
    const auto stretch = onednn::backend()->compile({.graph = &graph,
                                                     .nodes = {0},
                                                     .shape_of = shape_of,
                                                     .keep = outputs,
                                                     .taps = {},
                                                     .threads = threads});
    Tensors given, results;
    for (const ValueId id : stretch->inputs())
      given[id] = values.at(id).narrow(axis_of(id), begin, end - begin);
    stretch->run(given, results, {});
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
  std::vector<Tensor> expected;
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
  void SetUp() override {
    if (onednn::backend() == nullptr) GTEST_SKIP() << "built without oneDNN";
  }
};

TEST_F(Recurrences, AgreeWithTheKernels) {
  for (const Form& form : forms()) {
    for (const std::int64_t rows : {1, 7, 65}) {
      const Recurrent net(form, rows);
      SCOPED_TRACE(net.graph.nodes()[0].describe());
      ASSERT_TRUE(net.supported());
      EXPECT_GT(onednn::backend()->cost(net.graph, net.graph.nodes()[0], net.shape_of), 0);
      const Tensors found = net.run(2, 0, rows);
      for (std::size_t o = 0; o < net.outputs.size(); ++o)
        EXPECT_TRUE(at::allclose(found.at(net.outputs[o]), net.expected[o], 1e-4, 1e-5))
            << "result " << o << " of " << rows << " records";
    }
  }
}

TEST_F(Recurrences, GiveTheSameBitsInEveryBatchOnAnyThreads) {
  for (const Form& form : forms()) {
    constexpr std::int64_t rows = 150;
    const Recurrent net(form, rows);
    SCOPED_TRACE(net.graph.nodes()[0].describe());
    const Tensors whole = net.run(1, 0, rows);
    for (const auto& [begin, end, threads] :
         {std::tuple(0, 150, 3), std::tuple(0, 1, 1), std::tuple(149, 150, 2), std::tuple(3, 80, 2)}) {
      const Tensors part = net.run(threads, begin, end);
      for (const ValueId id : net.outputs)
        EXPECT_TRUE(at::equal(part.at(id), whole.at(id).narrow(net.axis_of(id), begin, end - begin)))
            << begin << " to " << end << " on " << threads << " threads";
    }
  }
}

TEST_F(Recurrences, LeaveRarerFormsToTheKernels) {
  const auto supported = [](std::map<std::string, Attribute> attributes) {
    return Recurrent({"LSTM", 4, std::move(attributes)}, 2).supported();
  };
  EXPECT_TRUE(supported({}));
  EXPECT_TRUE(supported({{"activations", std::vector<std::string>{"Sigmoid", "Tanh", "TANH"}}}));
  EXPECT_FALSE(supported({{"activations", std::vector<std::string>{"HardSigmoid", "Tanh", "Tanh"}}}));
  EXPECT_FALSE(supported({{"clip", 3.F}}));
  EXPECT_FALSE(supported({{"input_forget", std::int64_t{1}}}));
}

}  // namespace
}  // namespace assay
