#include <assay/array_math.h>

#include <algorithm>

#include <assay/error.h>
#include "assay/engine/session_state.h"

namespace assay::inline engine {
namespace {

// The tensors that stand for each value whose gradient is requested: one, or one per group of records.
using Leaves = std::map<ValueId, std::vector<Array>>;

// Makes the tensor a point where gradients can be requested, cutting nothing off.
Array watched(const Graph& graph, ValueId id, const Array& tensor) {
  if (!is_real(tensor.dtype())) {
    fail(Fault::usage,
         "value '{}' holds integers, which have no gradient; ask for the value after the embedding",
         graph.value(id).name);
  }
  return tensor.requires_grad() ? tensor : tensor.detach().requires_grad_();
}

Array joined(const std::vector<Array>& pieces, int axis, std::int64_t length) {
  return axis < 0 ? pieces[0] : array::cat(pieces, axis).narrow(axis, 0, length);
}

// The elements of a value for each record, and the way back to its shape.
class OfRecords {
 public:
  OfRecords(const Array& value, const Session::RecordAxis& where)
      : value_(value), axis_(std::max(where.axis, 0)) {
    const Array in_front = value.detach().movedim(axis_, 0);
    sizes_ = in_front.shape();
    records_ = sizes_[0] / std::max<std::int64_t>(where.rows, 1);
    host_ = in_front.to(DType::float32).contiguous().reshape({records_, -1});
  }

  const Array& value() const { return value_; }
  std::int64_t records() const { return records_; }
  std::int64_t elements() const { return host_.size(1); }
  const Array& host() const { return host_; }  // [records, elements]
  // The same numbers of each record in the value's shape.
  Array shaped(const Array& host) const { return host.reshape(sizes_).movedim(0, axis_).to(value_.dtype()); }

