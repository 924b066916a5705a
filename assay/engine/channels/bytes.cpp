#include "assay/engine/channels/bytes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <mutex>
#include <span>

#include "assay/engine/channels/linear.h"
#include "assay/engine/operators/parts/quantised.h"

namespace assay::channels {
namespace {

constexpr std::int32_t together = 4;  // bytes in the place of a number
constexpr float most_zero = 255;

// Whether all are whole multiples of the scale, from -128 to 127.
bool are_multiples(std::span<const float> numbers, float scale) {
  constexpr float rounding = 0x1p-21F;
  constexpr std::size_t at_once = 64;
  const float by = 1 / scale;
  for (std::size_t begin = 0; begin < numbers.size(); begin += at_once) {
    int others = 0;
    for (const float x : numbers.subspan(begin, std::min(at_once, numbers.size() - begin))) {
      const float whole = operators::nearest_whole(x * by);
      others += !(std::abs(x - whole * scale) <= rounding * std::abs(x)) || whole > 127;
    }
    if (others > 0) return false;
  }
  return true;
}

std::optional<float> scale_of(std::span<const float> numbers) {
  float most = 0;
  for (const float x : numbers) most = std::max(most, std::abs(x));
  if (most == 0) return 1.0F;
  for (int steps = 128; steps > 0; --steps) {
    const float scale = most / static_cast<float>(steps);
    if (are_multiples(numbers, scale)) return scale;
  }
  return std::nullopt;
}

// Bytes and 32-bit whole numbers in places of floats.
template <typename T>
std::vector<float> in_places(const std::vector<T>& numbers) {
  const std::size_t bytes = numbers.size() * sizeof(T);
  std::vector<float> places(bytes / sizeof(float));
  std::memcpy(places.data(), numbers.data(), bytes);
  return places;
}

// The float that stands for each of them.
std::vector<float> numbers_of(const ByteWeights& weights) {
  const std::size_t inputs = weights.whole.size() / weights.scales.size();
  std::vector<float> numbers;
  for (std::size_t i = 0; i < weights.whole.size(); ++i)
    numbers.push_back(static_cast<float>(weights.whole[i]) * weights.scales[i / inputs]);
  return numbers;
}

std::vector<std::int32_t> sums_of(const ByteWeights& weights) {
  const std::size_t inputs = weights.whole.size() / weights.scales.size();
  std::vector<std::int32_t> sums(weights.scales.size());
  for (std::size_t i = 0; i < weights.whole.size(); ++i) sums[i / inputs] += weights.whole[i];
  return sums;
}

// By lanes, which a compiler makes vectors of.
float least_of(std::int64_t count, const float* numbers) {
  std::array<float, lanes::width> least;
  least.fill(numbers[0]);
  std::int64_t i = 0;
  for (; i + lanes::width <= count; i += lanes::width) {
    for (std::size_t lane = 0; lane < least.size(); ++lane) {
      const float x = numbers[i + static_cast<std::int64_t>(lane)];
      least[lane] = x < least[lane] ? x : least[lane];
    }
  }
  for (; i < count; ++i) least[0] = std::min(least[0], numbers[i]);
  return *std::ranges::min_element(least);
}

// What it reads and makes, and how.
struct Task {
  Value operand, bytes, result;
  ByteLayer layer;
  ByteWindows windows;
  std::vector<float> bias;
  std::optional<Value> added;
  Finish finish;

  std::int64_t width() const { return std::ssize(bias); }
  std::int64_t units() const { return width() / std::ssize(layer.groups); }
};

class ByteProducts : public Operation {
 public:
  explicit ByteProducts(Task task) : task_(std::move(task)) {
    ByteWindows places = task_.windows;
    for (std::int32_t& row : places.rows) row /= together;
    for (Run& run : places.runs) run = {run.offset / together, run.length / together};
    const std::int64_t units = task_.units();
    map_ = {std::move(places.rows), in_blocks(places.runs), units, task_.width(),
            task_.windows.group_step / together};
    const std::vector<float> none(static_cast<std::size_t>(units));
    for (const ByteWeights& group : task_.layer.groups) {
      const std::vector<float> weights = in_places(group.whole);
      groups_.push_back(packed(units, std::ssize(weights) / units, weights.data(), none.data()));
      sums_.push_back(sums_of(group));
      for (const float scale : group.scales) scales_.push_back(scale * task_.layer.scale);
    }
  }

