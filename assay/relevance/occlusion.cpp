// Occlusion (Zeiler and Fergus, ECCV 2014): what the explained number loses when a part is replaced.

#include <fmt/format.h>

#include "assay/relevance/ablation.h"

namespace assay::relevance {
namespace {

class Occlusion final : public OfParts {
 public:
  Occlusion(const Session& session, const AttributionOptions& options, std::int64_t patch,
            std::int64_t stride)
      : OfParts(session, options, patch, stride) {}

  std::string describe() const override {
    return "occlusion: the loss when a window of the input, or a neuron of a layer, is replaced";
  }

 protected:
  std::vector<std::vector<double>> of_parts(const Ablation& ablation,
                                            const std::vector<Part>& parts) const override {
    const std::vector<double> whole = ablation.numbers({}, {});
    std::vector<std::vector<double>> losses(whole.size(), std::vector<double>(parts.size()));
    for (std::size_t part = 0; part < parts.size(); ++part) {
      const std::vector<double> without = ablation.numbers({parts[part]}, {false});
      for (std::size_t r = 0; r < whole.size(); ++r) losses[r][part] = whole[r] - without[r];
    }
    return losses;
  }
};

}  // namespace

AttributionInfo occlusion_method() {
  return {"occlusion",
          "loss when a window, or a neuron, is replaced",
          "Zeiler and Fergus, ECCV 2014",
          [](const Session& session, const AttributionOptions& options, const SpecOptions& own) {
            return std::make_unique<Occlusion>(session, options, own.count("patch", 0),
                                               own.count("stride", 0));
          },
          false,
          {{"patch", "0", "edge of the windows of an input; 0: 4, and 1 for records with one axis"},
           {"stride", "0", "from window to window; 0: the edge"}}};
}

}  // namespace assay::relevance
