#pragma once

// Base of criteria with a fixed number of items in each layer, a few or many per neuron.

#include <cstdint>
#include <string>
#include <vector>

#include <assay/extend/abilities.h>
#include <assay/extend/criterion.h>
#include <assay/profile.h>
#include "assay/coverage/criteria/row_loops.h"

namespace assay::coverage {

struct CriterionSetup;

// A layer whose items belong to no neuron.
struct WholeLayer {
  std::size_t position = 0;  // in the profile
  std::size_t items = 0;
};

class ItemCriterion : public Criterion, public Itemised, public Comparable, public Guiding {
 public:
  void merge(const Criterion& other) override;
  std::vector<Coverage> result() const override;
  nlohmann::json save() const override;
  void load(const nlohmann::json& state) override;
  std::vector<Difference> difference(const Criterion& other, std::size_t examples) const override;
  std::vector<NeuronCoverage> neurons(std::size_t layer) const override;
  std::vector<std::size_t> first_records() const override;
  void collect_into(std::vector<std::vector<std::uint64_t>>* items) override { collected_ = items; }
  void each_covered(const std::function<void(std::uint64_t)>& visit) const override;
  // One entry per neuron that has uncovered items.
  std::vector<std::vector<Aim>> aims(const ActivationBatch& batch, std::size_t row) const override;

 protected:
  // Few items per neuron keep the first record of each; many keep one bit, so a layer takes a bit per item.
  enum class Keep { first_record, bit };
  // Items of the layers in setup. `excluded`: why items of a neuron do not count as attainable.
  ItemCriterion(const CriterionSetup& setup, std::size_t items_per_neuron, Keep keep);
  // Items of whole layers, such as buckets of surprise, which do not add up.
  ItemCriterion(const CriterionSetup& setup, std::span<const WholeLayer> layers);

  struct LayerItems {
    std::string name;
    std::size_t position = 0;          // in the profile and in batches
    std::size_t neurons = 0;           // of whole layers: items
    std::uint64_t offset = 0;          // of its items among those of all layers
    std::vector<std::uint64_t> bits;   // Keep::bit
    std::vector<std::uint32_t> first;  // Keep::first_record: none or the record
    std::vector<bool> counted;         // per neuron: its items are in the denominator; empty: all
    std::vector<bool> attainable;      // per item: can be covered and is not the same as another; empty: all
    std::string note;
  };
  static constexpr std::uint32_t none = 0xFFFFFFFF;

  const std::string& spec() const { return spec_; }
  std::size_t items_per_neuron() const { return per_neuron_; }
  std::vector<LayerItems>& layers() { return layers_; }
  const std::vector<LayerItems>& layers() const { return layers_; }

  void cover(LayerItems& layer, std::size_t item, std::size_t record) {
    if (!layer.counted.empty() && !layer.counted[item / per_neuron_]) return;
    if (collected_ != nullptr) (*collected_)[record].push_back(layer.offset + item);
    if (keep_ == Keep::bit) {
      layer.bits[item >> 6] |= std::uint64_t{1} << (item & 63);
    } else if (record < layer.first[item]) {
      layer.first[item] = static_cast<std::uint32_t>(record);
    }
  }
  // Covers one item of each neuron: the one whose number is the integer part of the value; negative values
  // cover none. REQUIRES: negative for neurons that do not count; many items per neuron.
  void cover_one_each(LayerItems& layer, std::span<const double> items, std::size_t record);
  // Covers the items of neurons, of which each has one, with activations above a bound.
  void cover_above(LayerItems& layer, const ActivationBatch& batch, Bound kind,
                   std::span<const float> bounds);
  bool covered(const LayerItems& layer, std::size_t item) const {
    return keep_ == Keep::bit ? (layer.bits[item >> 6] >> (item & 63) & 1) != 0 : layer.first[item] != none;
  }

  // Whether an item counts, can be covered and is not.
  bool open(const LayerItems& layer, std::size_t item) const {
    return !covered(layer, item) && (layer.counted.empty() || layer.counted[item / per_neuron_]) &&
           (layer.attainable.empty() || layer.attainable[item]);
  }
  // For a record: where a neuron's activation should go to cover the nearest of its open items, if any is
  // left.
  using Wanted = std::function<std::optional<Aim>(std::size_t neuron)>;
  virtual Wanted wanted(const LayerItems& layer, const ActivationBatch& batch, std::size_t row) const = 0;

  // Words for an item of a neuron: "section 7", "above".
  virtual std::string item_name(std::size_t item_of_neuron) const { return std::to_string(item_of_neuron); }
  // The same for an item of a whole layer.
  virtual std::string whole_item_name(const LayerItems&, std::size_t item) const {
    return std::to_string(item);
  }
  // Added to the note of a layer's result.
  virtual std::string remark(std::size_t) const { return {}; }  // position among layers()

 private:
  void allocate(LayerItems& layer);
  const ItemCriterion& same_kind(const Criterion& other) const;

  std::string spec_;
  std::size_t per_neuron_;
  Keep keep_;
  bool adds_up_ = true;
  std::vector<std::vector<std::uint64_t>>* collected_ = nullptr;
  std::vector<LayerItems> layers_;
};

}  // namespace assay::coverage