  // Sums of all records together where they begin alike.
  void run(const Memory& memory, std::int64_t records) const override {
    const std::optional<float>& zero = task_.layer.zero;
    std::vector<std::int64_t> others;
    for (std::int64_t r = 0; r < records; ++r) {
      const float own = zero ? *zero : zero_of(memory, r);
      if (std::abs(own) > most_zero || !quantise(memory, r, own))
        others.push_back(r);
      else if (!zero)
        multiply(memory, r, r + 1, own);
    }
    if (zero) multiply(memory, 0, records, *zero);
    for (const std::int64_t r : others) in_floats().run(memory, r, r + 1);
  }

 private:
  float zero_of(const Memory& memory, std::int64_t record) const {
    const float* const numbers = memory.at(task_.operand) + record * task_.operand.record;
    return -operators::nearest_whole(least_of(task_.operand.count(), numbers) / task_.layer.scale);
  }
  bool quantise(const Memory& memory, std::int64_t record, float zero) const {
    const std::int64_t count = task_.operand.count();
    auto* const bytes = reinterpret_cast<std::uint8_t*>(memory.at(task_.bytes));
    return to_bytes(count, memory.at(task_.operand) + record * count, task_.layer.scale, zero,
                    bytes + record * count);
  }

  void multiply(const Memory& memory, std::int64_t begin, std::int64_t end, float zero) const {
    const float* const bytes = memory.at(task_.bytes);
    constexpr std::int64_t near = 240;  // rows whose numbers stay in a second-level cache
    const std::int64_t width = task_.width(), of_record = task_.result.count() / width;
    const std::vector<std::vector<float>> starts = starts_at(zero);
    for (std::int64_t first = begin * of_record; first < end * of_record; first += near) {
      const std::int64_t count = std::min(near, end * of_record - first);
      float* const made = memory.at(task_.result) + first * width;
      for (std::size_t g = 0; g < groups_.size(); ++g) {
        const auto group = static_cast<std::int64_t>(g);
        apply_bytes(map_, first, count, bytes + group * map_.operand_step, groups_[g].get(), starts[g].data(),
                    memory.at(task_.result) + group * map_.units);
      }
      whole_to_numbers(count, width, scales_.data(), task_.bias.data(), made);
      if (task_.added) {
        const float* const added = memory.at(*task_.added) + first * width;
        apply({.kind = lanes::Binary::add, .inner = count * width}, made, added, made);
      }
      apply_in_place(task_.finish, count * width, made);
    }
  }
  // So that zeros of the operand count for nothing; for whole vectors.
  std::vector<std::vector<float>> starts_at(float zero) const {
    std::vector<std::vector<float>> all;
    for (const std::vector<std::int32_t>& sums : sums_) {
      std::vector<std::int32_t> starts((sums.size() + lanes::width - 1) / lanes::width * lanes::width);
      for (std::size_t u = 0; u < sums.size(); ++u) starts[u] = -static_cast<std::int32_t>(zero) * sums[u];
      all.push_back(in_places(starts));
    }
    return all;
  }

  const Linear& in_floats() const {
    std::call_once(once_, [this] {
      const std::int64_t units = task_.units();
      std::vector<FloatBlock> panels;
      for (const ByteWeights& group : task_.layer.groups) {
        const std::vector<float> weights = numbers_of(group);
        const float* const bias = task_.bias.data() + std::ssize(panels) * units;
        panels.push_back(packed(units, std::ssize(weights) / units, weights.data(), bias));
      }
      LinearMap map{task_.windows.rows, in_blocks(task_.windows.runs), units, task_.width(),
                    task_.windows.group_step};
      in_floats_ = std::make_unique<Linear>(task_.operand, task_.result, std::move(map), std::move(panels),
                                            task_.windows.group_step, task_.added, task_.finish);
    });
    return *in_floats_;
  }

