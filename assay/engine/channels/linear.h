#pragma once

// Operations of convolutions and dense layers, and what they have in common: pictures are padded first, so
// that all windows read their operand at the same offsets.

#include <algorithm>
#include <cstring>

#include "assay/engine/channels/bytes.h"
#include "assay/engine/channels/functions.h"
#include "assay/engine/channels/operators.h"

namespace assay::channels {

using Ints = std::vector<std::int64_t>;

// A picture with zeros around it, channels last. What lies beyond a negative padding is cut off.
class Pad : public Operation {
 public:
  // `left`: by axis after the channels.
  Pad(Value from, Value to, Ints left) : from_(std::move(from)), to_(std::move(to)), left_(std::move(left)) {}
  void run(const Memory& memory, std::int64_t records) const override {
    for (std::int64_t r = 0; r < records; ++r)
      copy(1, memory.at(from_) + r * from_.record, memory.at(to_) + r * to_.record);
  }

 private:
  static void clear(float* to, std::int64_t count) { std::memset(to, 0, count * sizeof(float)); }
  void copy(std::size_t axis, const float* from, float* to) const {
    const std::int64_t step = from_.strides[axis], step_to = to_.strides[axis], left = left_[axis - 1];
    const std::int64_t begin = std::clamp<std::int64_t>(left, 0, to_.shape[axis]),
                       end = std::clamp<std::int64_t>(left + from_.shape[axis], begin, to_.shape[axis]);
    clear(to, begin * step_to);
    clear(to + end * step_to, (to_.shape[axis] - end) * step_to);
    from += (begin - left) * step;
    to += begin * step_to;
    if (axis + 1 == from_.shape.size()) {
      std::memcpy(to, from, (end - begin) * step_to * sizeof(float));
      return;
    }
    for (std::int64_t i = begin; i < end; ++i, from += step, to += step_to) copy(axis + 1, from, to);
  }

  Value from_, to_;
  Ints left_;
};

class Linear : public Operation {
 public:
  // For every group: the map is the same, what differs is where operand, weights and result begin.
  Linear(Value operand, Value result, LinearMap map, std::vector<FloatBlock> groups, std::int64_t group_step,
         std::optional<Value> added, Finish finish)
      : operand_(std::move(operand)),
        result_(std::move(result)),
        map_(std::move(map)),
        groups_(std::move(groups)),
        group_step_(group_step),
        added_(std::move(added)),
        finish_(finish),
        rows_(result_.count() / map_.result_step) {}

  void run(const Memory& memory, std::int64_t records) const override { run(memory, 0, records); }
  // From the record `begin` to before `end`.
  void run(const Memory& memory, std::int64_t begin, std::int64_t end) const {
    const float* const operand = memory.at(operand_);
    float* const result = memory.at(result_);
    constexpr std::int64_t together = 240;  // rows whose numbers stay in a second-level cache
    const std::int64_t rows = end * rows_;
    for (std::int64_t first = begin * rows_; first < rows; first += together) {
      const std::int64_t count = std::min(together, rows - first);
      for (std::size_t g = 0; g < groups_.size(); ++g) {
        const std::int64_t group = g;
        apply(map_, first, count, operand + group * group_step_, groups_[g].get(),
              result + group * map_.units);
      }
      float* const made = result + first * map_.result_step;
      if (added_) {
        const float* const added = memory.at(*added_) + first * map_.result_step;
        apply({.kind = lanes::Binary::add, .inner = count * map_.result_step}, made, added, made);
      }
      apply_in_place(finish_, count * map_.result_step, made);
    }
  }

 private:
  Value operand_, result_;
  LinearMap map_;
  std::vector<FloatBlock> groups_;  // packed weights
  std::int64_t group_step_;
  std::optional<Value> added_;
  Finish finish_;
  std::int64_t rows_;  // of a record
};

class Depthwise : public Operation {
 public:
  Depthwise(Value operand, Value result, WindowMap map, std::vector<float> weights, std::vector<float> bias,
            Finish finish)
      : operand_(std::move(operand)),
        result_(std::move(result)),
        map_(std::move(map)),
        weights_(std::move(weights)),
        bias_(std::move(bias)),
        finish_(finish) {}

  void run(const Memory& memory, std::int64_t records) const override {
    float* const result = memory.at(result_);
    convolve(map_, records * (result_.count() / map_.channels), memory.at(operand_), weights_.data(),
             bias_.data(), result);
    apply_in_place(finish_, records * result_.count(), result);
  }

 private:
  Value operand_, result_;
  WindowMap map_;
  std::vector<float> weights_, bias_;
  Finish finish_;
};
// Calls body(place) for all places of a grid, in order.
template <typename Body>
void each_of(const Ints& sizes, const Body& body) {
  Ints place(sizes.size(), 0);
  for (std::int64_t i = 0, all = element_count(sizes); i < all; ++i) {
    body(place);
    for (std::size_t d = sizes.size(); d-- > 0 && ++place[d] == sizes[d];) place[d] = 0;
  }
}
// Where a place of a grid is in a picture, so many positions apart along each axis.
std::int32_t offset_of(const Ints& place, const Ints& steps, const Value& picture);
// The same for all records and positions of a grid.
std::vector<std::int32_t> rows_of(const Value& operand, const Ints& steps, const Ints& positions,
                                  std::int64_t records);
// Taps that lie side by side are one run.
std::vector<Run> runs_of(std::span<const std::int32_t> taps, std::int64_t channels);

// Weights and bias after what is folded into them, and the value that is computed then.
struct Folded {
  std::vector<float> weights, bias;
  std::optional<Added> added;
  Finish finish;
  ValueId result = no_value;
  std::optional<ByteLayer> bytes = {};
};

// `strides` of the result.
Folded folded(Compiler& compiler, const Node& node, const Shape& strides, bool sums);
std::optional<Value> value_of(const std::optional<Added>& added);
// What the gradient is in front of the function and the sum that the result has passed.
Value before_finish(Compiler& compiler, const Folded& parts, const Value& result, const Value& gradient);
void on_way_back(Compiler& compiler, const Folded& parts, const Value& result, Compiler::Step step);

// The way back through a convolution.
struct Backwards {
  SlidingWindow window;
  std::int64_t groups = 1, units = 0, channels = 0;  // of a group
  std::vector<float> weights;                        // [groups * units][channels][taps]
  bool direct = false;                               // sums of all products (direct_sums.h)

  std::int64_t taps() const { return element_count(window.kernel); }
  float weight(std::int64_t group, std::int64_t unit, std::int64_t channel, std::int64_t tap) const {
    return weights[static_cast<std::size_t>(((group * units + unit) * channels + channel) * taps() + tap)];
  }
};
// What happens to sums of products: on the way back nothing but another sum.
struct Ending {
  std::vector<float> bias;  // [groups * channels]
  std::optional<Value> added = {};
  Finish finish = {};
};
// What a transposed convolution makes of `from`: `way` leads from its results back to its operand. `from`
// lies with channels last, `to` is a buffer of that kind. REQUIRES no sum but where is_one_phase().
void add_transposed(Compiler& compiler, const Backwards& way, const Value& from, const Value& to,
                    const Ending& ending);
// Whether all results read the same taps, in one product.
bool is_one_phase(const SlidingWindow& window);
// Whether each result of this shape is met by a tap.
bool meets_all(const SlidingWindow& window, const Shape& shape);

// Adds to the gradient of the operand. `gradient` lies with channels last.
void bring_back(Compiler& compiler, const Backwards& way, ValueId operand, const Value& gradient);

}  // namespace assay::channels
