#include "assay/coverage/observer.h"

#include <algorithm>

#include <assay/error.h>
#include <assay/evaluate.h>

namespace assay::coverage {
namespace {

// Per record, the least (or greatest) of a layer's neurons.
std::vector<float> extremes(const Activations& activations, bool least) {
  std::vector<float> result(activations.rows);
  for (std::size_t r = 0; r < activations.rows; ++r) {
    const auto row = activations.row(r);
    result[r] = least ? *std::ranges::min_element(row) : *std::ranges::max_element(row);
  }
  return result;
}

}  // namespace

Observer::Observer(const Session& session, const Profile& profile, bool with_extremes)
    : session_(session), profile_(profile), with_extremes_(with_extremes) {
  for (const LayerStatistics& layer : profile.statistics) {
    layers_.push_back(&session.layer(layer.layer));
    taps_.push_back({layers_.back(), profile.reduction});
  }
  if (!with_extremes) return;
  for (const Layer* layer : layers_) taps_.push_back({layer, Reduction::min});
  for (const Layer* layer : layers_) taps_.push_back({layer, Reduction::max});
}

Observer::Seen Observer::observe(const Tensors& given, std::size_t records, bool classify) const {
  classify = classify && class_count(session_) > 0;
  const ValueId logits = session_.logits();
  const std::span<const ValueId> outputs = classify ? std::span(&logits, 1) : std::span<const ValueId>();
  Session::Observed observed = session_.observe(given, taps_, outputs);
  Seen seen{.layers = std::move(observed.layers),
            .least = {},
            .greatest = {},
            .outputs = std::move(observed.outputs),
            .predicted = {}};
  const std::size_t count = layers_.size();
  for (std::size_t l = 0; with_extremes_ && l < count; ++l) {
    seen.least.push_back(extremes(seen.layers[count + l], true));
    seen.greatest.push_back(extremes(seen.layers[2 * count + l], false));
  }
  seen.layers.resize(count);
  for (std::size_t l = 0; l < count; ++l) {
    if (seen.layers[l].columns == profile_.statistics[l].neurons()) continue;
    fail(Fault::mismatch,
         "layer '{}' has {} neurons here and {} in the profile; learn it again with records of this shape",
         layers_[l]->name, seen.layers[l].columns, profile_.statistics[l].neurons());
  }
  if (classify) seen.predicted = predicted_classes(session_, seen.outputs.at(logits), records);
  return seen;
}

}  // namespace assay::coverage
