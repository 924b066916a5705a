// Pools, global ones and means over positions.

#include <algorithm>

#include "assay/engine/channels/operators.h"
#include "assay/engine/padding.h"
#include "assay/engine/parameters.h"

namespace assay::channels {
namespace {

class PoolOperation : public Operation {
 public:
  PoolOperation(Value operand, Value result, PoolMap map)
      : operand_(std::move(operand)), result_(std::move(result)), map_(std::move(map)) {}
  void run(const Memory& memory, std::int64_t records) const override {
    const std::int64_t rows = result_.count() / map_.channels;
    for (std::int64_t r = 0; r < records; ++r) {
      pool(map_, rows, memory.at(operand_) + r * operand_.record, memory.at(result_) + r * result_.record);
    }
  }

 private:
  Value operand_, result_;
  PoolMap map_;
};

// `to` is cleared before.
class PoolGradient : public Operation {
 public:
  PoolGradient(Value operand, Value result, Value gradient, Value to, PoolMap map)
      : operand_(std::move(operand)),
        result_(std::move(result)),
        gradient_(std::move(gradient)),
        to_(std::move(to)),
        map_(std::move(map)) {}
  void run(const Memory& memory, std::int64_t records) const override {
    const std::int64_t rows = gradient_.count() / map_.channels;
    for (std::int64_t r = 0; r < records; ++r) {
      pool_gradients(map_, rows, memory.at(operand_) + r * operand_.record,
                     memory.at(result_) + r * result_.record, memory.at(gradient_) + r * gradient_.record,
                     memory.at(to_) + r * to_.record);
    }
  }

 private:
  Value operand_, result_, gradient_, to_;
  PoolMap map_;
};

// Of the rows of an operand that lies plainly.
class RowSums : public Operation {
 public:
  RowSums(Value operand, Value result, float factor)
      : operand_(std::move(operand)), result_(std::move(result)), factor_(factor) {}
  void run(const Memory& memory, std::int64_t records) const override {
    sums(records * result_.count(), operand_.count() / result_.count(), factor_, memory.at(operand_),
         memory.at(result_));
  }

 private:
  Value operand_, result_;
  float factor_;
};

// In place, without gaps.
class Scaling : public Operation {
 public:
  Scaling(Value value, float factor) : value_(std::move(value)), factor_(factor) {}
  void run(const Memory& memory, std::int64_t records) const override {
    float* const numbers = memory.at(value_);
    for (std::int64_t i = 0, count = records * value_.count(); i < count; ++i) numbers[i] *= factor_;
  }

