#pragma once

// Running one operator in a test, and comparing it with a plain second writing in loops.

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include <assay/error.h>
#include "assay/engine/kernel.h"

namespace assay::testing {

using Ints = std::vector<std::int64_t>;
using Attributes = std::map<std::string, Attribute>;

// A node named "n" with as many inputs as given and `outputs` outputs.
Node make_node(std::string op, std::size_t inputs, Attributes attributes = {}, std::size_t outputs = 1);
// Whatever is run here is also checked against the rule for the result's shape, where there is one.
std::vector<Tensor> run_all(const std::string& op, const std::vector<Tensor>& inputs,
                            Attributes attributes = {}, std::size_t outputs = 1);
Tensor run(const std::string& op, const std::vector<Tensor>& inputs, Attributes attributes = {});
// The fault that running it throws; fails the test when it throws nothing.
Fault fault_of(const std::string& op, const std::vector<Tensor>& inputs, Attributes attributes = {});

// Standard normal numbers that depend on the seed only.
Tensor random_tensor(const Ints& shape, std::uint64_t seed, at::ScalarType type = at::kFloat);
Tensor ints(const Ints& values);
Tensor truth(const Ints& values);
Tensor floats(const Ints& shape, const std::vector<float>& values);

// Same shape and values within `tolerance` (relative to the larger of 1 and the value); NaN equals NaN.
::testing::AssertionResult same(const Tensor& actual, const Tensor& expected, double tolerance = 1e-5);

// Calls visit(index) for every index of the shape, in row-major order.
void for_each_index(const Ints& shape, const std::function<void(const Ints&)>& visit);
// A tensor whose element at index i is value(i).
Tensor tabulate(const Ints& shape, const std::function<double(const Ints&)>& value,
                at::ScalarType type = at::kFloat);
// The element, or `outside` when the index is out of range on some axis.
double at_index(const Tensor& tensor, const Ints& index, double outside = 0);

// Checks the gradients of sum(weights * op(inputs)) with respect to the inputs of floating-point type against
// central differences in double precision. `inputs` must be away from kinks.
::testing::AssertionResult gradients_agree(const std::string& op, const std::vector<Tensor>& inputs,
                                           Attributes attributes = {}, std::size_t outputs = 1);

}  // namespace assay::testing
