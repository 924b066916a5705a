#include "assay/coverage/measure.h"

namespace assay {

std::vector<IdcResult> measure_idc(const Session& session, const Profile& profile, DatasetPtr test, const WalkOptions& options,
                                   Progress& progress) {
  require_profile_fits(profile, session);
  std::vector<Layer> layers;
  std::vector<IdcResult> results;
  for (const LayerProfile& layer : profile.layers) {
    layers.push_back(session.layer(layer.layer));
    for (const std::size_t m : layer.ms) results.push_back({layer.layer, m, Idc(layer, m)});
  }
  walk(session, test, options, progress, [&](const Batch& batch, const Tensors& given) {
    const Session::Observed observed = session.observe(given, layers, profile.reduction, {});
    for (IdcResult& result : results) result.idc.observe({batch.indices, layers, observed.layers});
  });
  return results;
}

}  // namespace assay