  Task task_;
  LinearMap map_;
  std::vector<FloatBlock> groups_;               // packed weights
  std::vector<std::vector<std::int32_t>> sums_;  // of each unit's weights, by group
  std::vector<float> scales_;                    // by unit
  mutable std::once_flag once_;
  mutable std::unique_ptr<Linear> in_floats_;
};

// Whether a node gives bytes whose zero point is known when it runs only.
bool is_found_at_run_time(const Graph& graph, const Node& back) {
  if (back.inputs.size() < 3 || back.inputs[2] == no_value) return false;
  const NodeId source = graph.producer(back.inputs[2]);
  return source != no_node && graph.node(source).op == "DynamicQuantizeLinear" &&
         graph.producer(back.inputs[0]) == source;
}

// Scale and zero point of the bytes that a node de-quantises.
std::optional<ByteLayer> steps_of(const Graph& graph, ValueId operand) {
  const NodeId producer = graph.producer(operand);
  if (producer == no_node || graph.node(producer).op != "DequantizeLinear") return std::nullopt;
  const Node& back = graph.node(producer);
  if (is_found_at_run_time(graph, back)) {
    Node plain = back;
    plain.inputs.resize(2);
    const auto steps = quantisation_of(graph, plain);
    return steps ? std::optional(ByteLayer{steps->scale, std::nullopt, {}}) : std::nullopt;
  }
  const auto steps = quantisation_of(graph, back);
  if (!steps || steps->high - steps->low != 255) return std::nullopt;
  return ByteLayer{steps->scale, steps->zero - steps->low, {}};
}

// Those of a group, from its first unit on. Nothing where a unit's are no multiples.
std::optional<ByteWeights> whole_weights(std::int64_t first, std::int64_t units, std::int64_t inputs,
                                         const WeightsOfUnits& weights) {
  constexpr std::int64_t at_once = 16;  // units
  std::vector<float> some(static_cast<std::size_t>(at_once * inputs));
  ByteWeights found;
  found.whole.reserve(static_cast<std::size_t>(units * inputs));
  for (std::int64_t unit = 0; unit < units; unit += at_once) {
    const std::int64_t count = std::min(at_once, units - unit);
    weights(first + unit, count, some.data());
    for (std::int64_t u = 0; u < count; ++u) {
      const std::span<const float> own(some.data() + u * inputs, static_cast<std::size_t>(inputs));
      const auto scale = scale_of(own);
      if (!scale) return std::nullopt;
      found.scales.push_back(*scale);
      for (const float x : own)
        found.whole.push_back(static_cast<std::int8_t>(operators::nearest_whole(x / *scale)));
    }
  }
  return found;
}

}  // namespace

std::optional<ByteLayer> byte_layer_of(const Graph& graph, ValueId operand, std::int64_t groups,
                                       std::int64_t units, std::int64_t inputs,
                                       const WeightsOfUnits& weights) {
  constexpr std::int64_t most_inputs = 65'536;  // whose sums fit 32 bits
  if (!has_byte_products() || inputs % together != 0 || inputs > most_inputs) return std::nullopt;
  std::optional<ByteLayer> layer = steps_of(graph, operand);
  if (layer && !layer->zero && inputs > most_inputs / 2)
    return std::nullopt;  // numbers reach two bytes' range
  for (std::int64_t g = 0; g < groups && layer; ++g) {
    auto group = whole_weights(g * units, units, inputs, weights);
    if (!group) return std::nullopt;
    layer->groups.push_back(std::move(*group));
  }
  return layer;
}

std::unique_ptr<Operation> byte_products(Compiler& compiler, const Value& operand, const Value& result,
                                         ByteLayer layer, ByteWindows windows, std::vector<float> bias,
                                         std::optional<Value> added, const Finish& finish) {
  // De-quantised numbers lie without gaps between records.
  const Shape places{operand.count() / together};
  const Value bytes = compiler.temporary(places, plain_strides(places));
  return std::make_unique<ByteProducts>(Task{operand, bytes, result, std::move(layer), std::move(windows),
                                             std::move(bias), std::move(added), finish});
}

}  // namespace assay::channels
