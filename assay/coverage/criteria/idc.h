#pragma once

// Importance-Driven Coverage (Gerasimou et al., ICSE 2020, section 3.3): of all combinations of clusters, one
// cluster per important neuron, how many does a test set reach? Each record falls into exactly one
// combination.

#include <optional>
#include <unordered_map>

#include <assay/extend/abilities.h>
#include <assay/extend/criterion.h>
#include <assay/extend/spec.h>
#include <assay/profile.h>

namespace assay::coverage {

// A combination: the cluster index of each important neuron, most important first.
using Combination = std::string;  // one byte per neuron

class Idc : public Criterion, public Itemised, public Comparable, public Guiding {
 public:
  static constexpr std::size_t most_clusters = 255;  // per neuron

  // The first `m` important neurons of each of these layers; m = 0: as many as the profile chose for the
  // layer.
  Idc(std::string spec, const Profile& profile, std::span<const std::size_t> layers, std::size_t m);

  void observe(const ActivationBatch& batch) override;
  void merge(const Criterion& other) override;
  std::vector<Coverage> result() const override;
  nlohmann::json save() const override;
  void load(const nlohmann::json& state) override;
  std::vector<Difference> difference(const Criterion& other, std::size_t examples) const override;
  std::vector<std::size_t> first_records() const override;
  void collect_into(std::vector<std::vector<std::uint64_t>>* items) override { collected_ = items; }
  void each_covered(const std::function<void(std::uint64_t)>& visit) const override;
  // Uncovered combinations that differ from the record's own in one neuron; where all of those are covered,
  // in two.
  std::vector<std::vector<Aim>> aims(const ActivationBatch& batch, std::size_t row) const override;

  struct Covered {
    std::uint64_t records = 0;  // how many records fell into it
    std::size_t first = 0;      // position of the first of them in the data set
    // Per neuron, towards the lower and the higher neighbouring cluster: the smallest step, in units of the
    // distance between the two centroids, that would have taken a record there, and that record.
    struct Step {
      double gap = 0;
      std::size_t record = 0;
    };
    std::vector<std::optional<Step>> lower, higher;
  };

  // Combinations that no record reaches and that differ from a covered one in one neuron by one cluster,
  // nearest first.
  struct Neighbour {
    Combination combination;
    std::size_t neuron = 0;  // position among the important neurons
    double gap = 0;
    std::size_t record = 0;  // the record that came nearest
  };

  struct LayerCombinations {
    std::string name;
    std::size_t position = 0;  // of the layer in the profile and in batches
    std::vector<ImportantNeuron> neurons;
    std::unordered_map<Combination, Covered> covered;

    // What is covered, by combination.
    std::vector<const std::pair<const Combination, Covered>*> in_order() const;
    // Returns the combination that the record covers.
    Combination place(std::size_t record, std::span<const float> activations);
    Combination combination_of(std::span<const float> activations) const;
    // Activations inside the clusters of a combination.
    std::vector<Aim> aims_of(const Combination& combination) const;
    std::vector<Neighbour> nearest_uncovered(std::size_t count) const;
  };
  const std::vector<LayerCombinations>& layers() const { return layers_; }

 private:
  std::string spec_;
  std::vector<LayerCombinations> layers_;
  std::vector<std::vector<std::uint64_t>>* collected_ = nullptr;
};

// The option m of criteria of important neurons, and its value: 0 for auto.
SpecOption important_option();
std::size_t important_count(const SpecOptions& options);

// "2.0.1": cluster indices for people.
std::string to_text(const Combination& combination);

}  // namespace assay::coverage
