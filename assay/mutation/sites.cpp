#include "assay/mutation/sites.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <assay/error.h>

namespace assay::mutation {

void refuse_source(const OperatorInfo& info) {
  if (!info.of_source()) return;
  fail(Fault::usage,
       "mutation operator {} changes what a network is trained from, so its mutants must be trained; give "
       "training data",
       info.name);
}

WeightPlace weight_at(const SubjectLayer& layer, std::int64_t position) {
  for (const auto* arrays : {&layer.weights, &layer.biases}) {
    for (const LayerWeights& weights : *arrays) {
      if (position < weights.count) return {weights, position};
      position -= weights.count;
    }
  }
  fail(Fault::internal, "layer '{}' has no weight at position {}", layer.name(), position);
}

std::string shapes_differ(const SubjectLayer& layer) {
  const auto without_batch = [&](Shape shape) {
    const auto axis = std::min(static_cast<std::size_t>(layer.layer.batch_axis), shape.size());
    if (axis < shape.size()) shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
    return assay::to_string(shape);
  };
  return fmt::format("input {} and output {} differ", without_batch(layer.input_shape),
                     without_batch(layer.output_shape));
}

std::vector<std::int64_t> sample_few(Rng& rng, std::int64_t size, std::int64_t count) {
  std::set<std::int64_t> chosen;
  for (std::int64_t last = size - count; last < size; ++last) {
    const auto candidate = static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(last) + 1));
    if (!chosen.insert(candidate).second) chosen.insert(last);
  }
  return {chosen.begin(), chosen.end()};
}

std::vector<SpecOption> site_options(OperatorInfo::Level level, const std::string& ratio,
                                     const std::string& count) {
  const std::string what = level == OperatorInfo::Level::weight ? "weights" : "neurons";
  std::vector<SpecOption> options{
      {"ratio", ratio, "share of the " + what + " that are changed, in (0, 1]; rounded, at least one"},
      {"count", count, "number of " + what + " that are changed; 0: by ratio"},
  };
  if (level == OperatorInfo::Level::weight)
    options.push_back({"bias", "false", "whether biases count among the weights: true or false"});
  return options;
}

std::int64_t population(const OperatorInfo& info, const SpecOptions& options, const SubjectLayer& layer) {
  static const std::array<std::string, 2> words{"false", "true"};
  switch (info.level) {
    case OperatorInfo::Level::weight:
      return layer.weight_count + (options.word("bias", words) == "true" ? layer.bias_count : 0);
    case OperatorInfo::Level::neuron:
      return layer.layer.neurons;
    case OperatorInfo::Level::layer:
      return 1;
    case OperatorInfo::Level::data:
    case OperatorInfo::Level::structure:
    case OperatorInfo::Level::recipe:
      break;
  }
  return 0;
}

std::int64_t site_count(const SpecOptions& options, std::int64_t population) {
  const double ratio = options.number("ratio", 0);
  if (ratio <= 0 || ratio > 1) fail(Fault::usage, "ratio={} is not in (0, 1]", options.text("ratio"));
  const auto count = static_cast<std::int64_t>(options.count("count", 0));
  if (count > 0) return std::min(population, count);
  return std::clamp<std::int64_t>(std::llround(ratio * static_cast<double>(population)), 1, population);
}

std::vector<std::vector<std::int64_t>> draw_sites(const OperatorInfo& info, const SpecOptions& options,
                                                  std::span<const SubjectLayer* const> layers, Rng& rng) {
  std::vector<std::vector<std::int64_t>> sites(layers.size());
  if (info.level == OperatorInfo::Level::layer) return sites;
  std::vector<std::int64_t> sizes;
  std::int64_t total = 0;
  for (const SubjectLayer* layer : layers) total += sizes.emplace_back(population(info, options, *layer));
  std::size_t at = 0;
  std::int64_t before = 0;
  if (total == 0) return sites;
  for (const std::int64_t site : sample_few(rng, total, site_count(options, total))) {
    while (site - before >= sizes[at]) before += sizes[at++];
    sites[at].push_back(site - before);
  }
  return sites;
}

}  // namespace assay::mutation
