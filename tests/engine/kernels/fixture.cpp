#include "fixture.h"

#include <c10/util/Logging.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/variable.h>

#include <cmath>

#include "assay/engine/preparation/shape_rules.h"
#include "assay/engine/preparation/whole_numbers.h"

namespace assay::testing {

namespace {

// libtorch's errors carry a stack trace that takes milliseconds to make.
const bool no_traces = [] {
  c10::SetStackTraceFetcher([] { return std::string(); });
  return true;
}();

// What rules say of the result before anything runs.
std::optional<Shape> shape_by_rule(const Node& node, const std::vector<Tensor>& inputs) {
  std::vector<Shape> shapes;
  for (const Tensor& input : inputs) shapes.push_back(input.defined() ? input.sizes().vec() : Shape());
  std::vector<OperandShape> operands(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].defined()) operands[i] = {&shapes[i], inputs[i].scalar_type() == at::kFloat, &inputs[i]};
  }
  return result_shape(node, operands);
}

}  // namespace

Node make_node(std::string op, std::size_t inputs, Attributes attributes, std::size_t outputs) {
  Node node;
  node.name = "n";
  node.op = std::move(op);
  node.attributes = std::move(attributes);
  for (std::size_t i = 0; i < inputs; ++i) node.inputs.push_back(static_cast<ValueId>(i));
  for (std::size_t i = 0; i < outputs; ++i) node.outputs.push_back(static_cast<ValueId>(inputs + i));
  return node;
}

std::vector<Tensor> run_all(const std::string& op, const std::vector<Tensor>& inputs, Attributes attributes,
                            std::size_t outputs) {
  KernelContext context;
  const Node node = make_node(op, inputs.size(), std::move(attributes), outputs);
  std::vector<Tensor> results = run_node(node, inputs, context);
  if (const std::optional<Shape> shape = shape_by_rule(node, inputs)) {
    EXPECT_EQ(*shape, results.at(0).sizes().vec()) << op;
    EXPECT_EQ(results.at(0).scalar_type(), at::kFloat) << op;
  }
  if (const std::optional<Tensor> whole = whole_result(node, inputs)) {
    EXPECT_TRUE(results.at(0).equal(*whole)) << op << ": " << results.at(0) << *whole;
  }
  return results;
}

Tensor run(const std::string& op, const std::vector<Tensor>& inputs, Attributes attributes) {
  return run_all(op, inputs, std::move(attributes)).at(0);
}

Fault fault_of(const std::string& op, const std::vector<Tensor>& inputs, Attributes attributes) {
  const Node node = make_node(op, inputs.size(), attributes);
  EXPECT_FALSE(shape_by_rule(node, inputs)) << op << ": the kernel refuses this";
  EXPECT_FALSE(whole_result(node, inputs)) << op << ": the kernel refuses this";
  try {
    run(op, inputs, std::move(attributes));
  } catch (const Error& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("node 'n' (" + op + "): ")) << error.what();
    return error.fault();
  }
  ADD_FAILURE() << op << " did not throw";
  return Fault::internal;
}

Tensor random_tensor(const Ints& shape, std::uint64_t seed, at::ScalarType type) {
  Rng random(seed);
  return tabulate(
      shape, [&](const Ints&) { return random.normal(); }, type);
}

Tensor ints(const Ints& values) { return at::tensor(values, at::kLong); }

Tensor truth(const Ints& values) { return ints(values).to(at::kBool); }

Tensor floats(const Ints& shape, const std::vector<float>& values) {
  return at::tensor(values, at::kFloat).reshape(shape);
}

::testing::AssertionResult same(const Tensor& actual, const Tensor& expected, double tolerance) {
  if (!actual.defined()) return ::testing::AssertionFailure() << "undefined";
  if (actual.sizes() != expected.sizes()) {
    return ::testing::AssertionFailure() << "shape " << actual.sizes() << " instead of " << expected.sizes();
  }
  if (actual.scalar_type() != expected.scalar_type()) {
    return ::testing::AssertionFailure()
           << "type " << actual.scalar_type() << " instead of " << expected.scalar_type();
  }
  const Tensor a = actual.detach().to(at::kDouble), b = expected.detach().to(at::kDouble);
  if (at::allclose(a, b, tolerance, tolerance, /*equal_nan=*/true)) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "values differ:\n" << actual << "\ninstead of\n" << expected;
}

