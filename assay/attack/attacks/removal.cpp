// The most relevant pixels taken away: inputs whose important features are missing.

#include <assay/attack.h>
#include <assay/error.h>
#include <assay/extend/attack_problem.h>
#include <assay/extend/random.h>
#include "assay/attack/pixels.h"

namespace assay::attack {
namespace {

const std::vector<std::string> fills{"low", "opposite"};

class Removal final : public Attack {
 public:
  explicit Removal(const SpecOptions& options)
      : share_(options.number("share", 0)),
        opposite_(options.word("fill", fills) == "opposite"),
        method_(options.text("method")) {
    if (share_ > 1) fail(Fault::usage, "removal: share={} is above 1", share_);
  }

  Array perturb(const AttackedNetwork& network, const AttackProblem& problem) const override {
    const std::size_t count = pixels_in(pixels_of(problem.inputs), share_);
    return with_pixels(problem, relevant_pixels(network, problem, count, method_),
                       [&](Rng&, std::span<float*> pixel) {
                         for (float* const channel : pixel)
                           *channel = opposite_ && *channel <= 0.5F ? 1.0F : 0.0F;
                       });
  }

 private:
  double share_;
  bool opposite_;
  std::string method_;
};

}  // namespace

AttackInfo removal_attack() {
  return {.name = "removal",
          .summary = "the most relevant pixels taken away",
          .definition =
              "The floor(share * pixels) pixels whose channels carry the greatest sum of relevance for the "
              "class that the network names become 0 "
              "(fill=low), or 0 where they are above 0.5 and 1 elsewhere (fill=opposite).",
          .limits = "Not an attack: it shows what remains without the features that decide.",
          .paper =
              "Gerasimou et al., Importance-Driven Deep Learning System Testing, ICSE 2020 (RQ1 with "
              "fill=opposite; RQ6)",
          .options = {{"share", "0.1", "share of the pixels"},
                      {"fill", "low", "low, or opposite"},
                      {"method", "epsilon",
                       "attribution that tells which pixels are relevant, a method of importance analysis"}},
          .severities = {{"share"}},
          .target = "",
          .make = [](const SpecOptions& options) -> std::unique_ptr<Attack> {
            return std::make_unique<Removal>(options);
          }};
}

}  // namespace assay::attack
