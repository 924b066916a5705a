#include "network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <assay/array_math.h>
#include <assay/session.h>
#include "assay/engine/operators/kernel.h"
#include "assay/model/keras/read.h"

namespace assay::testing {
namespace {

std::vector<std::int64_t> to_first(std::size_t rank) {
  std::vector<std::int64_t> order{0, static_cast<std::int64_t>(rank) - 1};
  for (std::size_t i = 1; i + 1 < rank; ++i) order.push_back(static_cast<std::int64_t>(i));
  return order;
}

std::vector<std::int64_t> to_last(std::size_t rank) {
  std::vector<std::int64_t> order{0};
  for (std::size_t i = 2; i < rank; ++i) order.push_back(static_cast<std::int64_t>(i));
  order.push_back(1);
  return order;
}

Array tensor_of(const Values& values) { return Array::of<float>(values.shape, values.data); }

Values values_of(const Array& tensor) {
  const Array flat = tensor.to(DType::float32).contiguous();
  return {tensor.shape(), std::vector<float>(flat.elements<float>(), flat.elements<float>() + flat.count())};
}

std::int64_t offset(const Shape& shape, const Shape& index) {
  std::int64_t position = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) position = position * shape[i] + index[i];
  return position;
}

// Calls visit(index) for every index, in row-major order.
void each(const Shape& shape, const std::function<void(const Shape&)>& visit) {
  Shape index(shape.size(), 0);
  for (std::int64_t count = element_count(shape); count > 0; --count) {
    visit(index);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
}

// Output positions and the padding before the first, for each axis.
std::pair<Shape, Shape> plan(const Shape& positions, const PlainWindow& window) {
  Shape count, before;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const std::int64_t reach = (window.size[i] - 1) * window.dilation[i] + 1;
    if (window.padding == "valid") {
      count.push_back((positions[i] - reach) / window.stride[i] + 1);
      before.push_back(0);
    } else {
      count.push_back((positions[i] + window.stride[i] - 1) / window.stride[i]);
      const std::int64_t needed =
          std::max<std::int64_t>((count[i] - 1) * window.stride[i] + reach - positions[i], 0);
      before.push_back(window.padding == "causal" ? reach - 1 : needed / 2);
    }
  }
  return {count, before};
}

Shape positions_of(const Values& x) { return Shape(x.shape.begin() + 1, x.shape.end() - 1); }

Shape join(std::int64_t first, const Shape& middle, std::int64_t last) {
  Shape shape{first};
  shape.insert(shape.end(), middle.begin(), middle.end());
  shape.push_back(last);
  return shape;
}

// The position that entry `tap` of a window at `out` reads; empty when it is outside the image.
Shape position_under(const Shape& out, const Shape& tap, const Shape& before, const Shape& positions,
                     const PlainWindow& window) {
  Shape place;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const std::int64_t p = out[i + 1] * window.stride[i] - before[i] + tap[i] * window.dilation[i];
    if (p < 0 || p >= positions[i]) return {};
    place.push_back(p);
  }
  return place;
}

}  // namespace

std::vector<Values> Network::add(const std::string& class_name, const std::string& more,
                                 const std::vector<Shape>& weights) {
  std::vector<Values> drawn;
  for (const Shape& shape : weights) drawn.push_back(random_values(shape, seed_++));
  add_with(class_name, more, drawn);
  return drawn;
}

void Network::add_with(const std::string& class_name, const std::string& more,
                       const std::vector<Values>& weights) {
  const std::string name = "layer" + std::to_string(layers_.size());
  std::string config = more;
  if (layers_.empty())
    config += (more.empty() ? "" : ", ") + ("\"batch_input_shape\": " + shape_json(record_));
  layers_.push_back(layer_json(class_name, name, config));
  LayerValues entry{name, {}};
  for (std::size_t i = 0; i < weights.size(); ++i)
    entry.weights.emplace_back(name + "/w" + std::to_string(i) + ":0", weights[i]);
  weights_.push_back(entry);
}

Graph Network::read() const {
  const auto path = temporary("network.h5");
  write_h5(path, sequential_json(layers_), weights_, version_);
  return read_keras_h5(path);
}

Values Network::run(const Values& input) const { return run_graph(read(), {input}).front(); }

namespace {

// The graph's inputs, channels first where they are pictures.
Tensors given_values(const Graph& graph, const std::vector<Values>& inputs, bool as_is) {
  Tensors known;
  for (std::size_t i = 0; i < graph.inputs().size(); ++i) {
    const Value& declared = graph.value(graph.inputs()[i]);
    Array x = tensor_of(inputs.at(i));
    if (!as_is && inputs[i].shape.size() >= 4) x = x.permute(to_first(inputs[i].shape.size())).contiguous();
    if (declared.dtype == DType::int64) x = x.to(DType::int64);
    EXPECT_EQ(declared.shape.size(), static_cast<std::size_t>(x.rank()));
    for (std::size_t axis = 1; axis < declared.shape.size(); ++axis) {
      EXPECT_TRUE(declared.shape[axis] < 0 ||
                  declared.shape[axis] == x.size(static_cast<std::int64_t>(axis)));
    }
    known[graph.inputs()[i]] = x;
  }
  return known;
}

std::vector<Values> outputs_of(const Graph& graph, const Tensors& known, bool as_is) {
  std::vector<Values> outputs;
  for (const ValueId id : graph.outputs()) {
    Array y = known.at(id);
    if (!as_is && y.rank() >= 4) y = y.permute(to_last(static_cast<std::size_t>(y.rank()))).contiguous();
    outputs.push_back(values_of(y));
  }
  return outputs;
}

}  // namespace

