#include "assay/engine/channels/winograd.h"

#include <algorithm>
#include <array>

#include "assay/engine/channels/linear.h"
#include "assay/engine/direct_sums.h"
#include "assay/engine/lanes/batch_blocks.h"
#include "assay/engine/lanes/winograd.h"

namespace assay::channels {
namespace {

constexpr std::int64_t points = points_of_block, taps_along = 3;

std::int64_t rounded_up(std::int64_t number, std::int64_t by) { return (number + by - 1) / by * by; }

// The convolution by its definition, for a record whose blocks an infinity has spoilt: input 0 is the record,
// input 1 what is added.
class Definition {
 public:
  Definition(const BlockGrid& grid, const Filters& filters) {
    const Value record = lying(Value::Kind::input, 0, {grid.channels, grid.rows, grid.columns}),
                framed =
                    lying(Value::Kind::buffer, 0, {grid.channels, grid.rows_out + 2, grid.columns_out + 2});
    result_ = lying(Value::Kind::buffer, 1, {grid.units, grid.rows_out, grid.columns_out});
    std::optional<Value> added;
    if (filters.added) added = lying(Value::Kind::input, 1, result_.shape);
    const Ints ones{1, 1};
    std::vector<std::int32_t> taps;
    each_of({taps_along, taps_along},
            [&](const Ints& place) { taps.push_back(offset_of(place, ones, framed)); });
    LinearMap map{rows_of(framed, ones, {grid.rows_out, grid.columns_out}, 1),
                  in_blocks(runs_of(taps, grid.channels)), grid.units, grid.units, grid.channels};
    std::vector<FloatBlock> weights;
    weights.push_back(packed(grid.units, taps_along * taps_along * grid.channels, filters.weights.data(),
                             filters.bias.data()));
    operations_.push_back(std::make_unique<Pad>(record, framed, Ints{grid.top, grid.left}));
    operations_.push_back(std::make_unique<Linear>(framed, result_, std::move(map), std::move(weights), 0,
                                                   std::move(added), filters.finish));
    buffers_ = {framed.count(), rounded_up(result_.count(), lanes::width)};
  }

  void run(float* record, float* added, float* result) const {
    Memory memory(buffers_, 2);
    memory.set_input(0, record);
    memory.set_input(1, added);
    for (const auto& operation : operations_) operation->run(memory, 1);
    std::copy_n(memory.at(result_), result_.count(), result);
  }

 private:
  static Value lying(Value::Kind kind, std::size_t index, const Shape& shape) {
    return {kind, index, 0, element_count(shape), shape, channels_last_strides(shape)};
  }

  Value result_;
  std::vector<std::int64_t> buffers_;
  std::vector<std::unique_ptr<Operation>> operations_;
};

// As many blocks as stay in the second-level cache with their sums, but enough of them for weights that do
// not.
std::int64_t blocks_together(const BlockGrid& grid, std::int64_t records) {
  constexpr std::int64_t cached = std::int64_t{3} << 17, heavy = std::int64_t{4} << 20, rows_of_tile = 6;
  constexpr std::int64_t size = sizeof(float);
  const std::int64_t of_block = points * (grid.channels + grid.units) * size,
                     weights = points * grid.channels * grid.units * size,
                     least = weights < cached  ? 6
                             : weights < heavy ? 48
                                               : 96;
  return std::min(std::max(cached / of_block / rows_of_tile * rows_of_tile, least), records * grid.blocks());
}

// One vector more than there is, so that the points of a block do not meet in one set of a cache.
std::int64_t point_step(std::int64_t blocks, std::int64_t channels) {
  return rounded_up(blocks * channels, lanes::width) + lanes::width;
}

// Of each point, packed.
std::array<FloatBlock, points> weights_of_points(const BlockGrid& grid, const std::vector<float>& weights) {
  const std::int64_t pairs = grid.units * grid.channels;
  std::array<std::vector<float>, points> of_points;
  for (std::vector<float>& numbers : of_points) numbers.resize(static_cast<std::size_t>(pairs));
  for (std::int64_t i = 0; i < pairs; ++i) {
    const std::int64_t unit = i / grid.channels, channel = i % grid.channels;
    std::array<lanes::Taps, 4> rows{};
    for (std::int64_t column = 0; column < taps_along; ++column) {
      lanes::Taps down{};
      for (std::int64_t row = 0; row < taps_along; ++row) {
        const std::int64_t tap = row * taps_along + column;
        down[row] = double{weights[(unit * taps_along * taps_along + tap) * grid.channels + channel]};
      }
      const std::array<double, 4> sums = lanes::sums_of_taps(down, taps_along);
      for (std::size_t r = 0; r < sums.size(); ++r) rows[r][column] = sums[r];
    }
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const std::array<double, 4> sums = lanes::sums_of_taps(rows[r], taps_along);
      for (std::size_t c = 0; c < sums.size(); ++c) of_points[4 * r + c][i] = static_cast<float>(sums[c]);
    }
  }
  const std::vector<float> none(static_cast<std::size_t>(grid.units));
  std::array<FloatBlock, points> made;
  for (std::size_t p = 0; p < made.size(); ++p)
    made[p] = packed(grid.units, grid.channels, of_points[p].data(), none.data());
  return made;
}

class FewerProducts : public Operation {
 public:
  FewerProducts(const BlockGrid& grid, Value operand, Value result, const Filters& filters,
                std::int64_t records)
      : grid_(grid),
        operand_(std::move(operand)),
        result_(std::move(result)),
        added_(filters.added),
        finish_(filters.finish),
        bias_(filters.bias),
        together_(blocks_together(grid, records)),
        weights_(weights_of_points(grid, filters.weights)),
        definition_(grid, filters) {
    const Run run{0, static_cast<std::int32_t>(grid.channels)};
    map_ = {{}, in_blocks(std::span(&run, 1)), grid.units, grid.units, grid.channels};
    for (std::int64_t b = 0; b < together_; ++b)
      map_.rows.push_back(static_cast<std::int32_t>(b * grid.channels));
  }

