#pragma once

// State of a Session; private to the engine.

#include <array>
#include <map>
#include <memory>
#include <optional>

#include <assay/session.h>
#include "assay/engine/constants.h"
#include "assay/engine/evaluation/decision.h"
#include "assay/engine/execute.h"
#include "assay/engine/preparation/fast_path.h"
#include "assay/engine/shape_inference.h"

namespace assay::inline engine {

// Ids given, wanted and visited.
using PlanKey = std::array<std::vector<ValueId>, 3>;

// The request of one run. `visited`: values that on_value must see but that are not returned.
struct Wanted {
  std::span<const ValueId> values;
  std::span<const ValueId> visited = {};
};

struct Session::State {
  State(Graph graph_, SessionOptions options_);

  Graph graph;
  SessionOptions options;
  EngineChoice engines;
  RecordShapes shapes;  // as the options tell
  Constants constants;
  // Records per run for networks that insist on their file's batch size; 0: any number.
  std::int64_t group = 0;
  // Inputs fixed to shapes that differ in the leading size: the network runs for exactly those.
  bool together = false;
  mutable std::vector<std::string> notices;

  // Found when first requested.
  mutable std::vector<ValueInfo> infos_;
  mutable std::optional<std::vector<Layer>> layers_;
  // Whose activations hold nothing, or another number of rows for each record; none of layers_.
  mutable std::vector<Layer> left_out_;
  mutable std::optional<Decision> decision_;
  mutable std::map<PlanKey, std::shared_ptr<const Plan>> plans_;

  mutable std::unique_ptr<const FastPath> fast_, in_front_, picked_;
  mutable bool fast_settled_ = false;

  const std::vector<ValueInfo>& infos() const;
  const std::vector<Layer>& layers() const;
  // Throws Error{usage} where the selector names a layer that is left out.
  void refuse_layer_left_out(std::string_view selector) const;
  const Decision& decision() const;
  // The fast path for the request, if this session may use back ends and they can run it; otherwise nullptr.
  const FastPath* fast(const Tensors& given, const FastPath::Request& request) const;
  // Whether back ends reduce a layer's value whose batch axis is not the first, if this session may use them.
  bool reduces_batch_major(const Layer& layer) const;
  // Whether no constant was computed from these.
  bool nothing_folded_from(std::span<const ValueId> constants) const;
  std::shared_ptr<const Plan> plan(const Tensors& given, const Wanted& wanted) const;

  // One pass over the graph in the current gradient mode. `given` overrides constants as well.
  Tensors forward(const Tensors& given, const Wanted& wanted, KernelContext& context,
                  const OnValue& on_value = {}) const;
  // The same for networks with a fixed batch size: any number of records, in groups. `on_value` sees each
  // group's values in turn, with copies of the last record filling up the last group.
  Tensors forward_grouped(const Tensors& given, const Wanted& wanted, KernelContext& context,
                          const OnValue& on_value = {}) const;
  // One or the other.
  Tensors compute(const Tensors& given, const Wanted& wanted, KernelContext& context,
                  const OnValue& on_value = {}) const;

 private:
  bool may_use_back_ends() const;
  void settle_back_ends() const;
  std::vector<ValueInfo> probe() const;
  void settle_open_axes();
  void give_batch_axis();
  void take_records_alone(bool told);
  void settle_batch();
  void settle_squeezes();
  void settle_branches();
  std::int64_t settle_record_axes();
  std::int64_t declared_batch();
  void free_the_batch();
  void free_large_batch();
  std::int64_t elements_of(std::int64_t records) const;
  bool as_declared(const Tensors& given) const;
  bool probable() const;
};

}  // namespace assay::inline engine
