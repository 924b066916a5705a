// The way back through a convolution, which is the way forward through a transposed one: the gradient of a
// position of the operand comes from the results whose windows cover it. Positions that lie a stride apart
// are covered by the same taps: they are a phase.

#include "assay/engine/channels/linear.h"
#include "assay/engine/channels/winograd.h"

namespace assay::channels {
namespace {

// Along an axis: which taps of the kernel meet the positions of a phase, and how many results the first
// position lies in front of each.
struct Meeting {
  std::int64_t tap = 0, shift = 0;
};
std::vector<Meeting> meetings(const SlidingWindow& window, std::size_t axis, std::int64_t phase) {
  std::vector<Meeting> found;
  const std::int64_t stride = window.strides[axis];
  for (std::int64_t k = window.kernel[axis]; k-- > 0;) {
    const std::int64_t at = phase + window.left[axis] - k * window.dilations[axis];
    if (at % stride == 0) found.push_back({k, at / stride});
  }
  return found;  // by ascending shift
}

// A phase: the positions of the operand from `first` on, a stride apart, and what meets them, by axis.
struct Phase {
  Ints first, positions;
  std::vector<std::vector<Meeting>> meetings;
};

std::vector<Phase> phases_of(const SlidingWindow& window, const Shape& operand) {
  std::vector<Phase> phases;
  each_of(window.strides, [&](const Ints& first) {
    Phase phase{first, {}, {}};
    for (std::size_t d = 0; d < first.size(); ++d) {
      phase.positions.push_back((operand[d + 1] - first[d] + window.strides[d] - 1) / window.strides[d]);
      phase.meetings.push_back(meetings(window, d, first[d]));
    }
    const bool met = std::ranges::none_of(phase.meetings, &std::vector<Meeting>::empty) &&
                     std::ranges::none_of(phase.positions, [](std::int64_t n) { return n <= 0; });
    if (met) phases.push_back(std::move(phase));
  });
  return phases;
}

// The gradient with the zeros around it, or without the borders, that the positions of the phase read.
Value framed(Compiler& compiler, const Phase& phase, const Value& gradient) {
  Shape shape = gradient.shape;
  Ints left;
  bool changed = false;
  for (std::size_t d = 0; d < phase.positions.size(); ++d) {
    const std::int64_t least = phase.meetings[d].front().shift, most = phase.meetings[d].back().shift;
    left.push_back(-least);
    shape[d + 1] = phase.positions[d] + most - least;
    changed |= least != 0 || shape[d + 1] != gradient.shape[d + 1];
  }
  if (!changed) return gradient;
  Value result = compiler.temporary(shape, channels_last_strides(shape));
  compiler.add(std::make_unique<Pad>(gradient, result, left));
  return result;
}

// Taps of the kernel, as indices, that meet the phase, and where they read.
struct Covering {
  Ints taps;
  std::vector<std::int32_t> offsets;
};
Covering covering(const Phase& phase, const SlidingWindow& window, const Value& operand) {
  Covering found;
  const Ints ones(phase.meetings.size(), 1);
  Ints sizes;
  for (const auto& axis : phase.meetings) sizes.push_back(std::ssize(axis));
  each_of(sizes, [&](const Ints& which) {
    std::int64_t tap = 0;
    Ints place;
    for (std::size_t d = 0; d < which.size(); ++d) {
      const Meeting& at = phase.meetings[d][which[d]];
      tap = tap * window.kernel[d] + at.tap;
      place.push_back(at.shift - phase.meetings[d].front().shift);
    }
    found.taps.push_back(tap);
    found.offsets.push_back(offset_of(place, ones, operand));
  });
  return found;
}

// The phase as a convolution of the gradient, where that has taps side by side.
SlidingWindow window_of(const Phase& phase) {
  SlidingWindow window;
  for (std::size_t d = 0; d < phase.meetings.size(); ++d) {
    const std::vector<Meeting>& met = phase.meetings[d];
    window.kernel.push_back(std::ssize(met));
    window.strides.push_back(1);
    window.dilations.push_back(met.size() < 2 ? 1 : met[1].shift - met[0].shift);
    window.left.push_back(-met.front().shift);
    window.right.push_back(0);
  }
  return window;
}

// Of a group: [channels][taps that meet the phase][units].
std::vector<float> weights_of(const Backwards& way, const Ints& taps, std::int64_t group) {
  std::vector<float> weights;
  for (std::int64_t c = 0; c < way.channels; ++c) {
    for (const std::int64_t tap : taps) {
      for (std::int64_t u = 0; u < way.units; ++u) weights.push_back(way.weight(group, u, c, tap));
    }
  }
  return weights;
}

// What the positions of a phase get, as a value of its own.
void add_phase(Compiler& compiler, const Backwards& way, const Phase& phase, const Value& gradient,
               const Value& result, const Ending& ending) {
  const auto grid =
      way.direct ? std::nullopt : grid_of(window_of(phase), way.groups, gradient.shape, result.shape);
  if (grid) {
    const Filters filters{weights_of(way, covering(phase, way.window, gradient).taps, 0), ending.bias,
                          ending.added, ending.finish};
    return compiler.add(with_fewer_products(*grid, gradient, result, filters, compiler.rows()));
  }
  const Value operand = framed(compiler, phase, gradient);
  const Covering covers = covering(phase, way.window, operand);
  const Ints ones(phase.positions.size(), 1);
  std::vector<std::int32_t> rows = rows_of(operand, ones, phase.positions, compiler.rows());
  if (way.units == 1 && way.channels == 1) {
    std::vector<float> weights;
    for (const std::int64_t tap : covers.taps) {
      for (std::int64_t g = 0; g < way.groups; ++g) weights.push_back(way.weight(g, 0, 0, tap));
    }
    compiler.add(std::make_unique<Depthwise>(operand, result,
                                             WindowMap{std::move(rows), covers.offsets, way.groups},
                                             std::move(weights), ending.bias, ending.finish));
    return;
  }
  std::vector<FloatBlock> groups;
  for (std::int64_t g = 0; g < way.groups; ++g) {
    const std::vector<float> weights = weights_of(way, covers.taps, g);
    const auto count = std::ssize(covers.taps) * way.units;
    groups.push_back(packed(way.channels, count, weights.data(), ending.bias.data() + g * way.channels));
  }
  LinearMap map{std::move(rows), in_blocks(runs_of(covers.offsets, way.units)), way.channels,
                way.groups * way.channels, way.units};
  compiler.add(std::make_unique<Linear>(operand, result, std::move(map), std::move(groups), way.units,
                                        ending.added, ending.finish));
}

// What the results of a convolution say of few channels: products of all taps at once, which would fill no
// vector one by one, are added where the taps lie. `to` is cleared before.
class Scatter : public Operation {
 public:
  Scatter(const Backwards& way, Value gradient, Value to)
      : window_(way.window), gradient_(std::move(gradient)), to_(std::move(to)), channels_(way.channels) {
    const std::int64_t units = way.taps() * channels_;
    std::vector<float> weights;
    for (std::int64_t tap = 0; tap < way.taps(); ++tap) {
      for (std::int64_t c = 0; c < channels_; ++c) {
        for (std::int64_t u = 0; u < way.units; ++u) weights.push_back(way.weight(0, u, c, tap));
      }
    }
    const std::vector<float> none(units);
    weights_ = packed(units, way.units, weights.data(), none.data());
    const Run run{0, static_cast<std::int32_t>(way.units)};
    map_ = {{}, in_blocks(std::span(&run, 1)), units, units, way.units};
    positions_ = {gradient_.shape.begin() + 1, gradient_.shape.end()};
    for (std::int64_t r = 0; r < together; ++r) map_.rows.push_back(static_cast<std::int32_t>(r * way.units));
  }

