#include <assay/extend/mutation_edit.h>

#include <algorithm>
#include <bit>
#include <utility>

#include <assay/model.h>
#include "assay/support/files/hash.h"

namespace assay::mutation {

Edit::Edit(const Subject& subject, std::size_t most_kept)
    : subject_(subject), most_kept_(most_kept), hasher_(std::make_unique<Hasher>()) {}

Edit::~Edit() = default;

std::string Edit::fingerprint() const { return hasher_->hex(); }

float Edit::weight(const LayerWeights& weights, std::int64_t index) const {
  const std::size_t i = index;
  const auto edited = edited_.find({weights.node, weights.input});
  if (edited != edited_.end()) return edited->second.values[i];
  return subject_.graph().constant(weights.constant).as<float>()[i];
}

void Edit::set_weight(const SubjectLayer& layer, const LayerWeights& weights, std::int64_t index,
                      float value) {
  const float before = weight(weights, index);
  if (before == value || std::bit_cast<std::uint32_t>(before) == std::bit_cast<std::uint32_t>(value)) return;
  auto edited = edited_.find({weights.node, weights.input});
  if (edited == edited_.end()) {
    const auto original = subject_.graph().constant(weights.constant).as<float>();
    edited =
        edited_
            .emplace(Place{weights.node, weights.input}, Edited{weights, {original.begin(), original.end()}})
            .first;
  }
  edited->second.values[index] = value;
  const std::int64_t neuron = weights.layout ? weights.layout->neuron_of(index) : -1;
  record({layer, neuron, subject_.graph().value(weights.constant).name, index}, before, value, {});
}

void Edit::restructure(Structure change) { structure_.push_back(std::move(change)); }

void Edit::note(const SubjectLayer& layer, std::int64_t neuron, const std::string& what) {
  record({layer, neuron, {}, -1}, 0, 0, what);
}

void Edit::record(const Where& where, float before, float after, std::string_view what) {
  hasher_->text(where.layer.name()).number(where.neuron).text(where.constant).number(where.index);
  hasher_->number(std::bit_cast<std::int32_t>(after)).text(what);
  if (where.neuron >= 0) neurons_.emplace(&where.layer, where.neuron);
  ++change_count_;
  if (changes_.size() >= most_kept_) return;
  changes_.push_back({.layer = where.layer.name(),
                      .neuron = where.neuron,
                      .constant = std::string(where.constant),
                      .index = where.index,
                      .before = before,
                      .after = after,
                      .what = std::string(what)});
}

void Edit::write(GraphBuilder& builder, const Edited& edited) const {
  const Graph& graph = subject_.graph();
  const ValueId id = edited.weights.constant;
  Array array = Array::of<float>(graph.constant(id).shape(), edited.values);
  Node node = builder.node(edited.weights.node);
  const bool read_once = graph.consumers(id).size() == 1 && std::ranges::count(node.inputs, id) == 1;
  const bool output = std::ranges::find(graph.outputs(), id) != graph.outputs().end();
  if (read_once && !output) {
    builder.replace_constant(id, std::move(array));
    return;
  }
  node.inputs[edited.weights.input] =
      builder.constant(builder.unused_name(graph.value(id).name + "/own"), std::move(array));
  builder.replace_node(edited.weights.node, std::move(node));
}

Graph Edit::build() const {
  GraphBuilder builder(subject_.graph());
  for (const auto& [place, edited] : edited_) write(builder, edited);
  for (const Structure& change : structure_) change(builder);
  return builder.build();
}

Shape per_neuron_shape(const Subject& subject, const SubjectLayer& layer, ValueId value) {
  const Shape& whole = subject.shape(value);
  Shape shape(whole.size(), 1);
  for (const int axis : layer.layer.neuron_axes) shape[axis] = whole[axis];
  return shape;
}

}  // namespace assay::mutation