std::vector<Values> run_session(const Graph& graph, const std::vector<Values>& inputs, bool as_is) {
  const Session session{graph};
  return outputs_of(graph, session.run(given_values(graph, inputs, as_is), graph.outputs()), as_is);
}

std::vector<Values> run_graph(const Graph& graph, const std::vector<Values>& inputs, bool as_is) {
  Tensors known = given_values(graph, inputs, as_is);
  for (const ValueId id : graph.value_ids()) {
    if (graph.is_constant(id)) known[id] = graph.constant(id);
  }
  for (const Node& node : graph.nodes()) {
    std::vector<Array> operands;
    for (const ValueId id : node.inputs) operands.push_back(id == no_value ? Array() : known.at(id));
    KernelContext context;
    const auto results = run_node(node, operands, context);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] != no_value) known[node.outputs[i]] = results.at(i);
    }
  }
  return outputs_of(graph, known, as_is);
}

::testing::AssertionResult same(const Values& actual, const Values& expected, double tolerance) {
  if (actual.shape != expected.shape) {
    return ::testing::AssertionFailure()
           << "shape " << to_string(actual.shape) << " instead of " << to_string(expected.shape);
  }
  for (std::size_t i = 0; i < actual.data.size(); ++i) {
    const double wanted = expected.data[i];
    if (!(std::abs(actual.data[i] - wanted) <= tolerance * std::max(1.0, std::abs(wanted)))) {
      return ::testing::AssertionFailure()
             << "element " << i << " is " << actual.data[i] << " instead of " << wanted;
    }
  }
  return ::testing::AssertionSuccess();
}

float at(const Values& values, const Shape& index) {
  return values.data[static_cast<std::size_t>(offset(values.shape, index))];
}

Values tabulate(const Shape& shape, const std::function<double(const Shape&)>& value) {
  Values result{shape, {}};
  each(shape, [&](const Shape& index) { result.data.push_back(static_cast<float>(value(index))); });
  return result;
}

Values map(const Values& x, const std::function<double(double)>& function) {
  Values result = x;
  for (float& value : result.data) value = static_cast<float>(function(value));
  return result;
}

Values plain_dense(const Values& x, const Values& kernel, const Values& bias) {
  Shape shape = x.shape;
  shape.back() = kernel.shape[1];
  return tabulate(shape, [&](const Shape& index) {
    double sum = bias.data.empty() ? 0 : at(bias, {index.back()});
    Shape source = index;
    for (source.back() = 0; source.back() < kernel.shape[0]; ++source.back()) {
      sum += double{at(x, source)} * at(kernel, {source.back(), index.back()});
    }
    return sum;
  });
}

Values plain_conv(const Values& x, const Values& kernel, const Values& bias, const PlainWindow& window,
                  int groups) {
  const Shape positions = positions_of(x);
  const auto [count, before] = plan(positions, window);
  const std::int64_t filters = kernel.shape.back(), depth = kernel.shape[kernel.shape.size() - 2];
  return tabulate(join(x.shape[0], count, filters), [&, b = before](const Shape& out) {
    const std::int64_t group = out.back() / (filters / groups);
    double sum = bias.data.empty() ? 0 : at(bias, {out.back()});
    each(window.size, [&](const Shape& tap) {
      const Shape place = position_under(out, tap, b, positions, window);
      if (place.empty()) return;
      for (std::int64_t c = 0; c < depth; ++c) {
        Shape weight = tap;
        weight.insert(weight.end(), {c, out.back()});
        sum += double{at(x, join(out[0], place, group * depth + c))} * at(kernel, weight);
      }
    });
    return sum;
  });
}

Values plain_pool(const Values& x, const PlainWindow& window,
                  const std::function<double(const std::vector<double>&)>& reduce) {
  const Shape positions = positions_of(x);
  const auto [count, before] = plan(positions, window);
  return tabulate(join(x.shape[0], count, x.shape.back()), [&, b = before](const Shape& out) {
    std::vector<double> values;
    each(window.size, [&](const Shape& tap) {
      const Shape place = position_under(out, tap, b, positions, window);
      if (!place.empty()) values.push_back(at(x, join(out[0], place, out.back())));
    });
    return reduce(values);
  });
}

double largest(const std::vector<double>& values) { return *std::max_element(values.begin(), values.end()); }
double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

}  // namespace assay::testing
