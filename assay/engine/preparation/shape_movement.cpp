// Shapes of results of operators that move elements.

#include <algorithm>
#include <numeric>

#include "assay/engine/preparation/shape_rule.h"

namespace assay::inline engine::shape_rules {
namespace {

using operators::Ints;

// Indices that are known lie within these sizes, in turn.
void require_indices_within(const Rules& r, const Shape& sizes) {
  require(r.operands[1].type == DType::int64 || r.operands[1].type == DType::int32);
  const Array* const constant = r.operands[1].constant;
  if (constant == nullptr) return;
  require(constant->dtype() == DType::int64 && constant->is_contiguous());
  const auto* const first = (*constant).elements<std::int64_t>();
  for (std::int64_t i = 0; i < constant->count(); ++i) {
    const std::int64_t size = sizes[static_cast<std::size_t>(i) % sizes.size()];
    require(first[i] >= -size && first[i] < size);
  }
}

}  // namespace

std::int64_t product(Shape::const_iterator begin, Shape::const_iterator end) {
  std::int64_t count = 1;
  for (; begin != end; ++begin) require(!__builtin_mul_overflow(count, *begin, &count));
  return count;
}

Shape broadcast(const Shape& a, const Shape& b) {
  const Shape &longer = a.size() < b.size() ? b : a, &shorter = a.size() < b.size() ? a : b;
  Shape result = longer;
  const std::size_t ahead = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    std::int64_t& size = result[ahead + i];
    require(size == shorter[i] || size == 1 || shorter[i] == 1);
    if (size == 1) size = shorter[i];
  }
  return result;
}

Shape flatten(const Rules& r) {
  const Shape& x = r.shape(0);
  const auto axis = x.begin() + r.axis_in(r.node.integer("axis", 1), r.rank());
  return {product(x.begin(), axis), product(axis, x.end())};
}

Shape reshape(const Rules& r) {
  const Shape& x = r.shape(0);
  Shape target = r.integers(1);
  const bool zero_keeps = r.node.integer("allowzero", 0) == 0;
  require(target.size() <= 64);
  for (std::size_t i = 0; i < target.size(); ++i) {
    require(target[i] >= -1 && (target[i] != 0 || !zero_keeps || i < x.size()));
    if (target[i] == 0 && zero_keeps) target[i] = x[i];
  }
  const std::int64_t count = product(x.begin(), x.end());
  const auto open = std::ranges::find(target, -1);
  if (open != target.end()) {
    *open = 1;
    const std::int64_t rest = product(target.begin(), target.end());
    require(rest > 0 && count % rest == 0);
    *open = count / rest;
  }
  require(std::ranges::find(target, -1) == target.end() && product(target.begin(), target.end()) == count);
  return target;
}

Shape transpose(const Rules& r) {
  Ints order(r.shape(0).size());
  std::iota(order.rbegin(), order.rend(), 0);
  order = r.node.integers("perm", order);
  require(std::ssize(order) == r.rank());
  Shape result;
  for (std::size_t i = 0; i < order.size(); ++i) {
    require(std::ranges::count(order, i) == 1);
    result.push_back(r.shape(0)[order[i]]);
  }
  return result;
}

Shape concat(const Rules& r) {
  Shape result = r.shape(0);
  const std::size_t axis = r.axis_in(r.node.integer("axis", 0), r.rank());
  for (std::size_t i = 1; i < r.operands.size(); ++i) {
    Shape other = r.shape(i);
    require(other.size() == result.size());
    std::swap(other[axis], result[axis]);
    const std::int64_t before = other[axis], added = result[axis];
    other[axis] = result[axis] = before + added;
    require(other == result);
  }
  return result;
}

Shape squeeze(const Rules& r) {
  const std::vector<bool> gone = r.named_axes(r.rank());
  Shape result;
  for (std::size_t i = 0; i < gone.size(); ++i) {
    require(!gone[i] || r.shape(0)[i] == 1);
    if (!gone[i]) result.push_back(r.shape(0)[i]);
  }
  return result;
}

