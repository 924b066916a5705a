#pragma once

// A Keras model made layer by layer in a test, written to a file, read back and run; and plain second
// writings of what Keras computes, in loops over channels-last arrays and double precision.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include <assay/graph.h>
#include "tests/model/keras_build.h"
#include "tests/model/keras_temporary.h"

namespace assay::testing {

// A Sequential model whose weights are random.
class Network {
 public:
  explicit Network(const Shape& record, std::string version = "2.11.0")
      : record_(record), version_(std::move(version)) {}

  // Adds a layer and gives its weights, drawn for the shapes given.
  std::vector<Values> add(const std::string& class_name, const std::string& more = "",
                          const std::vector<Shape>& weights = {});
  // Adds a layer with these weights.
  void add_with(const std::string& class_name, const std::string& more, const std::vector<Values>& weights);
  Graph read() const;
  // Reads the model and runs it on an input in Keras's layout; so is the result.
  Values run(const Values& input) const;

 private:
  Shape record_;
  std::string version_;
  std::vector<std::string> layers_;
  std::vector<LayerValues> weights_;
  std::uint64_t seed_ = 1;
};

// Runs a graph node by node on inputs in Keras's layout. Inputs and outputs of rank 4 and more are moved to
// and from channels first, unless `as_is`.
std::vector<Values> run_graph(const Graph& graph, const std::vector<Values>& inputs, bool as_is = false);

// The same by a session, with the back ends that it picks.
std::vector<Values> run_session(const Graph& graph, const std::vector<Values>& inputs, bool as_is = false);

// Same shape, and values within a tolerance (relative to the larger of 1 and the value).
::testing::AssertionResult same(const Values& actual, const Values& expected, double tolerance = 1e-4);

// ---- second writings
// -------------------------------------------------------------------------------------------

// An element by its index.
float at(const Values& values, const Shape& index);
// A tensor whose element at an index is value(index).
Values tabulate(const Shape& shape, const std::function<double(const Shape&)>& value);
Values map(const Values& x, const std::function<double(double)>& function);

Values plain_dense(const Values& x, const Values& kernel, const Values& bias);

struct PlainWindow {
  Shape size, stride, dilation;
  std::string padding;
};
// x [n, positions..., channels], kernel [window..., channels / groups, filters]; pass no bias as an empty
// Values.
Values plain_conv(const Values& x, const Values& kernel, const Values& bias, const PlainWindow& window,
                  int groups = 1);
// Applies `reduce` to the values under each window, those outside the image left out.
Values plain_pool(const Values& x, const PlainWindow& window,
                  const std::function<double(const std::vector<double>&)>& reduce);
double largest(const std::vector<double>& values);
double mean(const std::vector<double>& values);
double sigmoid(double x);

}  // namespace assay::testing