void for_each_index(const Ints& shape, const std::function<void(const Ints&)>& visit) {
  for (const auto dim : shape) {
    if (dim == 0) return;
  }
  Ints index(shape.size(), 0);
  while (true) {
    visit(index);
    std::size_t axis = shape.size();
    while (axis > 0 && ++index[axis - 1] == shape[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

Tensor tabulate(const Ints& shape, const std::function<double(const Ints&)>& value, at::ScalarType type) {
  Tensor result = at::empty(shape, at::kDouble);
  auto* next = result.data_ptr<double>();
  for_each_index(shape, [&](const Ints& index) { *next++ = value(index); });
  return result.to(type);
}

double at_index(const Tensor& tensor, const Ints& index, double outside) {
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < index.size(); ++i) {
    const auto axis = static_cast<std::int64_t>(i);
    if (index[i] < 0 || index[i] >= tensor.size(axis)) return outside;
    offset += index[i] * tensor.stride(axis);
  }
  if (tensor.scalar_type() == at::kFloat) return tensor.data_ptr<float>()[offset];
  if (tensor.scalar_type() == at::kDouble) return tensor.data_ptr<double>()[offset];
  return at_index(tensor.to(at::kDouble), index, outside);
}

namespace {

Tensor weighted_sum(const std::string& op, const std::vector<Tensor>& inputs, const Attributes& attributes,
                    std::size_t outputs) {
  Tensor total = at::zeros({}, at::kDouble);
  std::uint64_t seed = 99;
  for (const Tensor& output : run_all(op, inputs, attributes, outputs)) {
    if (!output.defined() || !at::isFloatingType(output.scalar_type())) continue;
    total = total + (output * random_tensor(output.sizes().vec(), ++seed, at::kDouble)).sum();
  }
  return total;
}

// Central differences for every element of inputs[which].
Tensor differences(const std::string& op, std::vector<Tensor> inputs, std::size_t which,
                   const Attributes& attributes, std::size_t outputs) {
  constexpr double step = 1e-6;
  const Tensor base = inputs[which].contiguous();
  return tabulate(
      base.sizes().vec(),
      [&, flat = std::int64_t{0}](const Ints&) mutable {
        const auto moved = [&](double by) {
          Tensor copy = base.clone();
          copy.view({-1})[flat] += by;
          inputs[which] = copy;
          return weighted_sum(op, inputs, attributes, outputs).item<double>();
        };
        const double slope = (moved(step) - moved(-step)) / (2 * step);
        ++flat;
        return slope;
      },
      at::kDouble);
}

}  // namespace

::testing::AssertionResult gradients_agree(const std::string& op, const std::vector<Tensor>& inputs,
                                           Attributes attributes, std::size_t outputs) {
  std::vector<Tensor> leaves, plain;
  std::vector<std::size_t> real;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool floating = inputs[i].defined() && at::isFloatingType(inputs[i].scalar_type());
    plain.push_back(floating ? inputs[i].to(at::kDouble) : inputs[i]);
    leaves.push_back(floating ? plain[i].clone().set_requires_grad(true) : inputs[i]);
    if (floating) real.push_back(i);
  }
  std::vector<Tensor> with_respect_to;
  for (const auto i : real) with_respect_to.push_back(leaves[i]);
  const Tensor total = weighted_sum(op, leaves, attributes, outputs);
  if (!total.requires_grad()) return ::testing::AssertionFailure() << op << " gives no gradient";
  const auto gradients = torch::autograd::grad({total}, with_respect_to, {}, c10::nullopt, false, true);
  for (std::size_t k = 0; k < real.size(); ++k) {
    const Tensor expected = differences(op, plain, real[k], attributes, outputs);
    const Tensor actual = gradients[k].defined() ? gradients[k] : at::zeros_like(expected);
    const auto agrees = same(actual, expected, 1e-5);
    if (!agrees)
      return ::testing::AssertionFailure() << op << ", input " << real[k] << ": " << agrees.message();
  }
  return ::testing::AssertionSuccess();
}

}  // namespace assay::testing
