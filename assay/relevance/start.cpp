#include "assay/relevance/start.h"

#include <ATen/ATen.h>

#include <cmath>

#include <assay/error.h>
#include "assay/engine/plain_tensor.h"

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

Target Start::settled(const Tensor& values, const Target& target) const {
  if (!target.classes.empty()) return target;
  const Tensor host = in_memory(values, at::kFloat);
  const auto records = static_cast<std::size_t>(host.size(0));
  const std::size_t width =
      records == 0 ? 0 : static_cast<std::size_t>(host.numel()) / static_cast<std::size_t>(records);
  Target found;
  for (std::size_t r = 0; r < records; ++r)
    found.classes.push_back(decided({elements_of<float>(host) + r * width, width}));
  return found;
}

Tensor Start::weights(const Tensor& values, const Target& target) const {
  const auto records = static_cast<std::size_t>(values.size(0));
  const std::int64_t width = records == 0 ? 0 : values.numel() / values.size(0);
  check(target, records, width);
  const Target fixed = settled(values, target);
  Tensor host = at::zeros({values.size(0), width}, at::kFloat);
  for (std::size_t r = 0; r < records; ++r) {
    const std::int64_t c = fixed.classes[r];
    if (c == Target::no_class) continue;
    float* const row = host.data_ptr<float>() + static_cast<std::int64_t>(r) * width;
    row[single() ? 0 : c] = !single() ? 1.0F : c == 1 ? 0.5F : -0.5F;
  }
  return host.to(values.device(), values.scalar_type()).reshape(values.sizes());
}

Tensor Start::explained(const Tensor& values, const Tensor& weights) const {
  // Elements that are not explained may be infinite.
  return at::where(weights.ne(0), (values - threshold()) * weights, at::zeros({}, values.options()));
}

std::vector<double> per_record(const Tensor& relevance) {
  const Tensor sums =
      relevance.reshape({relevance.size(0), -1}).sum(1, false, at::kDouble).to(at::kCPU).contiguous();
  return {sums.data_ptr<double>(), sums.data_ptr<double>() + sums.numel()};
}

}  // namespace assay::relevance
