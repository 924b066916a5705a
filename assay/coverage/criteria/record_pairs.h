#pragma once

// Criteria after MC/DC on pairs of records (Sun et al., Testing Deep Neural Networks, 2018): what changes in
// one layer, all else in it keeping its sign, and what that changes in the next layer.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <assay/extend/abilities.h>
#include <assay/extend/criteria.h>

namespace assay::coverage {

// How an activation differs between two records.
enum class Change {
  sign,  // it is above 0 for one of them alone
  value  // it has the same sign, and one is at least `factor` times the other in size
};

struct PairConditions {
  Change cause, effect;
  double cause_factor = 2, effect_factor = 2;  // of changes of value
};

// Items: pairs (i, j) of neurons of consecutive layers such that i changes between two records, no other
// neuron of its layer changes its sign (nor i itself where its value is what changes), and j changes. Keeps
// the activations of all records. What is covered is kept as well: it follows from them, and looking at all
// pairs again costs time.
class RecordPairs final : public Criterion, public Comparable, public Guiding {
 public:
  RecordPairs(const CriterionSetup& setup, const PairConditions& conditions);

  void observe(const ActivationBatch& batch) override;
  void merge(const Criterion& other) override;
  std::vector<Coverage> result() const override;
  nlohmann::json save() const override;
  void load(const nlohmann::json& state) override;
  std::vector<Difference> difference(const Criterion& other, std::size_t examples) const override;
  std::vector<std::vector<Aim>> aims(const ActivationBatch& batch, std::size_t row) const override;

 private:
  using Row = std::vector<float>;     // of a record: the first layer, then the second one
  using Pattern = std::vector<bool>;  // which neurons of the first layer are above 0
  using Items = std::vector<bool>;    // i * to + j
  struct LayerPair {
    std::string name;
    std::size_t first = 0, second = 0;  // positions of the layers
    std::size_t from = 0, to = 0;       // neurons
    Items attainable, covered;
    std::size_t open = 0;  // items that are not covered
    std::map<Pattern, std::vector<Row>> records;
  };

  void add(LayerPair& pair, Row row) const;
  void compare(LayerPair& pair, const Row& a, const Row& b, std::size_t flipped) const;
  void cover(LayerPair& pair, const Row& a, const Row& b, std::size_t i) const;
  bool changes(Change change, double factor, float a, float b) const;
  Aim aim_of(const LayerPair& pair, std::size_t neuron, float value) const;
  const RecordPairs& same_kind(const Criterion& other) const;

  std::string spec_;
  PairConditions conditions_;
  std::vector<LayerPair> pairs_;
};

// The entry of the criterion of these changes. A change of value has an option, the factor: "factor" of the
// cause, "effect" of the effect.
CriterionInfo pair_criterion(Change cause, Change effect, std::string name, std::string summary,
                             std::string definition);

}  // namespace assay::coverage
