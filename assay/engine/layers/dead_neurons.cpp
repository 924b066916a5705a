#include "assay/engine/layers/dead_neurons.h"

#include <assay/dataset.h>

namespace assay::inline engine {

std::vector<std::vector<std::size_t>> find_dead_neurons(const Session& session, std::span<const Layer> layers,
                                                        DatasetPtr dataset, const WalkOptions& options,
                                                        Progress& progress) {
  std::vector<Layer> rectified;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (!has_trait(layers[i].activation, Trait::rectifies)) continue;
    rectified.push_back(layers[i]);
    places.push_back(i);
  }
  const std::vector<Tap> taps = taps_of(rectified, Reduction::max);
  std::vector<std::vector<bool>> active;
  for (const Layer& layer : rectified) active.emplace_back(static_cast<std::size_t>(layer.neurons), false);
  walk(session, dataset, options, progress, [&](const Batch&, const Tensors& inputs) {
    const Session::Observed seen = session.observe(inputs, taps, {});
    for (std::size_t l = 0; l < rectified.size(); ++l) {
      for (std::size_t r = 0; r < seen.layers[l].rows; ++r) {
        const auto row = seen.layers[l].row(r);
        for (std::size_t u = 0; u < row.size(); ++u) {
          if (row[u] != 0) active[l][u] = true;
        }
      }
    }
  });
  std::vector<std::vector<std::size_t>> dead(layers.size());
  for (std::size_t l = 0; l < rectified.size(); ++l) {
    for (std::size_t u = 0; u < active[l].size(); ++u) {
      if (!active[l][u]) dead[places[l]].push_back(u);
    }
  }
  return dead;
}

}  // namespace assay::inline engine
