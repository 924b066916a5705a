#include <assay/extend/attack_problem.h>

#include <ATen/ATen.h>

#include <algorithm>

#include "assay/engine/plain_tensor.h"

namespace assay::attack {

AttackProblem AttackProblem::at(const Tensor& rows) const {
  AttackProblem part = *this;
  const std::vector<std::int64_t> chosen = numbers(rows);
  const auto pick = [&](Tensor& tensor) {
    if (tensor.defined()) tensor = picked(tensor, chosen);
  };
  for (Tensor* tensor :
       {&part.inputs, &part.labels, &part.scores, &part.targets, &part.reference, &part.direction})
    pick(*tensor);
  for (auto& [id, tensor] : part.held) pick(tensor);
  part.keys.clear();
  part.places.clear();
  for (const std::int64_t row : chosen) {
    part.keys.push_back(keys[static_cast<std::size_t>(row)]);
    part.places.push_back(places[static_cast<std::size_t>(row)]);
  }
  return part;
}

Tensor drawn(const AttackProblem& problem, std::uint64_t purpose, const std::function<float(Rng&)>& draw) {
  const Tensor values = room_for(problem.inputs.sizes().vec());
  float* at = elements_of<float>(values);
  const std::int64_t elements = values.numel() / std::max<std::int64_t>(1, values.size(0));
  for (std::size_t row = 0; row < problem.keys.size(); ++row) {
    Rng rng = problem.rng(row, purpose);
    for (std::int64_t i = 0; i < elements; ++i) *at++ = draw(rng);
  }
  return on_device(values, problem.inputs.device());
}

Tensor per_record(const Tensor& values, const Tensor& like) {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(like.dim()), 1);
  shape[0] = values.size(0);
  return reshaped(values, shape);
}

std::vector<std::int64_t> numbers(const Tensor& values) {
  const Tensor host = in_memory(values, at::kLong);
  const auto* const first = elements_of<std::int64_t>(host);
  return {first, first + host.numel()};
}

Tensor positions(const Tensor& mask) {
  std::vector<std::int64_t> found;
  const std::vector<bool> truths = truths_of(mask);
  for (std::size_t i = 0; i < truths.size(); ++i) {
    if (truths[i]) found.push_back(static_cast<std::int64_t>(i));
  }
  return on_device(tensor_of(found), mask.device());
}

}  // namespace assay::attack
