#include "assay/relevance/start.h"

#include <assay/array_math.h>

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
  return static_cast<std::int64_t>(best);
}

void Start::check(const Target& target, std::size_t records, std::int64_t elements) const {
  if (target.classes.empty()) return;
  if (target.classes.size() != records)
    fail(Fault::usage, "{} classes are given for {} records", target.classes.size(), records);
  const std::int64_t count = single() ? 2 : elements;
  for (const std::int64_t c : target.classes) {
    if (c != Target::no_class && (c < 0 || c >= count))
      fail(Fault::usage, "class {} does not exist; the network has {} {}", c, count,
           single() ? "classes" : "outputs");
  }
}

Target Start::settled(const Array& values, const Target& target) const {
  if (!target.classes.empty()) return target;
  const Array host = in_memory(values, DType::float32);
  const auto records = static_cast<std::size_t>(host.size(0));
  const std::size_t width =
      records == 0 ? 0 : static_cast<std::size_t>(host.count()) / static_cast<std::size_t>(records);
  Target found;
  for (std::size_t r = 0; r < records; ++r)
    found.classes.push_back(decided({host.elements<float>() + r * width, width}));
  return found;
}

Array Start::weights(const Array& values, const Target& target) const {
  const auto records = static_cast<std::size_t>(values.size(0));
  const std::int64_t width = records == 0 ? 0 : values.count() / values.size(0);
  check(target, records, width);
  const Target fixed = settled(values, target);
  Array host = array::zeros({values.size(0), width}, DType::float32);
  for (std::size_t r = 0; r < records; ++r) {
    const std::int64_t c = fixed.classes[r];
    if (c == Target::no_class) continue;
    float* const row = host.elements<float>() + static_cast<std::int64_t>(r) * width;
    row[single() ? 0 : c] = !single() ? 1.0F : c == 1 ? 0.5F : -0.5F;
  }
  return host.to(values.dtype()).reshape(values.shape());
}

Array Start::explained(const Array& values, const Array& weights) const {
  // Elements that are not explained may be infinite.
  return array::where(weights.ne(0), (values - threshold()) * weights, array::zeros({}, values.dtype()));
}

std::vector<double> per_record(const Array& relevance) {
  const Array sums = relevance.reshape({relevance.size(0), -1}).to(DType::float64).sum(1);
  return {sums.elements<double>(), sums.elements<double>() + sums.count()};
}

}  // namespace assay::relevance