 private:
  Array value_, host_;
  std::int64_t axis_, records_;
  std::vector<std::int64_t> sizes_;
};

// Of numbers of records that follow from values traced from the leaves.
RecordGradients by_recording(const Session& session, const Tensors& values, const Tensors& leaves,
                             const RecordObjective& objective) {
  std::vector<OfRecords> read;
  std::vector<Array> hosts;
  for (const ValueId id : objective.read) {
    read.emplace_back(values.at(id), session.record_axis(id));
    hosts.push_back(read.back().host());
    if (read.back().records() != read[0].records())
      fail(Fault::mismatch, "value '{}' holds {} records and value '{}' {}",
           session.graph().value(objective.read[0]).name, read[0].records(), session.graph().value(id).name,
           read.back().records());
  }
  const Array all = array::cat(hosts, 1);
  const std::size_t records = all.size(0), elements = all.size(1), row = objective.numbers * elements;
  const Array gradients = array::zeros({all.size(0), static_cast<std::int64_t>(row)}, DType::float32);
  for (std::size_t r = 0; r < records; ++r) {
    objective.gradients(r, {all.elements<float>() + r * elements, elements},
                        {gradients.elements<float>() + r * row, row});
  }
  std::vector<Array> flat, roots;
  for (const auto& [id, leaf] : leaves) flat.push_back(leaf);
  for (const OfRecords& of : read) {
    if (of.value().requires_grad()) roots.push_back(of.value());
  }
  RecordGradients result{.value = read[0].value().detach(), .gradients = {}};
  std::int64_t begin = 0;
  for (std::size_t n = 0; n < objective.numbers; ++n) {
    std::vector<Array> seeds, found(flat.size());
    for (const OfRecords& of : read) {
      if (of.value().requires_grad()) seeds.push_back(of.shaped(gradients.narrow(1, begin, of.elements())));
      begin += of.elements();
    }
    if (!roots.empty()) {
      found = array::gradients(roots, flat, seeds, n + 1 < objective.numbers);
    }
    Tensors& of_leaves = result.gradients.emplace_back();
    std::size_t next = 0;
    for (const auto& [id, leaf] : leaves) {
      const Array& gradient = found[next++];
      of_leaves.emplace(id, gradient.defined() ? gradient.detach() : array::zeros_like(leaf.detach()));
    }
  }
  return result;
}

}  // namespace

Tensors Session::gradients(const Tensors& given, std::span<const ValueId> read,
                           const std::function<Array(const Tensors&)>& objective,
                           std::span<const ValueId> with_respect_to) const {
  const array::Recording recorded(true);
  const State& state = *state_;
  Tensors sources = given;
  Leaves leaves;
  for (const ValueId id : with_respect_to) {
    leaves[id];
    if (!sources.contains(id) && state.constants.has(id)) {
      sources.emplace(id, state.constants.values()[index_of(id)]);
    }
    if (!sources.contains(id)) continue;
    Array& source = sources.at(id);
    source = watched(graph(), id, source.detach());
    leaves[id] = {source};
  }
  KernelContext context;
  const auto watch = [&](ValueId id, Array& tensor) {
    const auto found = leaves.find(id);
    if (found == leaves.end() || sources.contains(id)) return;
    tensor = watched(graph(), id, tensor);
    found->second.push_back(tensor);
  };
  // Values to differentiate by are computed too, so that a gradient of zero has a shape.
  std::vector<ValueId> wanted(read.begin(), read.end());
  wanted.insert(wanted.end(), with_respect_to.begin(), with_respect_to.end());
  std::vector<ValueId> watched_ids;
  for (const auto& [id, pieces] : leaves) {
    if (!sources.contains(id)) watched_ids.push_back(id);
  }
  const FastPath::Request request{
      .wanted = wanted, .visited = watched_ids, .on_value = watch, .differentiable = true};
  const FastPath* const fast = state.fast(sources, request);
  const Tensors values =
      fast ? fast->run(sources, request) : state.compute(sources, {wanted}, context, watch);
  Tensors readable;
  for (const ValueId id : read) readable.emplace(id, values.at(id));
  const Array scalar = objective(readable);
  if (scalar.count() != 1)
    fail(Fault::internal, "gradients() needs a scalar objective, not one of {} elements", scalar.count());

  std::vector<Array> flat;
  for (const auto& [id, pieces] : leaves) flat.insert(flat.end(), pieces.begin(), pieces.end());
  std::vector<Array> gradients(flat.size());
  if (scalar.requires_grad()) {
    gradients = array::gradients(std::span(&scalar, 1), flat);
  }
  Tensors results;
  std::size_t next = 0;
  for (const auto& [id, pieces] : leaves) {
    std::vector<Array> parts;
    for (const Array& piece : pieces) {
      const Array& gradient = gradients[next++];
      parts.push_back(gradient.defined() ? gradient.detach() : array::zeros_like(piece));
    }
    const bool grouped = state.group > 0 && !sources.contains(id);
    const int axis = grouped ? state.infos()[index_of(id)].batch_axis : -1;
    results.emplace(id, joined(parts, axis, axis < 0 ? 0 : values.at(id).size(axis)));
  }
  return results;
}

RecordGradients Session::gradients(const Tensors& given, const RecordObjective& objective,
                                   std::span<const ValueId> with_respect_to) const {
  for (const ValueId id : with_respect_to) {
    if (!given.contains(id))
      fail(Fault::usage,
           "gradients of numbers of records are with respect to values that are given; '{}' is not",
           graph().value(id).name);
  }
  const FastPath::Request request{.wanted = objective.read, .differentiable = true};
  if (const FastPath* const fast = state_->fast(given, request)) {
    if (auto found = fast->gradients(given, request, objective, with_respect_to)) return *std::move(found);
  }
  const array::Recording recorded(true);
  Tensors sources = given, leaves;
  for (const ValueId id : with_respect_to)
    leaves[id] = sources.at(id) = watched(graph(), id, sources.at(id).detach());
  return by_recording(*this, trace(sources, request.wanted), leaves, objective);
}

RecordGradients Session::learn(const Tensors& given, const RecordObjective& objective,
                               std::span<const ValueId> with_respect_to, Rng* random,
                               Tensors& constants) const {
  Tensors all = given;
  std::vector<ValueId> trainable;
  for (const auto& [id, value] : constants) {
    all.emplace(id, value);
    trainable.push_back(id);
  }
  KernelContext context;  // of nodes that no back end runs: there are none where this is of use
  context.training = true;
  const FastPath::Request request{
      .wanted = objective.read, .differentiable = true, .trainable = trainable, .training = &context};
  if (const FastPath* const fast = state_->fast(all, request)) {
    if (auto found = fast->gradients(all, request, objective, with_respect_to)) return *std::move(found);
  }
  Tensors leaves;
  for (const ValueId id : with_respect_to) leaves.emplace(id, constants.at(id));
  return by_recording(*this, trace(given, objective.read, true, random, &constants), leaves, objective);
}

}  // namespace assay::inline engine
