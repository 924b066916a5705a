#include "fixture.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <assay/array_math.h>
#include "assay/engine/preparation/shape_arithmetic.h"
#include "assay/engine/shape_inference.h"
#include "tests/written.h"

namespace assay::testing {

namespace {

// What is said of the results before the node runs: by rules, and on zeros in place of the operands that are
// no integers.
std::array<std::vector<ResultForm>, 2> forms_before(const Node& node, const std::vector<Array>& inputs) {
  std::vector<Shape> shapes;
  for (const Array& input : inputs) shapes.push_back(input.defined() ? input.shape() : Shape());
  std::vector<OperandShape> constant(inputs.size()), unknown;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].defined()) constant[i] = {&shapes[i], inputs[i].dtype(), &inputs[i]};
  }
  unknown = constant;
  for (OperandShape& operand : unknown) {
    if (operand.shape != nullptr && is_real(operand.type)) operand.constant = nullptr;
  }
  return {result_forms(node, constant), forms_on_zeros(node, unknown)};
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

std::vector<Array> run_all(const std::string& op, const std::vector<Array>& inputs, Attributes attributes,
                           std::size_t outputs) {
  KernelContext context;
  const Node node = make_node(op, inputs.size(), std::move(attributes), outputs);
  std::vector<Array> results = run_node(node, inputs, context);
  for (const std::vector<ResultForm>& forms : forms_before(node, inputs)) {
    for (std::size_t i = 0; i < std::min(forms.size(), outputs); ++i)
      EXPECT_EQ(forms[i], (ResultForm{results.at(i).shape(), results.at(i).dtype()}))
          << op << ", result " << i;
  }
  if (const std::optional<Array> whole = integer_result(node, inputs)) {
    EXPECT_TRUE(results.at(0).equal(*whole))
        << op << ": " << written(results.at(0)) << ", " << written(*whole);
  }
  return results;
}

Array run(const std::string& op, const std::vector<Array>& inputs, Attributes attributes) {
  return run_all(op, inputs, std::move(attributes)).at(0);
}

Fault fault_of(const std::string& op, const std::vector<Array>& inputs, Attributes attributes) {
  const Node node = make_node(op, inputs.size(), attributes);
  EXPECT_TRUE(forms_before(node, inputs)[0].empty()) << op << ": the kernel refuses this";
  EXPECT_FALSE(integer_result(node, inputs)) << op << ": the kernel refuses this";
  try {
    run(op, inputs, std::move(attributes));
  } catch (const Error& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("node 'n' (" + op + "): ")) << error.what();
    return error.fault();
  }
  ADD_FAILURE() << op << " did not throw";
  return Fault::internal;
}

Array random_tensor(const Ints& shape, std::uint64_t seed, DType type) {
  Rng random(seed);
  return tabulate(
      shape, [&](const Ints&) { return random.normal(); }, type);
}

Array ints(const Ints& values) { return array::tensor(values, DType::int64); }

Array truth(const Ints& values) { return ints(values).to(DType::boolean); }

Array floats(const Ints& shape, const std::vector<float>& values) {
  return array::tensor(values, DType::float32).reshape(shape);
}

::testing::AssertionResult same(const Array& actual, const Array& expected, double tolerance) {
  if (!actual.defined()) return ::testing::AssertionFailure() << "undefined";
  if (actual.shape() != expected.shape()) {
    return ::testing::AssertionFailure()
           << "shape " << to_string(actual.shape()) << " instead of " << to_string(expected.shape());
  }
  if (actual.dtype() != expected.dtype()) {
    return ::testing::AssertionFailure()
           << "type " << to_string(actual.dtype()) << " instead of " << to_string(expected.dtype());
  }
  const Array a = actual.detach().to(DType::float64), b = expected.detach().to(DType::float64);
  if (array::allclose(a, b, tolerance, tolerance, /*equal_nan=*/true)) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "values differ:\n"
                                       << written(actual) << "\ninstead of\n"
                                       << written(expected);
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

Array tabulate(const Ints& shape, const std::function<double(const Ints&)>& value, DType type) {
  Array result = array::empty(shape, DType::float64);
  auto* next = result.elements<double>();
  for_each_index(shape, [&](const Ints& index) { *next++ = value(index); });
  return result.to(type);
}

double at_index(const Array& tensor, const Ints& index, double outside) {
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < index.size(); ++i) {
    const auto axis = static_cast<std::int64_t>(i);
    if (index[i] < 0 || index[i] >= tensor.size(axis)) return outside;
    offset += index[i] * tensor.stride(axis);
  }
  if (tensor.dtype() == DType::float32) return reinterpret_cast<const float*>(tensor.data())[offset];
  if (tensor.dtype() == DType::float64) return reinterpret_cast<const double*>(tensor.data())[offset];
  return at_index(tensor.to(DType::float64), index, outside);
}

namespace {

Array weighted_sum(const std::string& op, const std::vector<Array>& inputs, const Attributes& attributes,
                   std::size_t outputs) {
  Array total = array::zeros({}, DType::float64);
  std::uint64_t seed = 99;
  for (const Array& output : run_all(op, inputs, attributes, outputs)) {
    if (!output.defined() || !is_real(output.dtype())) continue;
    total = total + (output * random_tensor(output.shape(), ++seed, DType::float64)).sum();
  }
  return total;
}

// Central differences for every element of inputs[which].
Array differences(const std::string& op, std::vector<Array> inputs, std::size_t which,
                  const Attributes& attributes, std::size_t outputs) {
  constexpr double step = 1e-6;
  const Array base = inputs[which].contiguous();
  return tabulate(
      base.shape(),
      [&, flat = std::int64_t{0}](const Ints&) mutable {
        const auto moved = [&](double by) {
          Array copy = base.clone();
          copy.reshape({-1})[flat].add_(by);
          inputs[which] = copy;
          return weighted_sum(op, inputs, attributes, outputs).item<double>();
        };
        const double slope = (moved(step) - moved(-step)) / (2 * step);
        ++flat;
        return slope;
      },
      DType::float64);
}

}  // namespace

::testing::AssertionResult gradients_agree(const std::string& op, const std::vector<Array>& inputs,
                                           Attributes attributes, std::size_t outputs) {
  std::vector<Array> leaves, plain;
  std::vector<std::size_t> real;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool floating = inputs[i].defined() && is_real(inputs[i].dtype());
    plain.push_back(floating ? inputs[i].to(DType::float64) : inputs[i]);
    leaves.push_back(floating ? plain[i].clone().requires_grad_() : inputs[i]);
    if (floating) real.push_back(i);
  }
  std::vector<Array> with_respect_to;
  for (const auto i : real) with_respect_to.push_back(leaves[i]);
  const Array total = weighted_sum(op, leaves, attributes, outputs);
  if (!total.requires_grad()) return ::testing::AssertionFailure() << op << " gives no gradient";
  const auto gradients = array::gradients(std::span(&total, 1), with_respect_to);
  for (std::size_t k = 0; k < real.size(); ++k) {
    const Array expected = differences(op, plain, real[k], attributes, outputs);
    const Array actual = gradients[k].defined() ? gradients[k] : array::zeros_like(expected);
    const auto agrees = same(actual, expected, 1e-5);
    if (!agrees)
      return ::testing::AssertionFailure() << op << ", input " << real[k] << ": " << agrees.message();
  }
  return ::testing::AssertionSuccess();
}

}  // namespace assay::testing
