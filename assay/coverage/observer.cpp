#include "assay/coverage/observer.h"

#include <assay/error.h>
#include <assay/evaluate.h>

namespace assay::coverage {

Observer::Observer(const Session& session, const Profile& profile, bool with_extremes, bool every_position)
    : session_(session), profile_(profile), with_extremes_(with_extremes), every_position_(every_position) {
  const Reduction reduction = every_position ? Reduction::every_position : profile.reduction;
  for (const LayerStatistics& layer : profile.statistics) {
    layers_.push_back(&session.layer(layer.layer));
    taps_.push_back({layers_.back(), reduction});
  }
  if (!with_extremes) return;
  for (const Layer* layer : layers_) taps_.push_back({layer, Reduction::min, /*whole=*/true});
  for (const Layer* layer : layers_) taps_.push_back({layer, Reduction::max, /*whole=*/true});
}

Observer::Seen Observer::observe(const Tensors& given, std::size_t records, bool classify) const {
  classify = classify && class_count(session_) > 0;
  const ValueId logits = session_.logits();
  const std::span<const ValueId> outputs =
      classify || every_position_ ? std::span(&logits, 1) : std::span<const ValueId>();
  Session::Observed observed = session_.observe(given, taps_, outputs);
  Seen seen{.layers = std::move(observed.layers),
            .least = {},
            .greatest = {},
            .outputs = std::move(observed.outputs),
            .predicted = {}};
  const std::size_t count = layers_.size();
  for (std::size_t l = 0; with_extremes_ && l < count; ++l) {
    seen.least.push_back(std::move(seen.layers[count + l].values));
    seen.greatest.push_back(std::move(seen.layers[2 * count + l].values));
  }
  seen.layers.resize(count);
  if (!every_position_) require_neurons(seen.layers);
  if (classify) seen.predicted = predicted_classes(session_, seen.outputs.at(logits), records);
  return seen;
}

void Observer::require_neurons(const std::vector<Activations>& layers) const {
  for (std::size_t l = 0; l < layers.size(); ++l) {
    if (layers[l].columns == profile_.statistics[l].neurons()) continue;
    fail(Fault::mismatch,
         "layer '{}' has {} neurons here and {} in the profile; learn it again with records of this shape",
         layers_[l]->name, layers[l].columns, profile_.statistics[l].neurons());
  }
}

}  // namespace assay::coverage
