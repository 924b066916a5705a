#pragma once

// The coverage that an exploration raises: one criterion for each network.

#include <functional>
#include <memory>
#include <unordered_set>
#include <vector>

#include <assay/extend/abilities.h>
#include <assay/extend/attack_problem.h>
#include <assay/extend/criteria.h>
#include <assay/extend/random.h>
#include "assay/coverage/observer.h"
#include "assay/explore/choice.h"

namespace assay::explore {

class Guide {
 public:
  // `networks` must outlive this; one profile for each. Throws Error{usage} for a criterion that cannot
  // guide.
  Guide(std::vector<const attack::AttackedNetwork*> networks,
        std::vector<std::shared_ptr<const coverage::Profile>> profiles,
        const coverage::CriterionChoice& criterion, const NeuronChoice& choice);

  std::size_t networks() const { return parts_.size(); }
  const coverage::Profile& profile(std::size_t network) const { return *parts_[network].profile; }
  bool wants_extremes() const { return parts_[0].criterion->wants_extremes(); }
  const NeuronChoice& choice() const { return choice_; }

  // The aims of a record in one network; empty when nothing is left. Thread-safe between calls of add().
  std::vector<coverage::Aim> pick(std::size_t network, const coverage::ActivationBatch& batch,
                                  std::size_t row, const ByNeuron<float>* relevance, Rng rng) const;

  // Adds records [n, record...] in units of the valid range. Returns for every record and network how many
  // items it is the first to cover; nothing for criteria without items. Records with activations that are not
  // finite count nowhere.
  std::vector<std::vector<std::optional<std::uint64_t>>> add(const Array& points);
  // Adds records of any data set as that has them.
  void add(const Batch& batch);

  // Coverage of one network over all layers (of the first layer where layers do not add up).
  coverage::Coverage coverage(std::size_t network) const;
  // Of all networks together: what is covered of all that can be, as DeepXplore reports it. Nothing for
  // measures without a greatest value.
  std::optional<double> share() const;

 private:
  struct Part {
    const attack::AttackedNetwork* network;
    std::shared_ptr<const coverage::Profile> profile;
    std::string name;  // of the criterion
    std::unique_ptr<coverage::Criterion> criterion;
    std::unique_ptr<coverage::Observer> observer;
    const coverage::Guiding* guiding = nullptr;     // the criterion
    coverage::Itemised* itemised = nullptr;         // the criterion; null: it has no items
    std::vector<std::vector<std::uint64_t>> items;  // of records just added
    std::unordered_set<std::uint64_t> covered;
    ByNeuron<std::uint32_t> active;
  };
  std::vector<std::optional<std::uint64_t>> add(Part& part, const Tensors& given, std::size_t count);
  std::vector<std::vector<std::optional<std::uint64_t>>> add(
      std::size_t count, const std::function<Tensors(const Part&)>& bound);

  const NeuronChoice& choice_;
  std::vector<Part> parts_;
  std::size_t records_ = 0;
};

}  // namespace assay::explore
