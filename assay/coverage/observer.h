#pragma once

// Running records so that criteria can see them.

#include <assay/extend/criterion.h>
#include <assay/profile.h>

namespace assay::coverage {

// Activations of records by the layers of a profile.
class Observer {
 public:
  // Throws Error{usage} for layers that the network does not have. Session and profile must outlive this.
  Observer(const Session& session, const Profile& profile, bool with_extremes);

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
  // One forward pass of so many records; with `classify` the logits and the classes they name as well, where
  // they name any (class_count()). Throws Error{mismatch} when a layer has another number of neurons than the
  // profile knows.
  Seen observe(const Tensors& given, std::size_t records, bool classify) const;

 private:
  const Session& session_;
  const Profile& profile_;
  bool with_extremes_;
  std::vector<const Layer*> layers_;
  std::vector<Tap> taps_;
};

}  // namespace assay::coverage
