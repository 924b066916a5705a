#pragma once

// The changes one mutant makes: written down first, built into a graph when asked. Costs what it changes.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <assay/extend/mutation_subject.h>
#include <assay/model.h>

namespace assay::inline model {
class GraphBuilder;
}  // namespace assay::inline model

namespace assay::inline support {
class Hasher;
}  // namespace assay::inline support

namespace assay::mutation {

// One weight that has another value, or one neuron or layer that is computed otherwise.
struct Change {
  std::string layer;
  std::int64_t neuron = -1;  // -1: belongs to no single neuron
  std::string constant;      // name of the array that holds the weight; empty for changes of structure
  std::int64_t index = -1;   // flat, in that array
  float before = 0, after = 0;
  std::string what;  // changes of structure: "blocked"
};

class Edit {
 public:
  using Structure = std::function<void(GraphBuilder&)>;

  // Keeps a reference to the subject and the first `most_kept` changes.
  explicit Edit(const Subject& subject, std::size_t most_kept = 1000);
  ~Edit();

  const Subject& subject() const { return subject_; }

  // A weight as edited so far.
  float weight(const LayerWeights& weights, std::int64_t index) const;
  // Gives a weight another value. Setting the value it has changes nothing, and 0 and -0 are the same value.
  void set_weight(const SubjectLayer& layer, const LayerWeights& weights, std::int64_t index, float value);
  // A change of the graph itself. Made after those of weights, in the order given. Say with note() what it
  // does.
  void restructure(Structure change);
  // The effect of a change of structure on a neuron; on the layer as a whole for neuron -1.
  void note(const SubjectLayer& layer, std::int64_t neuron, const std::string& what);

  // True while nothing differs from the original.
  bool empty() const { return change_count_ == 0; }
  const std::vector<Change>& changes() const { return changes_; }  // the first ones
  std::int64_t change_count() const { return change_count_; }      // all of them
  // Number of neurons that were named by a change.
  std::int64_t neuron_count() const { return std::ssize(neurons_); }
  // Equal for edits that make the same changes in the same order. 32 hex digits.
  std::string fingerprint() const;

  // The mutated graph. The original is untouched and shares all other weights.
  Graph build() const;

 private:
  using Place = std::pair<NodeId, std::size_t>;  // node, input
  struct Edited {
    LayerWeights weights;
    std::vector<float> values;
  };
  struct Where {
    const SubjectLayer& layer;
    std::int64_t neuron;
    std::string_view constant;
    std::int64_t index;
  };
  void record(const Where& where, float before, float after, std::string_view what);
  void write(GraphBuilder& builder, const Edited& edited) const;

  const Subject& subject_;
  std::size_t most_kept_;
  std::map<Place, Edited> edited_;
  std::vector<Structure> structure_;
  std::vector<Change> changes_;
  std::int64_t change_count_ = 0;
  std::set<std::pair<const SubjectLayer*, std::int64_t>> neurons_;
  std::unique_ptr<Hasher> hasher_;
};

// Constants that broadcast over a layer's neurons: shape 1 along every axis of `value` but those of neurons.
// `value` has the neuron axes of the layer. Used for masks, one number per neuron, row-major over the neuron
// axes.
Shape per_neuron_shape(const Subject& subject, const SubjectLayer& layer, ValueId value);

}  // namespace assay::mutation