  void run(const Memory& memory, std::int64_t records) const override {
    thread_local std::vector<float> products;
    products.resize(together * map_.units);
    const std::int64_t rows = element_count(positions_);
    for (std::int64_t r = 0; r < records; ++r) {
      const float* const gradient = memory.at(gradient_) + r * gradient_.record;
      float* const to = memory.at(to_) + r * to_.record;
      for (std::int64_t first = 0; first < rows; first += together) {
        const std::int64_t count = std::min(together, rows - first);
        apply(map_, 0, count, gradient + first * gradient_.shape[0], weights_.get(), products.data());
        for (std::int64_t i = 0; i < count; ++i) add(first + i, products.data() + i * map_.units, to);
      }
    }
  }

 private:
  // The taps of the window at a position, from the outermost axis to the nearest.
  void add(std::int64_t position, const float* products, float* to) const {
    Ints begin(positions_.size());
    for (std::size_t d = begin.size(); d-- > 0; position /= positions_[d])
      begin[d] = position % positions_[d] * window_.strides[d] - window_.left[d];
    along(0, begin, products, to);
  }
  void along(std::size_t axis, const Ints& begin, const float* products, float* to) const {
    if (axis == begin.size()) {
      for (std::int64_t c = 0; c < channels_; ++c) to[c] += products[c];
      return;
    }
    std::int64_t below = channels_;
    for (std::size_t d = axis + 1; d < begin.size(); ++d) below *= window_.kernel[d];
    for (std::int64_t k = 0; k < window_.kernel[axis]; ++k, products += below) {
      const std::int64_t at = begin[axis] + k * window_.dilations[axis];
      if (at >= 0 && at < to_.shape[axis + 1])
        along(axis + 1, begin, products, to + at * to_.strides[axis + 1]);
    }
  }

