#include <assay/tensor_records.h>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <assay/dataset.h>
#include <assay/error.h>
#include "assay/data/rows.h"

namespace assay {
namespace {

at::ScalarType record_type(const Tensor& tensor) {
  if (tensor.is_floating_point()) return at::kFloat;
  if (tensor.scalar_type() == at::kLong || tensor.scalar_type() == at::kInt) return at::kLong;
  fail(Fault::usage,
       "records are given as floating-point numbers (in the range that the network takes) or int64 (tokens), "
       "not {}; convert them",
       toString(tensor.scalar_type()));
}

Array taken(const Tensor& tensor, at::ScalarType type, std::span<const std::size_t> indices) {
  const bool plain = tensor.device().is_cpu() && tensor.is_contiguous() && tensor.scalar_type() == type;
  if (plain) {
    const std::size_t step = tensor.nbytes() / static_cast<std::size_t>(tensor.size(0));
    Shape shape = tensor.sizes().vec();
    shape[0] = static_cast<std::int64_t>(indices.size());
    return Array(type == at::kFloat ? DType::float32 : DType::int64, std::move(shape),
                 gathered(static_cast<const std::byte*>(tensor.data_ptr()), step, indices));
  }
  const at::NoGradGuard no_grad;
  const std::vector<std::int64_t> rows(indices.begin(), indices.end());
  return to_array(tensor.index_select(0, at::tensor(rows, at::kLong).to(tensor.device())).to(type));
}

Rows rows_of_tensor(std::string name, const Tensor& given) {
  if (!given.defined() || given.dim() == 0)
    fail(Fault::usage, "the inputs are no tensor with records along its first axis");
  const Tensor tensor = given.detach();
  const at::ScalarType type = record_type(tensor);
  Shape record(tensor.sizes().begin() + 1, tensor.sizes().end());
  return {
      .input = {std::move(name), std::move(record), type == at::kFloat ? DType::float32 : DType::int64},
      .count = static_cast<std::size_t>(tensor.size(0)),
      .take = [tensor, type](std::span<const std::size_t> indices) { return taken(tensor, type, indices); }};
}

std::vector<std::int64_t> labels_of(const Tensor& labels) {
  if (!labels.defined()) return {};
  if (labels.dim() != 1 || !at::isIntegralType(labels.scalar_type(), /*includeBool=*/false))
    fail(Fault::usage, "labels are {} of {}; one whole number per record is needed, [n] int64",
         to_string(labels.sizes().vec()), toString(labels.scalar_type()));
  const Tensor host = labels.to(at::kCPU, at::kLong).contiguous();
  return {host.data_ptr<std::int64_t>(), host.data_ptr<std::int64_t>() + host.numel()};
}

}  // namespace

DatasetPtr from_tensors(Tensor inputs, const Tensor& labels, RecordOptions options) {
  return from_tensors(std::vector<NamedTensor>{{{}, std::move(inputs)}}, labels, std::move(options));
}

DatasetPtr from_tensors(std::vector<NamedTensor> inputs, const Tensor& labels, RecordOptions options) {
  std::vector<Rows> rows;
  for (NamedTensor& input : inputs) rows.push_back(rows_of_tensor(std::move(input.name), input.values));
  return from_rows(std::move(rows), labels_of(labels), std::move(options));
}

}  // namespace assay
