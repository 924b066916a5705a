#include "assay/mutation/sites.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <assay/error.h>
#include "assay/support/text/unit_numbers.h"

namespace assay::mutation {
namespace {

// The sites of a layer that may be drawn.
class Chosen {
 public:
  Chosen(const OperatorInfo& info, const SpecOptions& options, const SubjectLayer& layer)
      : weights_(info.level == OperatorInfo::Level::weight) {
    static const std::array<std::string, 2> words{"false", "true"};
    if (!weights_ && info.level != OperatorInfo::Level::neuron) {
      all_ = info.level == OperatorInfo::Level::layer ? 1 : 0;
      return;
    }
    const bool biases = weights_ && options.word("bias", words) == words[1];
    all_ = weights_ ? layer.weight_count + (biases ? layer.bias_count : 0) : layer.layer.neurons;
    if (options.text("neurons").empty()) return;
    some_ = true;
    for (const std::size_t neuron : parse_unit_numbers(options.text("neurons"))) neurons_.push_back(neuron);
    if (neurons_.back() >= layer.layer.neurons)
      fail(Fault::usage, "neurons={}: layer '{}' has neurons 0 to {}", options.text("neurons"), layer.name(),
           layer.layer.neurons - 1);
    if (!weights_) return;
    add(layer.weights, 0);
    if (biases) add(layer.biases, layer.weight_count);
  }

  std::int64_t count() const {
    if (!some_) return all_;
    std::int64_t weights = 0;
    for (const Part& part : parts_) weights += part.count;
    return weights_ ? weights : std::ssize(neurons_);
  }

  // From numbers below count() to sites of the layer, ascending.
  void place(std::vector<std::int64_t>& sites) const {
    if (!some_) return;
    for (std::int64_t& site : sites) site = weights_ ? weight(site) : neurons_[site];
    std::ranges::sort(sites);
  }

 private:
  // An array of weights, and how many of it belong to the neurons.
  struct Part {
    const LayerWeights* weights;
    std::int64_t first, count;
  };

  void add(const std::vector<LayerWeights>& arrays, std::int64_t first) {
    for (const LayerWeights& weights : arrays) {
      if (weights.layout && weights.layout->neurons() > neurons_.back())
        parts_.push_back({&weights, first, std::ssize(neurons_) * weights.layout->per_neuron()});
      first += weights.count;
    }
  }

  std::int64_t weight(std::int64_t number) const {
    const Part* part = parts_.data();
    for (; number >= part->count; ++part) number -= part->count;
    const NeuronLayout& layout = *part->weights->layout;
    const std::int64_t neuron = neurons_[number / layout.per_neuron()];
    return part->first + layout.index(neuron, number % layout.per_neuron());
  }

  bool weights_ = false, some_ = false;
  std::int64_t all_ = 0;
  std::vector<std::int64_t> neurons_;
  std::vector<Part> parts_;
};

}  // namespace

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
    if (axis < shape.size()) shape.erase(shape.begin() + axis);
    return assay::to_string(shape);
  };
  return fmt::format("input {} and output {} differ", without_batch(layer.input_shape),
                     without_batch(layer.output_shape));
}

std::vector<std::int64_t> sample_few(Rng& rng, std::int64_t size, std::int64_t count) {
  std::set<std::int64_t> chosen;
  for (std::int64_t last = size - count; last < size; ++last) {
    const std::int64_t candidate = rng.below(static_cast<std::uint64_t>(last) + 1);
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
  options.push_back(
      {"neurons", "",
       "neurons that " +
           std::string(level == OperatorInfo::Level::weight ? "the weights belong to" : "may be changed") +
           ", as in 3+5+8-11; all if empty"});
  if (level == OperatorInfo::Level::weight)
    options.push_back({"bias", "false", "whether biases count among the weights: true or false"});
  return options;
}

std::string refusal_of(const OperatorInfo& info, const SpecOptions& options, const SubjectLayer& layer) {
  std::string reason = info.refusal(layer, options);
  if (!reason.empty() || info.level == OperatorInfo::Level::layer) return reason;
  const Chosen chosen(info, options, layer);
  return chosen.count() > 0 ? "" : "no weight belongs to single neurons";
}

std::int64_t population(const OperatorInfo& info, const SpecOptions& options, const SubjectLayer& layer) {
  return Chosen(info, options, layer).count();
}

std::int64_t site_count(const SpecOptions& options, std::int64_t population) {
  const double ratio = options.number("ratio", 0);
  if (ratio <= 0 || ratio > 1) fail(Fault::usage, "ratio={} is not in (0, 1]", options.text("ratio"));
  const std::int64_t count = options.count("count", 0);
  if (count > 0) return std::min(population, count);
  return std::clamp<std::int64_t>(std::llround(ratio * population), 1, population);
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
  for (std::size_t l = 0; l < layers.size(); ++l) Chosen(info, options, *layers[l]).place(sites[l]);
  return sites;
}

}  // namespace assay::mutation
