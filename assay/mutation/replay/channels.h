#pragma once

// The short way for a mutant that changes few channels (neurons) of a layer: only these are computed again,
// carried through the channel-wise nodes behind, and their change is added to the next layer's sum, since
// that is linear in them.

#include <functional>
#include <optional>
#include <vector>

#include <assay/session.h>
#include "assay/engine/changes/changed_weights.h"
#include "assay/mutation/replay/difference.h"

namespace assay::mutation {

struct ChannelPath {
  // A node with its constants cut to the channels in question; the input at `running` is the previous step's
  // result.
  struct Step {
    Node node;
    std::vector<Tensor> inputs;
    std::size_t running = 0;
  };
  ValueId source = no_value;  // value of the original that the first step reads
  Tensor source_channels;     // channels of it that are read; undefined: all
  // In the place of a first step: what other weights make of the source value and of what the original's
  // layer gave there.
  std::optional<ChangedWeights> start;
  ValueId started = no_value;
  std::vector<Step> steps;
  ValueId end = no_value;  // value of the original of which `channels` become the last step's result
  Tensor channels;         // int64, ascending
  // The linear node that alone reads `end`, its weights cut to `channels`, without bias: one of the two.
  std::optional<Step> next;
  std::optional<ChangedWeights> added;
  ValueId next_value = no_value;       // what it computes
  std::size_t changed = 0, width = 0;  // channels that change in the first step, and that there are

  // The last step's result from the source value (whole) and, where there is a start, the value `started`;
  // undefined where infinities are in the way.
  Tensor run(const Tensor& source_value, const Tensor& started_value, int threads) const;
  // What the linear node computes, of what it computed and of the change of `channels`; undefined as above.
  Tensor run_next(const Tensor& before, const Tensor& change, int threads) const;
};

// The layer of other weights that the difference begins with, if computing what changes is quicker.
std::optional<ChangedWeights> find_changed_weights(const Session& session, const Graph& mutant,
                                                   const Difference& difference);

// Nothing when the difference is not of that kind, or no channel is spared. `session`: of the original,
// `changed`: as found above.
std::optional<ChannelPath> find_channel_path(const Session& session, const Graph& mutant,
                                             const Difference& difference,
                                             const std::optional<ChangedWeights>& changed);

}  // namespace assay::mutation
