#include "assay/mutation/choice.h"

#include <assay/error.h>

namespace assay::mutation {

void choose_operators(DrawOptions& draw, const std::string& preset, const std::vector<std::string>& operators,
                      std::optional<std::size_t> count) {
  if (operators.empty() || !preset.empty()) {
    const MutationPreset& found = presets().find(preset.empty() ? "deepmutation" : preset);
    draw.operators.assign(found.specs.begin(), found.specs.end());
    if (!preset.empty()) {
      draw.per_operator = found.per_operator;
      draw.counts = found.counts;
      draw.whole_network = draw.whole_network || found.whole_network;
    }
  }
  draw.operators.insert(draw.operators.end(), operators.begin(), operators.end());
  if (!count) return;
  draw.per_operator = *count;
  draw.counts.clear();
}

bool need_training(const std::vector<OperatorChoice>& operators) {
  std::vector<std::string> edits, trained;
  for (const OperatorChoice& op : operators)
    (info_of(op).of_source() ? trained : edits).push_back(op.spec().name);
  if (!edits.empty() && !trained.empty())
    fail(Fault::usage,
         "{} changes a trained network and {} what it is trained from; run them one after another", edits[0],
         trained[0]);
  return edits.empty();
}

std::vector<Mutant> part_of(const std::vector<Mutant>& mutants, std::size_t shard, std::size_t shards) {
  std::vector<Mutant> part;
  for (std::size_t i = shard - 1; i < mutants.size(); i += shards) part.push_back(mutants[i]);
  return part;
}

}  // namespace assay::mutation