 private:
  Value value_;
  float factor_;
};

bool averages(const Node& node) { return node.op == "AveragePool" || node.op == "GlobalAveragePool"; }

// Positions of one axis that a window covers, and how many of its taps lie in the picture or the padding that
// counts.
struct Covered {
  std::vector<std::int64_t> places;
  std::int64_t counted = 0;
};
Covered covered(const SlidingWindow& window, std::size_t axis, std::int64_t position, std::int64_t size,
                bool counts_padding) {
  Covered found;
  for (std::int64_t k = 0; k < window.kernel[axis]; ++k) {
    const std::int64_t at = position * window.strides[axis] - window.left[axis] + k * window.dilations[axis];
    if (at >= 0 && at < size) found.places.push_back(at);
  }
  found.counted = counts_padding ? window.kernel[axis] : std::ssize(found.places);
  return found;
}

// All places of a window over several axes, as offsets.
void append_offsets(const std::vector<Covered>& axes, const Shape& strides, std::size_t axis, std::int64_t at,
                    std::vector<std::int32_t>& offsets) {
  if (axis == axes.size()) {
    offsets.push_back(static_cast<std::int32_t>(at));
    return;
  }
  for (const std::int64_t place : axes[axis].places)
    append_offsets(axes, strides, axis + 1, at + place * strides[axis + 1], offsets);
}

PoolMap map_of(const Node& node, const SlidingWindow& window, const Value& operand, const Shape& result) {
  const bool counts_padding = node.integer("count_include_pad", 0) != 0;
  PoolMap map;
  map.kind = averages(node) ? Pool::sum : Pool::greatest;
  map.channels = operand.shape[0];
  Shape positions(result.begin() + 1, result.end()), place(positions.size(), 0);
  for (std::int64_t i = 0, all = element_count(positions); i < all; ++i) {
    std::vector<Covered> axes;
    std::int64_t counted = 1;
    for (std::size_t d = 0; d < positions.size(); ++d) {
      axes.push_back(covered(window, d, place[d], operand.shape[d + 1], counts_padding));
      counted *= axes.back().counted;
    }
    map.begins.push_back(static_cast<std::int32_t>(map.offsets.size()));
    append_offsets(axes, operand.strides, 0, 0, map.offsets);
    map.factors.push_back(1.0F / static_cast<float>(counted));
    for (std::size_t d = positions.size(); d-- > 0 && ++place[d] == positions[d];) place[d] = 0;
  }
  map.begins.push_back(static_cast<std::int32_t>(map.offsets.size()));
  return map;
}

// Whether a partial window at the end counts, beyond the padding that the node declares.
bool goes_beyond(const Node& node, const SlidingWindow& window) {
  if (node.text("auto_pad", "NOTSET") != "NOTSET") return true;
  const std::size_t rank = window.kernel.size();
  const std::vector<std::int64_t> pads = entries(node, "pads", 2 * rank, 0);
  for (std::size_t d = 0; d < rank; ++d) {
    if (window.right[d] > pads[d + rank]) return true;
  }
  return false;
}

// Of all positions of a value with channels last.
PoolMap map_of_all(const Value& operand, float factor) {
  PoolMap map{
      .kind = Pool::sum, .offsets = {}, .begins = {}, .factors = {factor}, .channels = operand.shape[0]};
  for (std::int64_t p = 0, all = operand.count() / map.channels; p < all; ++p)
    map.offsets.push_back(static_cast<std::int32_t>(p * map.channels));
  map.begins = {0, static_cast<std::int32_t>(map.offsets.size())};
  return map;
}

// How the gradient of a reduced value lies along all axes of the operand.
Value spread_over(Value gradient, const Shape& operand, std::size_t kept) {
  const Shape steps = plain_strides({operand.begin(), operand.begin() + kept});
  gradient.shape = operand;
  gradient.strides.assign(operand.size(), 0);
  std::ranges::copy(steps, gradient.strides.begin());
  return gradient;
}

}  // namespace

// Over axes that lie at the end.
bool supports_reduction(const Graph& graph, const Node& node, const ShapeOf& shape_of) {
  const auto rank = std::ssize(shape_of(node.inputs[0]));
  std::vector<std::int64_t> axes;
  if (graph.is_constant(node.inputs[0]) || !reduced_axes(graph, node, rank, axes)) return false;
  std::ranges::sort(axes);
  return axes.back() == rank - 1 && std::ranges::adjacent_find(axes, [](std::int64_t a, std::int64_t b) {
                                      return b != a + 1;
                                    }) == axes.end();
}

void compile_reduction(Compiler& compiler, const Node& node) {
  std::vector<std::int64_t> axes;
  const Value& given = compiler.value(node.inputs[0]);
  reduced_axes(compiler.graph(), node, given.shape.size() + 1, axes);
  const std::size_t kept = given.shape.size() - axes.size();
  const bool by_channel = kept == 1 && lies_as(given, channels_last_strides(given.shape));
  const Value operand = by_channel ? given : compiler.plainly(node.inputs[0]);
  const Shape shape = compiler.shape(node.outputs[0]);
  const Value result = compiler.fresh(shape, plain_strides(shape));
  const auto count = operand.count() / result.count();
  const float factor = node.op == "ReduceMean" ? 1.0F / static_cast<float>(count) : 1.0F;
  if (by_channel)
    compiler.add(std::make_unique<PoolOperation>(operand, result, map_of_all(operand, factor)));
  else
    compiler.add(std::make_unique<RowSums>(operand, result, factor));
  compiler.define(node.outputs[0], result);
  compiler.on_way_back(node.outputs[0], {}, [=, &compiler, in = node.inputs[0]](const Value& gradient) {
    const Value scaled = compiler.temporary(result.shape, result.strides),
                part = compiler.temporary(operand.shape, operand.strides);
    compiler.add(arrangement(gradient, scaled));
    compiler.add(std::make_unique<Scaling>(scaled, factor));
    compiler.add(arrangement(spread_over(scaled, operand.shape, kept), part));
    compiler.contribute(in, part);
  });
}

bool supports_pooling(const Graph&, const Node& node, const ShapeOf& shape_of) {
  const Shape& input = shape_of(node.inputs[0]);
  if (input.size() < 3) return false;
  const SlidingWindow window = pool_window(node, input, shape_of(node.outputs[0]));
  if (averages(node) && node.integer("count_include_pad", 0) != 0 && goes_beyond(node, window)) return false;
  for (std::size_t d = 0; d < window.kernel.size(); ++d) {
    // Windows that lie wholly in the padding have no agreed value; dilation with padding is the reference's.
    if (window.left[d] >= window.kernel[d] || window.right[d] >= window.kernel[d]) return false;
    const bool padded = window.left[d] != 0 || window.right[d] > 0;
    if (window.dilations[d] != 1 && (padded || averages(node))) return false;
  }
  return true;
}

void compile_pooling(Compiler& compiler, const Node& node) {
  const SlidingWindow window =
      pool_window(node, compiler.whole_shape(node.inputs[0]), compiler.whole_shape(node.outputs[0]));
  const Value operand = compiler.channels_last(node.inputs[0]);
  const Shape shape = compiler.shape(node.outputs[0]);
  const Value result = compiler.fresh(shape, channels_last_strides(shape));
  const PoolMap map = map_of(node, window, operand, shape);
  compiler.add(std::make_unique<PoolOperation>(operand, result, map));
  compiler.define(node.outputs[0], result);
  std::vector<Value> kept;
  if (map.kind == Pool::greatest) kept = {operand, result};
  compiler.on_way_back(node.outputs[0], kept, [=, &compiler, in = node.inputs[0]](const Value& gradient) {
    const Value given = compiler.as(gradient, result.strides),
                part = compiler.temporary(operand.shape, operand.strides);
    compiler.add(clearing(part));
    compiler.add(std::make_unique<PoolGradient>(operand, result, given, part, map));
    compiler.contribute(in, part);
  });
}

}  // namespace assay::channels
