#include <assay/extend/mutation_subject.h>

namespace assay::mutation {

std::int64_t NeuronLayout::index(std::int64_t neuron, std::int64_t k) const {
  const std::int64_t o = neuron / inner, i = neuron % inner;
  const std::int64_t b = k / after, a = k % after;
  return ((o * before + b) * inner + i) * after + a;
}

std::int64_t NeuronLayout::neuron_of(std::int64_t index) const {
  const std::int64_t i = index / after % inner;
  const std::int64_t o = index / (after * inner * before);
  return o * inner + i;
}

}  // namespace assay::mutation
