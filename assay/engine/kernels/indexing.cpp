// Looking up and writing elements by index.

#include <algorithm>

#include "assay/engine/kernels/parts/support.h"

namespace assay::operators {
namespace {

// Rows of `indices` ([..., depth]) as one index into the first `depth` axes of `shape`, flattened.
Tensor flat_rows(const Tensor& indices, at::IntArrayRef shape) {
  Tensor flat = at::zeros(indices.sizes().slice(0, static_cast<std::size_t>(indices.dim() - 1)),
                          indices.options().dtype(at::kLong));
  for (std::size_t i = 0; i < shape.size(); ++i) {
    flat = flat * shape[i] + checked_indices(indices.select(-1, static_cast<std::int64_t>(i)), shape[i]);
  }
  return flat;
}

Ints joined(at::IntArrayRef a, at::IntArrayRef b) {
  Ints all = a.vec();
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

// `updates` written into `data` at `index` along `axis` (all of one rank), combined as the node says.
Tensor scatter(const Call& call, const Tensor& data, std::int64_t axis, const Tensor& index,
               const Tensor& updates) {
  if (updates.scalar_type() != data.scalar_type()) fail(Fault::model, "data and updates differ in type");
  const std::string reduction = call.node.text("reduction", "none");
  if (reduction == "none") return data.scatter(axis, index, updates);
  if (reduction == "add") return data.scatter_add(axis, index, updates);
  static const std::map<std::string, std::string> names{{"mul", "prod"}, {"max", "amax"}, {"min", "amin"}};
  const auto found = names.find(reduction);
  if (found == names.end())
    fail(Fault::model, "reduction '{}' is none of none, add, mul, max, min", reduction);
  return at::scatter_reduce(data, axis, index, updates, found->second, /*include_self=*/true);
}

}  // namespace

Outputs gather(const Call& call) {
  const Tensor& data = call.input(0);
  const Tensor& indices = call.input(1);
  const std::int64_t axis = call.axis(0, data.dim());
  const Tensor rows = checked_indices(indices, data.size(axis)).reshape({-1});
  Ints shape = joined(data.sizes().slice(0, static_cast<std::size_t>(axis)), indices.sizes());
  shape = joined(shape, data.sizes().slice(static_cast<std::size_t>(axis) + 1));
  return {at::index_select(data, axis, rows).reshape(shape)};
}

Outputs gather_elements(const Call& call) {
  const Tensor& data = call.input(0);
  const std::int64_t axis = call.axis(0, data.dim());
  return {at::gather(data, axis, checked_indices(call.input(1), data.size(axis)))};
}

Outputs gather_nd(const Call& call) {
  const Tensor &data = call.input(0), &indices = call.input(1);
  require_rank_at_least(data, 1), require_rank_at_least(indices, 1);
  const std::int64_t batch = call.node.integer("batch_dims", 0), depth = indices.size(-1);
  require_in("batch_dims", batch, 0, std::min(data.dim(), indices.dim() - 1));
  require_in("the last axis of the indices", depth, 1, data.dim() - batch);
  const auto b = static_cast<std::size_t>(batch), d = static_cast<std::size_t>(depth);
  const auto lead = data.sizes().slice(0, b);
  if (lead != indices.sizes().slice(0, b)) fail(Fault::model, "the batch axes of data and indices differ");
  // The batch axes become further leading indices, so that one lookup serves all.
  Tensor flat = flat_rows(indices, data.sizes().slice(b, d));
  const std::int64_t batches = c10::multiply_integers(lead),
                     each = c10::multiply_integers(data.sizes().slice(b, d));
  const Tensor offset = at::arange(batches, flat.options()) * each;
  Ints offset_shape = lead.vec();
  offset_shape.resize(static_cast<std::size_t>(flat.dim()), 1);
  flat = flat + offset.reshape(offset_shape);
  const auto tail = data.sizes().slice(b + d);
  const Tensor rows = data.reshape(joined({batches * each}, tail));
  return {at::index_select(rows, 0, flat.reshape({-1})).reshape(joined(flat.sizes(), tail))};
}

Outputs scatter_elements(const Call& call) {
  const Tensor& data = call.input(0);
  const std::int64_t axis = call.axis(0, data.dim());
  const Tensor index = checked_indices(call.input(1), data.size(axis));
  if (index.sizes() != call.input(2).sizes()) fail(Fault::model, "indices and updates differ in shape");
  return {scatter(call, data, axis, index, call.input(2))};
}

Outputs scatter_nd(const Call& call) {
  const Tensor &data = call.input(0), &indices = call.input(1), &updates = call.input(2);
  require_rank_at_least(data, 1), require_rank_at_least(indices, 1);
  const std::int64_t depth = indices.size(-1);
  require_in("the last axis of the indices", depth, 1, data.dim());
  const auto d = static_cast<std::size_t>(depth);
  const Tensor flat = flat_rows(indices, data.sizes().slice(0, d));
  const auto tail = data.sizes().slice(d);
  if (updates.sizes() != at::IntArrayRef(joined(flat.sizes(), tail))) {
    fail(Fault::model, "the updates are {}; {} is needed", to_string(updates.sizes().vec()),
         to_string(joined(flat.sizes(), tail)));
  }
  const std::int64_t rows = c10::multiply_integers(data.sizes().slice(0, d)),
                     columns = c10::multiply_integers(tail);
  const Tensor index = flat.reshape({-1, 1}).expand({flat.numel(), columns});
  const Tensor result =
      scatter(call, data.reshape({rows, columns}), 0, index, updates.reshape({flat.numel(), columns}));
  return {result.reshape(data.sizes())};
}

// Input 2 holds the two values [off, on].
Outputs one_hot(const Call& call) {
  const Tensor &indices = call.input(0), &values = call.input(2);
  const std::int64_t depth = static_cast<std::int64_t>(call.number(1, 0));
  if (values.numel() != 2)
    fail(Fault::model, "the values are {}; off and on are needed", to_string(values.sizes().vec()));
  require_in("depth", depth, 1, largest_extent);
  const std::int64_t axis = axis_in(call.node.integer("axis", -1), indices.dim() + 1);
  check_size({indices.numel(), depth}, 8);
  const Tensor wide = indices.to(at::kLong);
  const Tensor positions = at::where(wide < 0, wide + depth, wide).unsqueeze(axis);
  Ints shape(static_cast<std::size_t>(indices.dim()) + 1, 1);
  shape[static_cast<std::size_t>(axis)] = depth;
  const Tensor hit = positions == at::arange(depth, wide.options()).reshape(shape);
  const Tensor pair = values.reshape({2});
  return {at::where(hit, pair[1], pair[0])};
}

// Coordinates of the elements that are not zero: [rank, count].
Outputs non_zero(const Call& call) { return {at::nonzero(call.input(0)).t()}; }

Outputs trilu(const Call& call) {
  const Tensor& x = call.input(0);
  require_rank_at_least(x, 2);
  const std::int64_t far = x.size(-1) + x.size(-2);
  const std::int64_t k = std::clamp(call.integer(1, 0), -far, far);
  return {call.node.integer("upper", 1) != 0 ? at::triu(x, k) : at::tril(x, k)};
}

}  // namespace assay::operators
