#pragma once

// Importance-Driven Coverage (Gerasimou et al., ICSE 2020, section 3.3): of all combinations of clusters, one cluster per
// important neuron, how many does a test set reach? Each record falls into exactly one combination.

#include <map>
#include <optional>

#include "assay/coverage/criterion.h"
#include "assay/coverage/profile.h"

namespace assay {

// A combination: the cluster index of each important neuron, most important first.
using Combination = std::string;  // one byte per neuron

class Idc final : public Criterion {
 public:
  // The first `m` important neurons of a layer. Copies what it needs from the profile.
  Idc(const LayerProfile& profile, std::size_t m);

  void observe(const ActivationBatch& batch) override;
  void merge(const Criterion& other) override;
  Coverage result() const override;

  struct Covered {
    std::uint64_t records = 0;   // how many records fell into it
    std::size_t first = 0;       // position of the first of them in the data set
    // Per neuron, towards the lower and the higher neighbouring cluster: the smallest step, in units of the distance
    // between the two centroids, that would have taken a record there, and that record.
    struct Step {
      double gap = 0;
      std::size_t record = 0;
    };
    std::vector<std::optional<Step>> lower, higher;
  };
  const std::map<Combination, Covered>& covered() const { return covered_; }
  std::size_t non_finite() const { return non_finite_; }  // records left out because an activation is not finite

  // Combinations that no record reaches and that differ from a covered one in one neuron by one cluster, nearest first.
  struct Neighbour {
    Combination combination;
    std::size_t neuron = 0;       // position among the important neurons
    double gap = 0;
    std::size_t record = 0;       // the record that came nearest
  };
  std::vector<Neighbour> nearest_uncovered(std::size_t count) const;

  const std::string& layer() const { return layer_; }
  const std::vector<ImportantNeuron>& neurons() const { return neurons_; }

 private:
  void place(std::size_t record, std::span<const float> activations);

  std::string layer_;
  std::vector<ImportantNeuron> neurons_;
  std::map<Combination, Covered> covered_;
  std::size_t non_finite_ = 0;
};

// "2.0.1": cluster indices for people.
std::string to_text(const Combination& combination);

}  // namespace assay