Shape unsqueeze(const Rules& r) {
  const std::vector<bool> fresh = r.named_axes(r.rank() + std::ssize(r.integers(1)));
  require(fresh.size() <= 64);
  Shape result;
  for (std::size_t i = 0, next = 0; i < fresh.size(); ++i)
    result.push_back(fresh[i] ? 1 : r.shape(0)[next++]);
  return result;
}

Shape expand(const Rules& r) {
  const Ints wanted = r.integers(1);
  require(wanted.size() <= 64 && std::ranges::all_of(wanted, [](std::int64_t size) { return size >= 0; }));
  return broadcast(r.shape(0), wanted);
}

Shape gather_elements(const Rules& r) {
  const Shape &x = r.shape(0), &indices = r.shape(1);
  const std::size_t axis = r.axis_in(r.node.integer("axis", 0), r.rank());
  require(indices.size() == x.size());
  for (std::size_t i = 0; i < x.size(); ++i) require(i == axis || indices[i] <= x[i]);
  require_indices_within(r, {x[axis]});
  return indices;
}

Shape gather_nd(const Rules& r) {
  const Shape &x = r.shape(0), &indices = r.shape(1);
  require(!x.empty() && !indices.empty());
  const std::int64_t batch = r.node.integer("batch_dims", 0), depth = indices.back();
  require(batch >= 0 && batch <= std::min(r.rank(), std::ssize(indices) - 1));
  require(depth >= 1 && depth <= r.rank() - batch);
  const auto of_batch = x.begin() + batch;
  require(std::equal(x.begin(), of_batch, indices.begin()));
  require_indices_within(r, {of_batch, of_batch + depth});
  Shape result(indices.begin(), indices.end() - 1);
  result.insert(result.end(), of_batch + depth, x.end());
  return result;
}

Shape gather(const Rules& r) {
  const Shape &x = r.shape(0), &indices = r.shape(1);
  const std::size_t axis = r.axis_in(r.node.integer("axis", 0), r.rank());
  require_indices_within(r, {x[axis]});
  Shape result(x.begin(), x.begin() + axis);
  result.insert(result.end(), indices.begin(), indices.end());
  result.insert(result.end(), x.begin() + axis + 1, x.end());
  return result;
}

// Forward; bounds beyond the ends are moved there.
Shape slice(const Rules& r) {
  const Ints starts = r.integers(1), ends = r.integers(2);
  Ints axes(starts.size()), steps(starts.size(), 1);
  std::iota(axes.begin(), axes.end(), 0);
  if (r.has(3)) axes = r.integers(3);
  if (r.has(4)) steps = r.integers(4);
  require(ends.size() == starts.size() && axes.size() == starts.size() && steps.size() == starts.size());
  std::vector<bool> sliced(r.shape(0).size());
  Shape result = r.shape(0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t axis = r.axis_in(axes[i], r.rank());
    require(!sliced[axis] && steps[i] > 0);
    sliced[axis] = true;
    const std::int64_t size = result[axis], step = std::min(steps[i], std::max<std::int64_t>(1, size));
    const auto place = [&](std::int64_t at) {
      return std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, size);
    };
    result[axis] = (std::max<std::int64_t>(0, place(ends[i]) - place(starts[i])) + step - 1) / step;
  }
  return result;
}

std::vector<ResultForm> split(const Rules& r) {
  const std::size_t axis = r.axis_in(r.node.integer("axis", 0), r.rank());
  const auto parts = std::ssize(r.node.outputs);
  require(parts > 0);
  const std::int64_t size = r.shape(0)[axis];
  Ints sizes(r.node.outputs.size(), size / parts);
  if (r.has(1)) {
    sizes = r.integers(1);
  } else {
    require(size % parts == 0 && r.node.integer("num_outputs", parts) == parts);
  }
  require(std::ssize(sizes) == parts &&
          std::ranges::all_of(sizes, [&](std::int64_t part) { return part >= 0 && part <= size; }) &&
          std::reduce(sizes.begin(), sizes.end()) == size);
  std::vector<ResultForm> results;
  for (const std::int64_t part : sizes) {
    results.push_back({r.shape(0), r.operands[0].type});
    results.back().shape[axis] = part;
  }
  return results;
}

}  // namespace assay::inline engine::shape_rules
