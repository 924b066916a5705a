#include "assay/coverage/profile.h"

#include <algorithm>
#include <cmath>

#include "assay/support/error.h"
#include "assay/support/threads.h"

namespace assay {
namespace {

std::vector<std::size_t> chosen_ms(const LayerImportance& importance, const ProfileOptions& options) {
  std::vector<std::size_t> ms = options.ms;
  if (ms.empty()) ms = {importance.smallest_m(options.share, options.cap)};
  const std::size_t neurons = importance.relevance.size();
  for (std::size_t& m : ms) m = std::min(std::max<std::size_t>(m, 1), neurons);  // a small layer is taken whole
  std::sort(ms.begin(), ms.end());
  ms.erase(std::unique(ms.begin(), ms.end()), ms.end());
  return ms;
}

LayerProfile start_layer(const LayerImportance& importance, const ProfileOptions& options) {
  LayerProfile layer{importance.layer.name, importance.relevance.size(), {}, chosen_ms(importance, options)};
  const std::vector<std::size_t> ranking = importance.ranking();
  for (std::size_t i = 0; i < layer.ms.back(); ++i) layer.important.push_back({ranking[i], importance.relevance[ranking[i]], {}});
  return layer;
}

std::string describe_attribution(const Session& session, std::span<const Layer> layers, const ImportanceOptions& options) {
  AttributionOptions attribution = options.attribution;
  for (const Layer& layer : layers) attribution.wanted.push_back(layer.value);  // nodes before them need no rule
  return make_attribution(options.method, session, attribution)->describe();
}

}  // namespace

Learned learn_profile(const Session& session, DatasetPtr training, std::span<const Layer> layers, const ProfileOptions& options,
                      Progress& progress) {
  const auto clusterer = make_clusterer(options.clusterer, options.clusters);
  Learned learned;
  learned.importance = analyse_importance(session, training, layers, options.importance, progress);
  if (learned.importance.used == 0) {
    fail(Fault::mismatch, "{}: the network classifies no record of {} correctly, so nothing is known about its important neurons",
         session.graph().name(), training->describe());
  }
  Profile& profile = learned.profile;
  profile = {session.graph().hash(), training->hash(), training->describe(), describe_attribution(session, layers, options.importance),
             clusterer->describe(), options.reduction, {}};
  for (const LayerImportance& importance : learned.importance.layers) profile.layers.push_back(start_layer(importance, options));

  // One column of activations per important neuron.
  std::vector<std::vector<std::vector<double>>> columns(layers.size());
  for (std::size_t l = 0; l < layers.size(); ++l) columns[l].resize(profile.layers[l].important.size());
  walk(session, training, {.batch = options.importance.batch, .stage = "collecting activations"}, progress, [&](const Batch&, const Tensors& given) {
    const Session::Observed observed = session.observe(given, layers, options.reduction, {});
    for (std::size_t l = 0; l < layers.size(); ++l) {
      const Activations& activations = observed.layers[l];
      for (std::size_t n = 0; n < columns[l].size(); ++n) {
        const std::size_t neuron = profile.layers[l].important[n].neuron;
        for (std::size_t row = 0; row < activations.rows; ++row) {
          const float value = activations.row(row)[neuron];
          if (std::isfinite(value)) columns[l][n].push_back(value);
          else ++learned.non_finite;
        }
      }
    }
  });
  std::vector<std::pair<std::size_t, std::size_t>> work;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    for (std::size_t n = 0; n < columns[l].size(); ++n) work.emplace_back(l, n);
  }
  Stage stage(progress, "clustering", work.size(), "neurons");
  const std::size_t threads = session.options().threads > 0 ? static_cast<std::size_t>(session.options().threads) : available_threads();
  parallel_for(work.size(), threads, [&](std::size_t i) {
    const auto [l, n] = work[i];
    profile.layers[l].important[n].clusters = clusterer->cluster(std::move(columns[l][n]));
  });
  stage.advance(work.size());
  return learned;
}

void require_profile_fits(const Profile& profile, const Session& session) {
  if (profile.model_hash != session.graph().hash()) {
    fail(Fault::mismatch, "the profile was learned from another network (hash {}) than {} (hash {}); learn it again with --train",
         profile.model_hash, session.graph().name(), session.graph().hash());
  }
  for (const LayerProfile& layer : profile.layers) {
    const Layer& found = session.layer(layer.layer);
    if (static_cast<std::size_t>(found.neurons) != layer.neurons) {
      fail(Fault::mismatch, "the profile says that layer '{}' has {} neurons, the network has {}", layer.layer, layer.neurons, found.neurons);
    }
  }
}

}  // namespace assay
