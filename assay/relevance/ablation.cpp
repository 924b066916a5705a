#include "assay/relevance/ablation.h"

#include <assay/array_math.h>

#include <algorithm>

#include "assay/relevance/methods.h"

namespace assay::relevance {
namespace {

Array replaced_by(const AttributionOptions& options, const Tensors& inputs, ValueId id, const Array& value) {
  if (!inputs.contains(id)) return array::zeros_like(value);
  const Tensors baseline = baseline_of(inputs, options);
  const auto found = baseline.find(id);
  return found == baseline.end() ? value : found->second;
}

}  // namespace

Ablation::Ablation(const Session& session, const Start& start, const AttributionOptions& options,
                   const Tensors& inputs, const Target& target, ValueId id, const Array& value)
    : session_(session),
      start_(start),
      inputs_(inputs),
      target_(target),
      id_(id),
      layout_(session, id, value),
      rows_(layout_.rows(value)),
      reference_(layout_.rows(replaced_by(options, inputs, id, value))) {}

Array Ablation::decisions(const Array& kept) const {
  const ValueId read = start_.value();
  Tensors changed = inputs_;
  changed[id_] = layout_.value(array::where(kept.expand(rows_.shape()), rows_, reference_));
  return session_.run(changed, std::span(&read, 1)).at(read);
}

std::vector<double> Ablation::numbers(const Array& kept) const {
  return start_.numbers(decisions(kept), target_);
}

std::vector<double> Ablation::numbers(const std::vector<Part>& parts, const std::vector<bool>& kept) const {
  const Array marks = array::ones({1, width()}, DType::boolean);
  for (std::size_t part = 0; part < parts.size(); ++part) {
    if (kept[part]) continue;
    for (const std::int64_t element : parts[part]) marks.elements<bool>()[element] = false;
  }
  return numbers(marks);
}

OfParts::OfParts(const Session& session, const AttributionOptions& options, std::int64_t patch,
                 std::int64_t stride)
    : session_(session),
      start_(session, options.outputs),
      options_(options),
      patch_(patch),
      stride_(stride) {}

Relevance OfParts::attribute(const Tensors& given, const Target& target,
                             std::span<const ValueId> wanted) const {
  const array::Recording unrecorded(false);
  const Tensors inputs = inputs_of(session_, given),
                values = session_.run(inputs, with(wanted, start_.value()));
  const Array& scores = values.at(start_.value());
  const Target fixed = start_.settled(scores, target);
  Relevance result{.values = {}, .start = start_.numbers(scores, fixed)};
  for (const ValueId id : wanted) {
    const Array& value = values.at(id);
    const Ablation ablation(session_, start_, options_, inputs, fixed, id, value);
    const std::vector<Part> parts = inputs.contains(id)
                                        ? windows_of(ablation.layout().record(), patch_, stride_)
                                        : neurons_of(session_, id, value);
    result.values[id] = ablation.layout().value(spread(ablation, parts));
  }
  return result;
}

Array OfParts::spread(const Ablation& ablation, const std::vector<Part>& parts) const {
  const std::vector<std::vector<double>> found = of_parts(ablation, parts);
  const std::size_t width = ablation.width();
  std::vector<std::size_t> times(width);
  for (const Part& part : parts) {
    for (const std::int64_t element : part) ++times[element];
  }
  const Array relevance = array::zeros({ablation.records(), ablation.width()}, DType::float32);
  for (std::size_t r = 0; r < found.size(); ++r) {
    std::vector<double> sums(width);
    for (std::size_t part = 0; part < parts.size(); ++part) {
      const double share = found[r][part] / parts[part].size();
      for (const std::int64_t element : parts[part]) sums[element] += share;
    }
    for (std::size_t i = 0; i < width; ++i) {
      const double several = std::max<std::size_t>(1, times[i]);
      relevance.elements<float>()[r * width + i] = static_cast<float>(sums[i] / several);
    }
  }
  return relevance;
}

}  // namespace assay::relevance
