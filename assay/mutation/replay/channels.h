#pragma once

// The short way for a mutant that changes few channels (neurons) of a layer: only these are computed again,
// carried through the channel-wise nodes that follow, and their change is added to the next layer's sum,
// since that is linear in them.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <assay/session.h>
#include "assay/engine/changes/changed_weights.h"
#include "assay/mutation/replay/difference.h"

namespace assay::mutation {

struct ChannelPath {
  ValueId source = no_value;  // value of the original that the first node reads
  std::optional<std::vector<std::int64_t>> source_channels;  // channels of it that are read, unless all
  // Instead of a first node: the contribution of other weights, from the source value and the original
  // layer's result.
  std::optional<ChangedWeights> start;
  ValueId started = no_value;
  // The nodes that follow, with their constants cut to the channels in question; null: there are none.
  std::shared_ptr<const Session> steps;
  ValueId end = no_value;              // value of the original of which `channels` become what the nodes give
  std::vector<std::int64_t> channels;  // ascending
  // The linear node that alone reads `end`, its weights cut to `channels`, without bias: one of the two.
  std::shared_ptr<const Session> next;
  std::optional<ChangedWeights> added;
  ValueId next_value = no_value;        // what it computes
  std::int64_t changed = 0, width = 0;  // channels that the first node changes, and that there are

  // The new values of `channels`, from the source value (whole) and, if there is a start, the value
  // `started`; undefined if infinities are in the way.
  Array run(const Array& source_value, const Array& started_value, int threads) const;
  // The new result of the linear node, from its original result and the change of `channels`; undefined as
  // above.
  Array run_next(const Array& before, const Array& change, int threads) const;
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
