#pragma once

// Running records so that criteria can see them.

#include <assay/extend/criterion.h>
#include <assay/profile.h>

namespace assay::coverage {

// Activations of records by the layers of a profile.
class Observer {
 public:
  // Throws Error{usage} for layers that the network does not have. Session and profile must outlive this.
  // `every_position`: activations are those of all positions, and the decision value is always given.
  Observer(const Session& session, const Profile& profile, bool with_extremes, bool every_position = false);

  struct Seen {
    std::vector<Activations> layers;
    std::vector<std::vector<float>> least, greatest;  // empty unless extremes were requested
    Tensors outputs;
    std::vector<std::int64_t> predicted;  // empty unless requested, and where outputs name no classes
    // `indices`: what the records are called; `labels` may be empty. A view, to be used while this lives.
    ActivationBatch batch(std::span<const std::size_t> indices,
                          std::span<const std::int64_t> labels = {}) const {
      return {indices, layers, least, greatest, predicted, labels};
    }
  };
  const std::vector<const Layer*>& layers() const { return layers_; }
  // One forward pass of so many records; with `classify` the logits and the classes they name as well, where
  // they name any (class_count()). Throws Error{mismatch} when a layer has another number of neurons than the
  // profile knows.
  Seen observe(const Tensors& given, std::size_t records, bool classify) const;

 private:
  void require_neurons(const std::vector<Activations>& layers) const;

  const Session& session_;
  const Profile& profile_;
  bool with_extremes_, every_position_;
  std::vector<const Layer*> layers_;
  std::vector<Tap> taps_;
};

}  // namespace assay::coverage