  void run(const Memory& memory, std::int64_t records) const override {
    const std::int64_t step_in = point_step(together_, grid_.channels),
                       step_out = point_step(together_, grid_.units), all = records * grid_.blocks();
    thread_local lanes::ScratchBuffer scratch;
    float* const from = scratch.floats(points * (step_in + step_out) + records * lanes::width);
    float* const to = from + points * step_in;
    float* const finite = to + points * step_out;
    std::fill_n(finite, records * lanes::width, 0.0F);
    std::int64_t finished = 0;
    for (std::int64_t first = 0; first < all; first += together_) {
      const std::int64_t count = std::min(together_, all - first);
      points_of_blocks(grid_, first, count, step_in, memory.at(operand_), from);
      for (std::int64_t p = 0; p < points; ++p)
        apply(map_, 0, count, from + p * step_in, weights_[p].get(), to + p * step_out);
      results_of_blocks(grid_, first, count, step_out, to, bias_.data(), finite, memory.at(result_));
      const std::int64_t made = elements_of(first + count);
      const std::int64_t end = first + count == all ? made : made / lanes::width * lanes::width;
      finish(memory, finished, end);
      finished = end;
    }
    repair(memory, records, finite);
  }

 private:
  // Elements of whole rows of the first so many blocks.
  std::int64_t elements_of(std::int64_t blocks) const {
    const std::int64_t records = blocks / grid_.blocks(), rows = blocks % grid_.blocks() / grid_.across() * 2;
    return records * result_.record + rows * grid_.columns_out * grid_.units;
  }
  // Elements [begin, end): functions take whole vectors.
  void finish(const Memory& memory, std::int64_t begin, std::int64_t end) const {
    float* const made = memory.at(result_) + begin;
    if (added_) {
      apply({.kind = lanes::Binary::add, .inner = end - begin}, made, memory.at(*added_) + begin, made);
    }
    apply_in_place(finish_, end - begin, made);
  }
  // An infinity becomes NaN at its neighbours: such records are computed again, each by itself.
  void repair(const Memory& memory, std::int64_t records, const float* finite) const {
    for (std::int64_t r = 0; r < records; ++r, finite += lanes::width) {
      if (std::all_of(finite, finite + lanes::width, [](float zero) { return zero == 0; })) continue;
      definition_.run(memory.at(operand_) + r * operand_.record,
                      added_ ? memory.at(*added_) + r * added_->record : nullptr,
                      memory.at(result_) + r * result_.record);
    }
  }

  BlockGrid grid_;
  Value operand_, result_;
  std::optional<Value> added_;
  Finish finish_;
  std::vector<float> bias_;
  std::int64_t together_;  // blocks
  std::array<FloatBlock, points> weights_;
  LinearMap map_;
  Definition definition_;
};

// Of so many, with those that fill the last vector.
double full(std::int64_t count) {
  const std::int64_t vector = lanes::lanes_of_vector();
  return rounded_up(count, vector);
}

bool all_are(const Ints& numbers, std::int64_t number) {
  return std::ranges::all_of(numbers, [&](std::int64_t n) { return n == number; });
}

}  // namespace

double BlockGrid::products() const {
  // The sums of a block before and after its products, for each channel and unit.
  constexpr double sums_before = 80, sums_after = 80;
  return blocks() * (static_cast<double>(points * channels) * full(units) + sums_before * full(channels) +
                     sums_after * full(units));
}

bool pays(const BlockGrid& grid) {
  // Fewer channels are products of a few numbers, between which the block of results is written and read.
  constexpr std::int64_t least_channels = 16;
  constexpr double enough = 0.85;
  const double all = static_cast<double>(taps_along * taps_along * grid.channels) * full(grid.units) *
                     static_cast<double>(grid.rows_out * grid.columns_out);
  return grid.channels >= least_channels && grid.units >= least_channels && grid.products() < enough * all;
}

std::optional<BlockGrid> grid_of(const SlidingWindow& window, std::int64_t groups, const Shape& in,
                                 const Shape& out) {
  const bool fits = window.kernel.size() == 2 && groups == 1 && all_are(window.kernel, taps_along) &&
                    all_are(window.strides, 1) && all_are(window.dilations, 1);
  if (!fits) return std::nullopt;
  const BlockGrid grid{in[0], out[0], in[1], in[2], window.left[0], window.left[1], out[1], out[2]};
  return pays(grid) ? std::optional(grid) : std::nullopt;
}

bool is_direct(const Node& node) { return node.integer(direct_sums, 0) != 0; }

std::optional<BlockGrid> grid_of(const Node& node, const SlidingWindow& window, const Shape& in,
                                 const Shape& out) {
  return is_direct(node) ? std::nullopt : grid_of(window, node.integer("group", 1), in, out);
}

std::unique_ptr<Operation> with_fewer_products(const BlockGrid& grid, const Value& operand,
                                               const Value& result, const Filters& filters,
                                               std::int64_t records) {
  return std::make_unique<FewerProducts>(grid, operand, result, filters, records);
}

}  // namespace assay::channels
