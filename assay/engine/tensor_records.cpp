#include <assay/tensor_records.h>

#include <assay/array_math.h>

#include <assay/dataset.h>
#include <assay/error.h>
#include "assay/data/rows.h"

namespace assay::inline engine {
namespace {

Array taken(const Array& tensor, DType type, std::span<const std::size_t> indices) {
  const bool plain = tensor.is_contiguous() && tensor.dtype() == type;
  if (plain) {
    const std::size_t step = tensor.byte_size() / static_cast<std::size_t>(tensor.size(0));
    Shape shape = tensor.shape();
    shape[0] = std::ssize(indices);
    return Array(type, std::move(shape), gathered(tensor.data(), step, indices));
  }
  const array::Recording unrecorded(false);
  const std::vector<std::int64_t> rows(indices.begin(), indices.end());
  return tensor.index_select(0, array::tensor(rows)).to(type);
}

Rows rows_of_tensor(std::string name, const Array& given) {
  if (!given.defined() || given.rank() == 0)
    fail(Fault::usage, "the inputs are not a tensor with records along its first axis");
  const Array tensor = given.detach();
  const DType type = record_dtype(tensor.dtype());
  require_int64(tensor, name.empty() ? "the inputs" : name);
  Shape record(tensor.shape().begin() + 1, tensor.shape().end());
  return {
      .input = {std::move(name), std::move(record), type},
      .count = static_cast<std::size_t>(tensor.size(0)),
      .take = [tensor, type](std::span<const std::size_t> indices) { return taken(tensor, type, indices); }};
}

std::vector<std::int64_t> labels_of(const Array& labels) {
  if (!labels.defined()) return {};
  if (labels.rank() != 1 || is_real(labels.dtype()) || labels.dtype() == DType::boolean)
    fail(Fault::usage, "labels are {} of {}; one whole number per record is needed, [n] int64",
         to_string(labels.shape()), to_string(labels.dtype()));
  require_int64(labels, "the labels");
  const Array host = labels.to(DType::int64).contiguous();
  return {host.elements<std::int64_t>(), host.elements<std::int64_t>() + host.count()};
}

}  // namespace

DatasetPtr from_tensors(Array inputs, const Array& labels, RecordOptions options) {
  return from_tensors(std::vector<NamedTensor>{{{}, std::move(inputs)}}, labels, std::move(options));
}

DatasetPtr from_tensors(std::vector<NamedTensor> inputs, const Array& labels, RecordOptions options) {
  std::vector<Rows> rows;
  for (NamedTensor& input : inputs) rows.push_back(rows_of_tensor(std::move(input.name), input.values));
  return from_rows(std::move(rows), labels_of(labels), std::move(options));
}

}  // namespace assay::inline engine
