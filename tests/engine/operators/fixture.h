#pragma once

// Running one operator in a test, and comparing it with a plain second writing in loops.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include <assay/array_math.h>
#include <assay/error.h>
#include "assay/engine/operators/kernel.h"

namespace assay::testing {

using Ints = std::vector<std::int64_t>;
using Attributes = std::map<std::string, Attribute>;

// A node named "n" with as many inputs as given and `outputs` outputs.
Node make_node(std::string op, std::size_t inputs, Attributes attributes = {}, std::size_t outputs = 1);
// Whatever is run here is also checked against the rule for the result's shape, where there is one.
std::vector<Array> run_all(const std::string& op, const std::vector<Array>& inputs,
                           Attributes attributes = {}, std::size_t outputs = 1);
Array run(const std::string& op, const std::vector<Array>& inputs, Attributes attributes = {});
// The fault that running it throws; fails the test when it throws nothing.
Fault fault_of(const std::string& op, const std::vector<Array>& inputs, Attributes attributes = {});

// Standard normal numbers that depend on the seed only.
Array random_tensor(const Ints& shape, std::uint64_t seed, DType type = DType::float32);
Array ints(const Ints& values);
Array truth(const Ints& values);
Array floats(const Ints& shape, const std::vector<float>& values);

// Same shape and values within `tolerance` (relative to the larger of 1 and the value); NaN equals NaN.
::testing::AssertionResult same(const Array& actual, const Array& expected, double tolerance = 1e-5);

// Calls visit(index) for every index of the shape, in row-major order.
void for_each_index(const Ints& shape, const std::function<void(const Ints&)>& visit);
// A tensor whose element at index i is value(i).
Array tabulate(const Ints& shape, const std::function<double(const Ints&)>& value,
               DType type = DType::float32);
// The element, or `outside` when the index is out of range on some axis.
double at_index(const Array& tensor, const Ints& index, double outside = 0);

// Checks the gradients of sum(weights * op(inputs)) with respect to the inputs of floating-point type against
// central differences in double precision. `inputs` must be away from kinks.
::testing::AssertionResult gradients_agree(const std::string& op, const std::vector<Array>& inputs,
                                           Attributes attributes = {}, std::size_t outputs = 1);

}  // namespace assay::testing
