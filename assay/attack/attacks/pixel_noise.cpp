// Gaussian noise on a few pixels, the most relevant ones or random ones: the sets U_DI and U_S of
// DeepImportance's study.

#include <assay/attack.h>
#include <assay/error.h>
#include <assay/extend/attack_problem.h>
#include <assay/extend/random.h>
#include "assay/attack/pixels.h"

namespace assay::attack {
namespace {

const std::vector<SpecOption> shared_options{
    {"share", "0.02", "share of the pixels"},
    {"sigma", "0.3", "standard deviation, as a share of the valid range"}};

class PixelNoise : public Attack {
 public:
  explicit PixelNoise(const SpecOptions& options)
      : share_(options.number("share", 0)), sigma_(options.number("sigma", 0)) {
    if (share_ > 1) fail(Fault::usage, "pixel noise: share={} is above 1", share_);
  }

  Array perturb(const AttackedNetwork& network, const AttackProblem& problem) const override {
    const std::size_t count = pixels_in(pixels_of(problem.inputs), share_);
    return with_pixels(problem, choose(network, problem, count), [&](Rng& rng, std::span<float*> pixel) {
      for (float* const channel : pixel)
        *channel = std::clamp(static_cast<float>(*channel + sigma_ * rng.normal()), 0.0F, 1.0F);
    });
  }

 private:
  virtual std::vector<std::vector<std::size_t>> choose(const AttackedNetwork& network,
                                                       const AttackProblem& problem,
                                                       std::size_t count) const = 0;

  double share_, sigma_;
};

class RandomPixelNoise final : public PixelNoise {
 public:
  using PixelNoise::PixelNoise;

 private:
  std::vector<std::vector<std::size_t>> choose(const AttackedNetwork&, const AttackProblem& problem,
                                               std::size_t count) const override {
    return random_pixels(problem, count);
  }
};

class RelevantPixelNoise final : public PixelNoise {
 public:
  explicit RelevantPixelNoise(const SpecOptions& options)
      : PixelNoise(options), method_(options.text("method")) {}

 private:
  std::vector<std::vector<std::size_t>> choose(const AttackedNetwork& network, const AttackProblem& problem,
                                               std::size_t count) const override {
    return relevant_pixels(network, problem, count, method_);
  }

  std::string method_;
};

}  // namespace

AttackInfo noise_random_attack() {
  return {
      .name = "noise-random",
      .summary = "Gaussian noise on random pixels (U_S of the study)",
      .definition = "clip(x + sigma * n, 0, 1) on floor(share * pixels) random pixels, all channels of each.",
      .limits = "Not an attack: the comparison for noise-relevant.",
      .paper = "Gerasimou et al., Importance-Driven Deep Learning System Testing, ICSE 2020 (RQ2)",
      .options = shared_options,
      .severities = {{"share"}, {"sigma"}},
      .target = "",
      .make = [](const SpecOptions& options) -> std::unique_ptr<Attack> {
        return std::make_unique<RandomPixelNoise>(options);
      }};
}

AttackInfo noise_relevant_attack() {
  std::vector<SpecOption> options = shared_options;
  options.push_back({"method", "epsilon",
                     "attribution that tells which pixels are relevant, a method of importance analysis"});
  return {.name = "noise-relevant",
          .summary = "Gaussian noise on the most relevant pixels (U_DI of the study)",
          .definition =
              "clip(x + sigma * n, 0, 1) on the floor(share * pixels) pixels whose channels carry the "
              "greatest sum of relevance for the class that the network names, all channels of each.",
          .limits = "The study does not give sigma for these sets; 0.3 is that of its white noise.",
          .paper = "Gerasimou et al., Importance-Driven Deep Learning System Testing, ICSE 2020 (RQ2)",
          .options = options,
          .severities = {{"share"}, {"sigma"}},
          .target = "",
          .make = [](const SpecOptions& chosen) -> std::unique_ptr<Attack> {
            return std::make_unique<RelevantPixelNoise>(chosen);
          }};
}

}  // namespace assay::attack
