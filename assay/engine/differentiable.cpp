#include "assay/engine/differentiable.h"

#include <assay/array_gradients.h>

namespace assay::inline engine {

Tensors run_differentiably(const std::shared_ptr<const Segment>& segment, const Tensors& inputs) {
  Tensors given, results;
  Arrays list;
  for (const ValueId id : segment->inputs()) {
    given.emplace(id, inputs.at(id).detach());
    list.push_back(inputs.at(id));
  }
  segment->run(given, results, {});
  Arrays outputs;
  for (const ValueId id : segment->outputs()) outputs.push_back(results.at(id));
  const auto back = [segment, given](const Arrays& of_outputs, const std::vector<bool>& wanted) {
    std::vector<ValueId> ids;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i]) ids.push_back(segment->inputs()[i]);
    }
    const std::vector<Array> found = segment->gradients(given, of_outputs, ids);
    Arrays of_inputs(wanted.size());
    for (std::size_t i = 0, next = 0; i < wanted.size(); ++i) {
      if (wanted[i]) of_inputs[i] = found[next++];
    }
    return of_inputs;
  };
  outputs = array::recorded(std::move(outputs), list, back);
  for (std::size_t o = 0; o < outputs.size(); ++o) results[segment->outputs()[o]] = outputs[o];
  return results;
}

}  // namespace assay::inline engine
