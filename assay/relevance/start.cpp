#include "assay/relevance/start.h"

#include <assay/array_math.h>

#include <algorithm>
#include <cmath>

#include <assay/error.h>
#include "assay/engine/elements.h"

namespace assay::relevance {

Start::Start(const Session& session, bool outputs)
    : scores_(outputs ? DecisionScores{.value = session.logits()} : scores_of(session)) {}

std::int64_t Start::decided(std::span<const float> elements) const {
  if (single()) return elements[0] > threshold() ? 1 : 0;
  std::size_t best = 0;
  for (std::size_t i = 1; i < elements.size() && !std::isnan(elements[best]); ++i) {
    if (!(elements[i] <= elements[best])) best = i;
  }
  return best;
}

void Start::check(const Target& target, std::size_t records, std::int64_t elements) const {
  const std::size_t given = std::max(target.classes.size(), target.weights.size());
  if (given != 0 && given != records)
    fail(Fault::usage, "{} {} are given for {} records", given,
         target.weights.empty() ? "classes" : "rows of weights", records);
  const std::int64_t count = single() ? 2 : elements;
  for (const std::int64_t c : target.classes) {
    if (c != Target::no_class && (c < 0 || c >= count))
      fail(Fault::usage, "class {} does not exist; the network has {} {}", c, count,
           single() ? "classes" : "outputs");
  }
  for (const std::vector<float>& row : target.weights) {
    if (!row.empty() && std::ssize(row) != elements)
      fail(Fault::usage, "{} weights are given for {} outputs", row.size(), elements);
  }
}

Target Start::settled(const Array& values, const Target& target) const {
  if (!target.classes.empty() || !target.weights.empty()) return target;
  const Array host = in_memory(values, DType::float32);
  const std::size_t records = host.size(0);
  const std::size_t width = records == 0 ? 0 : host.count() / records;
  Target found;
  for (std::size_t r = 0; r < records; ++r)
    found.classes.push_back(decided({host.elements<float>() + r * width, width}));
  return found;
}

void Start::add_weights(std::span<const float> elements, const Target& target, std::size_t record,
                        std::span<float> weights) const {
  if (!target.weights.empty()) {
    std::ranges::copy(target.weights[record], weights.begin());
    return;
  }
  const std::int64_t c = target.classes.empty() ? decided(elements) : target.classes[record];
  if (c == Target::no_class) return;
  if (single())
    weights[0] = c == 1 ? 0.5F : -0.5F;
  else
    weights[c] = 1;
}

Array Start::weights(const Array& values, const Target& target) const {
  const std::size_t records = values.size(0);
  const std::int64_t elements = records == 0 ? 0 : values.count() / values.size(0);
  check(target, records, elements);
  const std::size_t width = elements;
  const Array weights = array::zeros({values.size(0), elements}, DType::float32),
              host = target.classes.empty() && target.weights.empty() ? in_memory(values, DType::float32)
                                                                      : weights;
  for (std::size_t r = 0; r < records; ++r)
    add_weights({host.elements<float>() + r * width, width}, target, r,
                {weights.elements<float>() + r * width, width});
  return weights.to(values.dtype()).reshape(values.shape());
}

Array Start::explained(const Array& values, const Array& weights, const Target& target) const {
  // Elements that are not explained may be infinite.
  return array::where(weights.ne(0), (values - threshold(target)) * weights,
                      array::zeros({}, values.dtype()));
}

std::vector<double> Start::numbers(const Array& values, const Target& target) const {
  return per_record(explained(values, weights(values, target), target));
}

std::vector<double> per_record(const Array& relevance) {
  const Array sums = relevance.reshape({relevance.size(0), -1}).to(DType::float64).sum(1);
  return {sums.elements<double>(), sums.elements<double>() + sums.count()};
}

}  // namespace assay::relevance
