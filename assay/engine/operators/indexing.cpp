// Looking up and writing elements by index.

#include <algorithm>

#include "assay/engine/operators/parts/support.h"

namespace assay::operators {
namespace {

// Rows of `indices` ([..., depth]) as one index into the first `depth` axes of `shape`, flattened.
Array flat_rows(const Array& indices, Shape shape) {
  Array flat =
      array::zeros(part_of(indices.shape(), 0, static_cast<std::size_t>(indices.rank() - 1)), DType::int64);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    flat = flat * shape[i] + checked_indices(indices.select(-1, i), shape[i]);
  }
  return flat;
}

Ints joined(Ints a, const Ints& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// `updates` written into `data` at `index` along `axis` (all of one rank), combined as the node says.
Array scatter(const Call& call, const Array& data, std::int64_t axis, const Array& index,
              const Array& updates) {
  if (updates.dtype() != data.dtype()) fail(Fault::model, "data and updates differ in type");
  const std::string reduction = call.node.text("reduction", "none");
  if (reduction == "none") return array::scatter(data, axis, index, updates);
  if (reduction == "add") return array::scatter_add(data, axis, index, updates);
  static const std::map<std::string, array::Combine> names{
      {"mul", array::Combine::product}, {"max", array::Combine::maximum}, {"min", array::Combine::minimum}};
  const auto found = names.find(reduction);
  if (found == names.end()) fail(Fault::model, "reduction '{}' is not none, add, mul, max or min", reduction);
  return array::scatter_reduce(data, axis, index, updates, found->second);
}

}  // namespace

Outputs gather(const Call& call) {
  const Array& data = call.input(0);
  const Array& indices = call.input(1);
  const std::int64_t axis = call.axis(0, data.rank());
  const Array rows = checked_indices(indices, data.size(axis)).reshape({-1});
  Ints shape = joined(part_of(data.shape(), 0, static_cast<std::size_t>(axis)), indices.shape());
  shape = joined(shape, part_of(data.shape(), static_cast<std::size_t>(axis) + 1));
  return {array::index_select(data, axis, rows).reshape(shape)};
}

Outputs gather_elements(const Call& call) {
  const Array& data = call.input(0);
  const std::int64_t axis = call.axis(0, data.rank());
  return {array::gather(data, axis, checked_indices(call.input(1), data.size(axis)))};
}

Outputs gather_nd(const Call& call) {
  const Array &data = call.input(0), &indices = call.input(1);
  require_rank_at_least(data, 1), require_rank_at_least(indices, 1);
  const std::int64_t batch = call.node.integer("batch_dims", 0), depth = indices.size(-1);
  require_in("batch_dims", batch, 0, std::min(data.rank(), indices.rank() - 1));
  require_in("the last axis of the indices", depth, 1, data.rank() - batch);
  const std::size_t b = batch, d = depth;
  const auto lead = part_of(data.shape(), 0, b);
  if (lead != part_of(indices.shape(), 0, b)) fail(Fault::model, "the batch axes of data and indices differ");
  // The batch axes become further leading indices, so that one lookup serves all.
  Array flat = flat_rows(indices, part_of(data.shape(), b, d));
  const std::int64_t batches = element_count(lead), each = element_count(part_of(data.shape(), b, d));
  const Array offset = array::arange(batches) * each;
  Ints offset_shape = lead;
  offset_shape.resize(flat.shape().size(), 1);
  flat = flat + offset.reshape(offset_shape);
  const auto tail = part_of(data.shape(), b + d);
  const Array rows = data.reshape(joined({batches * each}, tail));
  return {array::index_select(rows, 0, flat.reshape({-1})).reshape(joined(flat.shape(), tail))};
}

Outputs scatter_elements(const Call& call) {
  const Array& data = call.input(0);
  const std::int64_t axis = call.axis(0, data.rank());
  const Array index = checked_indices(call.input(1), data.size(axis));
  if (index.shape() != call.input(2).shape()) fail(Fault::model, "indices and updates differ in shape");
  return {scatter(call, data, axis, index, call.input(2))};
}

Outputs scatter_nd(const Call& call) {
  const Array &data = call.input(0), &indices = call.input(1), &updates = call.input(2);
  require_rank_at_least(data, 1), require_rank_at_least(indices, 1);
  const std::int64_t depth = indices.size(-1);
  require_in("the last axis of the indices", depth, 1, data.rank());
  const std::size_t d = depth;
  const Array flat = flat_rows(indices, part_of(data.shape(), 0, d));
  const auto tail = part_of(data.shape(), d);
  if (updates.shape() != Shape(joined(flat.shape(), tail))) {
    fail(Fault::model, "the updates are {}; {} is needed", to_string(updates.shape()),
         to_string(joined(flat.shape(), tail)));
  }
  const std::int64_t rows = element_count(part_of(data.shape(), 0, d)), columns = element_count(tail);
  const Array index = flat.reshape({-1, 1}).expand({flat.count(), columns});
  const Array result =
      scatter(call, data.reshape({rows, columns}), 0, index, updates.reshape({flat.count(), columns}));
  return {result.reshape(data.shape())};
}

// Input 2 holds the two values [off, on].
Outputs one_hot(const Call& call) {
  const Array &indices = call.input(0), &values = call.input(2);
  const std::int64_t depth = call.number(1, 0);
  if (values.count() != 2)
    fail(Fault::model, "the values are {}; off and on are needed", to_string(values.shape()));
  require_in("depth", depth, 1, largest_extent);
  const std::int64_t axis = axis_in(call.node.integer("axis", -1), indices.rank() + 1);
  check_size({indices.count(), depth}, 8);
  const Array wide = indices.to(DType::int64);
  const Array positions = array::where(wide < 0, wide + depth, wide).unsqueeze(axis);
  Ints shape(indices.shape().size() + 1, 1);
  shape[axis] = depth;
  const Array hit = array::eq(positions, array::arange(depth).reshape(shape));
  const Array pair = values.reshape({2});
  return {array::where(hit, pair[1], pair[0])};
}

// Coordinates of the elements that are not zero: [rank, count].
Outputs non_zero(const Call& call) { return {array::nonzero(call.input(0)).t()}; }

Outputs trilu(const Call& call) {
  const Array& x = call.input(0);
  require_rank_at_least(x, 2);
  const std::int64_t far = x.size(-1) + x.size(-2);
  const std::int64_t k = std::clamp(call.integer(1, 0), -far, far);
  return {call.node.integer("upper", 1) != 0 ? array::triu(x, k) : array::tril(x, k)};
}

}  // namespace assay::operators
