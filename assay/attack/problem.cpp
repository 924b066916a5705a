#include <assay/extend/attack_problem.h>

#include <assay/array_math.h>

#include <algorithm>

#include "assay/engine/elements.h"

namespace assay::attack {

AttackProblem AttackProblem::at(const Array& rows) const {
  AttackProblem part = *this;
  const std::vector<std::int64_t> chosen = numbers(rows);
  const auto pick = [&](Array& tensor) {
    if (tensor.defined()) tensor = picked(tensor, chosen);
  };
  for (Array* tensor : {&part.inputs, &part.labels, &part.scores, &part.targets}) pick(*tensor);
  for (auto& [id, tensor] : part.held) pick(tensor);
  part.keys.clear();
  part.places.clear();
  for (const std::int64_t row : chosen) {
    part.keys.push_back(keys[row]);
    part.places.push_back(places[row]);
  }
  return part;
}

Array drawn(const AttackProblem& problem, std::uint64_t purpose, const std::function<float(Rng&)>& draw) {
  const Array values = array::empty(problem.inputs.shape());
  float* at = values.elements<float>();
  const std::int64_t elements = values.count() / std::max<std::int64_t>(1, values.size(0));
  for (std::size_t row = 0; row < problem.keys.size(); ++row) {
    Rng rng = problem.rng(row, purpose);
    for (std::int64_t i = 0; i < elements; ++i) *at++ = draw(rng);
  }
  return values;
}

Array per_record(const Array& values, const Array& like) {
  std::vector<std::int64_t> shape(like.rank(), 1);
  shape[0] = values.size(0);
  return values.reshape(shape);
}

std::vector<std::int64_t> numbers(const Array& values) {
  const Array host = in_memory(values, DType::int64);
  const auto* const first = host.elements<std::int64_t>();
  return {first, first + host.count()};
}

Array positions(const Array& mask) {
  std::vector<std::int64_t> found;
  const std::vector<bool> truths = truths_of(mask);
  for (std::size_t i = 0; i < truths.size(); ++i) {
    if (truths[i]) found.push_back(i);
  }
  return array::tensor(found);
}

}  // namespace assay::attack
