// Gaussian fuzzing (Ma et al., DeepMutation, ISSRE 2018).

#include <array>

#include <assay/extend/mutation_operator.h>

namespace assay::mutation {
namespace {

bool relative(const SpecOptions& options) {
  static const std::array<std::string, 2> words{"true", "false"};
  return options.word("relative", words) == words[0];
}

double sigma_of(const SubjectLayer& layer, const SpecOptions& options) {
  return options.number("sigma", 0) * (relative(options) ? layer.deviation : 1);
}

}  // namespace

OperatorInfo gf_operator() {
  auto options = site_options(OperatorInfo::Level::weight, "0.01", "0");
  options.push_back({"sigma", "1", "standard deviation of the noise"});
  options.push_back(
      {"relative", "true",
       "true: sigma counts in standard deviations of the layer's weights; false: sigma is absolute"});
  return {.name = "gf",
          .title = "Gaussian fuzzing",
          .summary = "adds normal noise to some weights",
          .definition =
              "a chosen weight w becomes a draw from N(w, s^2), with s = sigma times the standard deviation "
              "of all weights of its layer, or sigma itself "
              "when relative=false. Weights are the elements of kernels and matrices (of recurrent layers W "
              "and R); biases only with bias=true, the "
              "statistics of batch normalisation never",
          .limits =
              "the paper leaves sigma open; by default a weight moves as far as weights of the layer "
              "typically differ",
          .paper = "Ma et al., DeepMutation, ISSRE 2018",
          .level = OperatorInfo::Level::weight,
          .options = std::move(options),
          .refusal = [](const SubjectLayer& layer, const SpecOptions& chosen) -> std::string {
            if (chosen.number("sigma", 0) == 0) return "sigma is 0";
            return sigma_of(layer, chosen) > 0
                       ? ""
                       : "all its weights are equal, so that a sigma relative to their deviation is 0";
          },
          .apply =
              [](const MutationSite& target, Edit& edit) {
                const double sigma = sigma_of(target.layer, target.options);
                change_weights(target, edit,
                               [&](float w) { return static_cast<float>(w + sigma * target.rng.normal()); });
              }};
}

}  // namespace assay::mutation
