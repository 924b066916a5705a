#pragma once

// Runs a mutant at the price of what it changes: only nodes after the fault run, from what the original
// network computed before; where few channels change, only their contribution to the next layer; records that
// the fault does not reach are not run at all. The decisions are those of running the whole mutant, up to
// float rounding; Replay::exact() settles the decisions that rounding could sway.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <assay/session.h>
#include "assay/engine/preparation/part.h"
#include "assay/mutation/replay/channels.h"
#include "assay/mutation/replay/difference.h"

namespace assay::mutation {

// Records that are kept in memory together with what the original network computes for them.
class Block {
 public:
  explicit Block(const Session& session);
  // One batch: the network's inputs.
  void add(Tensors inputs);

  std::size_t chunks() const { return chunks_.size(); }
  std::int64_t rows(std::size_t chunk) const { return chunks_[chunk].rows; }
  // A value of the original network, computed when first requested. May be called from several threads.
  const Array& value(std::size_t chunk, ValueId id);
  const Tensors& inputs(std::size_t chunk) const { return chunks_[chunk].inputs; }
  // Bytes that a record takes at most with all values that replaying may ask for.
  static double bytes_per_record(const Session& session);

 private:
  struct Chunk {
    Tensors inputs, values;
    std::int64_t rows = 0;
    bool prepared = false;  // the boundaries are among the values
  };
  // Known values from which `id` can be computed, no more than needed.
  Tensors frontier(const Chunk& chunk, ValueId id) const;

  const Session& session_;
  std::vector<ValueId> boundaries_;  // computed together, at once: what the mutable layers read and sum up
  std::vector<Chunk> chunks_;
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();
};

class Replay {
 public:
  // `naive`: no shortcut, the whole mutant for every record; what the others are measured against, and the
  // only way for networks whose file fixes the batch size. `separate`: the mutant was not made by editing the
  // original's graph (it was trained; graphs that do not look like an edit of the original count as separate
  // as well), so it is run whole and its inputs are those of the original in their order. Throws
  // Error{mismatch} when a separate network takes other inputs or gives other outputs.
  Replay(const Session& original, Graph mutant, bool naive = false, bool separate = false);

  // False when the mutant computes what the original computes.
  bool changes_anything() const { return naive_ || !difference_.empty(); }

  struct Answer {
    Array decisions;              // [n, ...] of the mutant
    std::vector<bool> untouched;  // per record: the fault does not reach it, so its decision is the
                                  // original's; empty: unknown
  };
  Answer run(Block& block, std::size_t chunk) const;

  // Decisions of some records of a chunk by running the whole mutant.
  Array exact(Block& block, std::size_t chunk, const std::vector<std::int64_t>& rows) const;

  // The chosen way, for people: "whole network", "from conv2", "2 of 16 channels of conv2", "changed weights
  // of conv2".
  std::string way() const;

 private:
  Answer run_whole(Block& block, std::size_t chunk) const;
  // The original from `boundary` on; `picked` cuts what else it needs to the same records.
  Array run_after(Block& block, std::size_t chunk, Tensors boundary,
                  const std::function<Array(const Array&)>& picked) const;
  Answer run_tail(Block& block, std::size_t chunk) const;
  // Whether the difference is one layer all of whose neurons have some other weights, and nothing else.
  bool is_layer_with_other_weights() const;
  // The boundary, of all records.
  Tensors run_difference(Block& block, std::size_t chunk) const;
  Answer run_channels(Block& block, std::size_t chunk) const;
  bool make_part();
  const Session& whole() const;
  void check_separate() const;
  // Decisions of the whole mutant for the original's inputs.
  Array decide(const Tensors& inputs) const;

  const Session& original_;
  Graph mutant_;
  bool separate_, naive_;
  Difference difference_;
  bool pickable_ = true;  // what the rest reads apart from the boundary can be cut to some records
  std::optional<ChangedWeights> changed_;  // what the difference begins with
  std::optional<ChannelPath> channels_;
  std::optional<Part> part_;
  bool heavy_ = false;  // the difference is better run by a separate session
  int threads_ = 1;
  mutable std::unique_ptr<Session> whole_;  // of the mutant, made when needed
};

}  // namespace assay::mutation
