// How values lie in memory, and how they are moved.

#include <algorithm>
#include <cstring>
#include <numeric>

#include "assay/array/transposed.h"
#include "assay/engine/channels/kernels.h"
#include "assay/engine/channels/program.h"

namespace assay::channels {
namespace {

// Axes of more than one element, the widest steps of the target first; neighbours that lie as one axis in
// both places are one.
struct Axes {
  Shape sizes, from, to;
};

Axes axes_of(const Value& from, const Value& to) {
  std::vector<std::size_t> order(from.shape.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t axis) { return from.shape[axis] == 1; });
  // What is summed lies at one place of the target.
  const auto width_of = [&](std::size_t axis) {
    return to.strides[axis] == 0 ? from.strides[axis] : to.strides[axis];
  };
  std::ranges::stable_sort(order, std::ranges::greater(), width_of);
  Axes axes;
  for (const std::size_t axis : order) {
    const std::int64_t size = from.shape[axis], step = from.strides[axis], step_to = to.strides[axis];
    if (!axes.sizes.empty() && axes.from.back() == size * step && axes.to.back() == size * step_to) {
      axes.sizes.back() *= size;
      axes.from.back() = step;
      axes.to.back() = step_to;
    } else {
      axes.sizes.push_back(size);
      axes.from.push_back(step);
      axes.to.push_back(step_to);
    }
  }
  return axes;
}

// All axes but `skipped` ones: calls body(source, target) for every place.
template <typename Body>
void each_place(const Axes& axes, std::size_t first_skipped, std::size_t second_skipped, const float* source,
                float* target, std::size_t axis, const Body& body) {
  if (axis == axes.sizes.size()) return body(source, target);
  if (axis == first_skipped || axis == second_skipped)
    return each_place(axes, first_skipped, second_skipped, source, target, axis + 1, body);
  for (std::int64_t i = 0; i < axes.sizes[axis]; ++i) {
    each_place(axes, first_skipped, second_skipped, source + i * axes.from[axis], target + i * axes.to[axis],
               axis + 1, body);
  }
}

void add(const Value& from, const float* source, const Value& to, float* target) {
  const Axes axes = axes_of(from, to);
  const std::size_t rank = axes.sizes.size();
  if (rank == 0) {
    *target += *source;
    return;
  }
  const std::size_t last = rank - 1;
  const std::int64_t count = axes.sizes[last], step = axes.from[last], step_to = axes.to[last];
  each_place(axes, last, last, source, target, 0, [&](const float* x, float* y) {
    if (step == 1 && step_to == 1) return apply({.kind = lanes::Binary::add, .inner = count}, y, x, y);
    for (std::int64_t i = 0; i < count; ++i) y[i * step_to] += x[i * step];
  });
}

using Movement = void (*)(const Value&, const float*, const Value&, float*);

class MovedRecords : public Operation {
 public:
  MovedRecords(Movement move, Value from, Value to)
      : move_(move), from_(std::move(from)), to_(std::move(to)) {}
  void run(const Memory& memory, std::int64_t records) const override {
    const float* const source = memory.at(from_);
    float* const target = memory.at(to_);
    for (std::int64_t r = 0; r < records; ++r)
      move_(from_, source + r * from_.record, to_, target + r * to_.record);
  }

 private:
  Movement move_;
  Value from_, to_;
};

class Clearing : public Operation {
 public:
  explicit Clearing(Value value) : value_(std::move(value)) {}
  void run(const Memory& memory, std::int64_t records) const override {
    std::memset(memory.at(value_), 0, records * value_.count() * sizeof(float));
  }

 private:
  Value value_;
};

}  // namespace

std::unique_ptr<Operation> arrangement(Value from, Value to) {
  return std::make_unique<MovedRecords>(arrange, std::move(from), std::move(to));
}

std::unique_ptr<Operation> accumulation(Value from, Value to) {
  return std::make_unique<MovedRecords>(add, std::move(from), std::move(to));
}

std::unique_ptr<Operation> clearing(Value value) { return std::make_unique<Clearing>(std::move(value)); }

Shape plain_strides(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

Shape channels_last_strides(const Shape& shape) {
  if (shape.size() < 2) return plain_strides(shape);
  Shape strides(shape.size(), 1);
  std::int64_t step = shape[0];
  for (std::size_t d = shape.size(); d-- > 1;) {
    strides[d] = step;
    step *= shape[d];
  }
  return strides;
}

bool lies_as(const Value& value, const Shape& strides) {
  for (std::size_t d = 0; d < strides.size(); ++d) {
    if (value.shape[d] != 1 && value.strides[d] != strides[d]) return false;
  }
  return value.record == value.count();
}

bool is_dense(const Value& value) {
  std::vector<std::pair<std::int64_t, std::int64_t>> axes;
  for (std::size_t d = 0; d < value.shape.size(); ++d) {
    if (value.shape[d] != 1) axes.emplace_back(value.strides[d], value.shape[d]);
  }
  std::ranges::sort(axes);
  std::int64_t step = 1;
  for (const auto& [stride, size] : axes) {
    if (stride != step) return false;
    step *= size;
  }
  return value.record == step;
}

Memory::Memory(const std::vector<std::int64_t>& buffers, std::size_t inputs) : inputs_(inputs) {
  for (const std::int64_t floats : buffers) buffers_.push_back(allocate_floats(floats));
}

void arrange(const Value& from, const float* source, const Value& to, float* target) {
  const Axes axes = axes_of(from, to);
  const std::size_t rank = axes.sizes.size();
  if (rank == 0) {
    *target = *source;
    return;
  }
  const std::size_t last = rank - 1;
  const auto near = std::ranges::find(axes.from, 1) - axes.from.begin();
  const std::size_t along = near;
  if (axes.to[last] == 1 && axes.from[last] == 1) {
    const auto bytes = axes.sizes[last] * sizeof(float);
    return each_place(axes, last, last, source, target, 0,
                      [&](const float* x, float* y) { std::memcpy(y, x, bytes); });
  }
  if (axes.to[last] == 1 && along < last) {
    return each_place(axes, along, last, source, target, 0, [&](const float* x, float* y) {
      array::write_transposed(axes.sizes[last], axes.sizes[along], axes.from[last], x, axes.to[along], y);
    });
  }
  each_place(axes, last, last, source, target, 0, [&](const float* x, float* y) {
    for (std::int64_t i = 0; i < axes.sizes[last]; ++i) y[i * axes.to[last]] = x[i * axes.from[last]];
  });
}

}  // namespace assay::channels