  static constexpr std::int64_t together = 96;  // positions whose products stay near

  SlidingWindow window_;
  Value gradient_, to_;
  std::int64_t channels_;
  FloatBlock weights_;
  LinearMap map_;
  Ints positions_;
};

}  // namespace

bool is_one_phase(const SlidingWindow& window) { return element_count(window.strides) == 1; }

bool meets_all(const SlidingWindow& window, const Shape& shape) {
  return phases_of(window, shape).size() == static_cast<std::size_t>(element_count(window.strides));
}

void add_transposed(Compiler& compiler, const Backwards& way, const Value& from, const Value& to,
                    const Ending& ending) {
  const std::vector<Phase> phases = phases_of(way.window, to.shape);
  if (is_one_phase(way.window) && phases.size() == 1)
    return add_phase(compiler, way, phases[0], from, to, ending);
  if (!meets_all(way.window, to.shape)) compiler.add(clearing(to));
  for (const Phase& phase : phases) {
    Value seen = to;
    for (std::size_t d = 0; d < phase.first.size(); ++d) {
      seen.offset += phase.first[d] * to.strides[d + 1];
      seen.strides[d + 1] *= way.window.strides[d];
      seen.shape[d + 1] = phase.positions[d];
    }
    const Value own = compiler.temporary(seen.shape, channels_last_strides(seen.shape));
    add_phase(compiler, way, phase, from, own, ending);
    compiler.add(arrangement(own, seen));
  }
}

void bring_back(Compiler& compiler, const Backwards& way, ValueId operand, const Value& gradient) {
  const Shape shape = compiler.shape(operand), strides = channels_last_strides(shape);
  constexpr std::int64_t few_channels = 8;
  const Value part = compiler.temporary(shape, strides);
  if (way.groups == 1 && way.channels < few_channels && way.units > 1) {
    compiler.add(clearing(part));
    compiler.add(std::make_unique<Scatter>(way, gradient, part));
    return compiler.contribute(operand, part);
  }
  const bool sums =
      is_one_phase(way.window) && meets_all(way.window, shape) && (way.units > 1 || way.channels > 1);
  const Ending ending{std::vector<float>(way.groups * way.channels),
                      sums ? compiler.take_gradient(operand, strides) : std::nullopt};
  add_transposed(compiler, way, gradient, part, ending);
  compiler.contribute(operand, part);
}
}  // namespace assay::channels
