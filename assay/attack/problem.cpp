#include <assay/extend/attack_problem.h>

#include <ATen/ATen.h>

#include <algorithm>

namespace assay::attack {

AttackProblem AttackProblem::at(const Tensor& rows) const {
  AttackProblem part = *this;
  const auto pick = [&](Tensor& tensor) {
    if (tensor.defined()) tensor = tensor.index_select(0, rows.to(tensor.device()));
  };
  for (Tensor* tensor :
       {&part.inputs, &part.labels, &part.scores, &part.targets, &part.reference, &part.direction})
    pick(*tensor);
  for (auto& [id, tensor] : part.held) pick(tensor);
  const Tensor host = rows.to(at::kCPU).contiguous();
  const std::int64_t* const row = host.data_ptr<std::int64_t>();
  part.keys.clear();
  part.places.clear();
  for (std::int64_t i = 0; i < host.numel(); ++i) {
    part.keys.push_back(keys[static_cast<std::size_t>(row[i])]);
    part.places.push_back(places[static_cast<std::size_t>(row[i])]);
  }
  return part;
}

Tensor drawn(const AttackProblem& problem, std::uint64_t purpose, const std::function<float(Rng&)>& draw) {
  const Tensor values = at::empty(problem.inputs.sizes(), at::kFloat);
  float* at = values.data_ptr<float>();
  const std::int64_t elements = values.numel() / std::max<std::int64_t>(1, values.size(0));
  for (std::size_t row = 0; row < problem.keys.size(); ++row) {
    Rng rng = problem.rng(row, purpose);
    for (std::int64_t i = 0; i < elements; ++i) *at++ = draw(rng);
  }
  return values.to(problem.inputs.device());
}

Tensor per_record(const Tensor& values, const Tensor& like) {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(like.dim()), 1);
  shape[0] = values.size(0);
  return values.reshape(shape);
}

std::vector<std::int64_t> numbers(const Tensor& values) {
  const Tensor host = values.to(at::kCPU).contiguous();
  return {host.data_ptr<std::int64_t>(), host.data_ptr<std::int64_t>() + host.numel()};
}

Tensor positions(const Tensor& mask) { return mask.nonzero().squeeze(1); }

}  // namespace assay::attack
