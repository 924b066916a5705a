// Noise of low rank, as adapters of language models add it.

#include <cmath>
#include <vector>

#include <assay/extend/mutation_operator.h>

namespace assay::mutation {
namespace {

std::vector<double> normal_entries(std::int64_t count, Rng& rng) {
  std::vector<double> numbers(count);
  for (double& number : numbers) number = rng.normal();
  return numbers;
}

// w[neuron, k] += sigma * deviation / sqrt(rank) * sum_r a_r[neuron] b_r[k]
void add_low_rank_noise(const MutationSite& target, Edit& edit, const LayerWeights& weights) {
  const NeuronLayout& layout = *weights.layout;
  const std::size_t rank = target.options.count("rank", 1);
  const double scale = target.options.number("sigma", 0) * target.layer.deviation / std::sqrt(rank);
  const auto neurons = layout.neurons(), inputs = layout.per_neuron();
  std::vector<std::vector<double>> of_neurons, of_inputs;
  for (std::size_t r = 0; r < rank; ++r) {
    of_neurons.push_back(normal_entries(neurons, target.rng));
    of_inputs.push_back(normal_entries(inputs, target.rng));
  }
  for (std::int64_t neuron = 0; neuron < neurons; ++neuron) {
    for (std::int64_t k = 0; k < inputs; ++k) {
      double noise = 0;
      for (std::size_t r = 0; r < rank; ++r) noise += of_neurons[r][neuron] * of_inputs[r][k];
      const std::int64_t index = layout.index(neuron, k);
      edit.set_weight(target.layer, weights, index,
                      static_cast<float>(edit.weight(weights, index) + scale * noise));
    }
  }
}

}  // namespace

OperatorInfo lowrank_operator() {
  return {
      .name = "lowrank",
      .title = "noise of low rank",
      .summary = "a random matrix of low rank is added to the weights of a layer",
      .definition =
          "W becomes W + sigma * s / sqrt(rank) * A B, where the entries of A [neurons, rank] and B [rank, "
          "weights of a neuron] are normal and s is the standard deviation of the layer's weights, so that "
          "an "
          "entry changes by sigma * s at root mean square. Each matrix of a layer gets its own; biases stay",
      .limits = "all weights change by little; weights that belong to no single neuron stay",
      .paper = "the form of adapters: Hu et al., LoRA, ICLR 2022",
      .level = OperatorInfo::Level::layer,
      .options = {{"rank", "1", "of the matrix that is added"},
                  {"sigma", "0.5", "root mean square change, in standard deviations of the weights"}},
      .variants = 1000,
      .refusal = [](const SubjectLayer& layer, const SpecOptions& options) -> std::string {
        options.count("rank", 1);
        options.number("sigma", 0);
        for (const LayerWeights& weights : layer.weights)
          if (weights.layout) return "";
        return "its weights belong to no single neuron";
      },
      .apply =
          [](const MutationSite& target, Edit& edit) {
            for (const LayerWeights& weights : target.layer.weights)
              if (weights.layout) add_low_rank_noise(target, edit, weights);
          }};
}

}  // namespace assay::mutation
