#pragma once

// Which back end runs which nodes: the cheapest way through all of them, where a change of back end costs the
// change of layout. What no back end runs, or does more slowly, is left to the reference.

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "assay/engine/engine_choice.h"
#include "assay/engine/execute.h"
#include "assay/engine/preparation/plan.h"
#include "assay/engine/shape_inference.h"

namespace assay::inline engine {

inline bool contains(std::span<const ValueId> ids, ValueId id) {
  return std::ranges::find(ids, id) != ids.end();
}

// What a run is asked for. `visited` values are passed to on_value, which may replace the array; `tapped`
// ones, reduced to [n, channels], to on_matrix. `differentiable`: autograd will go back through the run.
struct RunRequest {
  std::span<const ValueId> wanted, visited = {};
  std::span<const ReducedValue> tapped = {};
  OnValue on_value = {};
  std::function<void(const ReducedValue&, const Array&)> on_matrix = {};
  bool differentiable = false;
  // For training: constants among what is given, and how kernels behave.
  std::span<const ValueId> trainable = {};
  KernelContext* training = nullptr;
};

// Steps [begin, end) of a plan. What runs them, with weights laid out anew, is made when it is asked for.
struct CompiledPart {
  std::size_t begin = 0, end = 0;
  const Backend* backend = nullptr;
  std::vector<ReducedValue> taps;
  std::vector<ValueId> whole;  // tapped, but not reduced by the back end
  SegmentRequest asked_for;
  mutable std::shared_ptr<const Segment> made = nullptr;

  const std::shared_ptr<const Segment>& segment() const {
    if (!made) made = backend->compile(asked_for);
    return made;
  }
};
struct CompiledPlan {
  Plan plan;
  std::vector<CompiledPart> parts;  // in order
  bool keeps_nan = true;
};

class Planner {
 public:
  // All but the engines must outlive it. `shape_of` knows float32 values with the batch in front.
  Planner(const Graph& graph, const std::vector<ValueInfo>& infos, const ShapeOf& shape_of, int threads,
          EngineChoice engines);

  // `available`: marks of the values that are there, as of make_plan(). `records`: about how many run
  // together.
  CompiledPlan plan(const std::vector<bool>& available, const RunRequest& request,
                    std::int64_t records) const;

  // Nanoseconds of one of so many records; without a back end, with the kernels.
  double cost(const Backend* backend, const Node& node, std::int64_t records) const;
  // Of a node that another back end than that of the nodes before runs.
  double cost_of_change(const Node& node) const;
  // Whether it matters how many records run together: for small networks one plan is good enough for all.
  bool is_large() const { return is_large_; }

 private:
  // A plan in which these nodes are compiled without what they read beside constants; nothing if that cannot
  // be.
  std::optional<CompiledPlan> plan(const std::vector<bool>& available, const RunRequest& request,
                                   std::int64_t records, const std::set<NodeId>& repeated) const;
  std::set<NodeId> repeated_constants(const RunRequest& request) const;
  std::vector<const Backend*> candidates(const Plan& plan, const RunRequest& request) const;
  std::vector<const Backend*> choose(const Plan& plan, const RunRequest& request, std::int64_t records,
                                     const std::set<NodeId>& repeated) const;
  bool fits(const Plan& plan, const Backend& backend, const RunRequest& request) const;
  bool supports(const Backend& backend, const Node& node) const;
  bool takes(const Backend& backend, const Node& node, const RunRequest& request) const;
  bool repeats_constant(const Node& node) const;
  std::vector<std::size_t> ends_of(const Plan& plan, std::span<const Backend* const> chosen,
                                   const RunRequest& request) const;
  void keep_nan_tests_inside(const Plan& plan, const RunRequest& request,
                             std::vector<const Backend*>& chosen) const;
  // That returns nothing yet.
  SegmentRequest part_of(std::span<const NodeId> nodes) const;
  CompiledPart make_part(const Plan& plan, std::size_t begin, std::size_t end, const Backend& backend,
                         const RunRequest& request) const;
  std::int64_t steps_of(const Node& node) const;
  const Node& node(NodeId n) const { return graph_.node(n); }

  const Graph& graph_;
  const std::vector<ValueInfo>& infos_;
  const ShapeOf& shape_of_;
  int threads_;
  EngineChoice engines_;
  bool is_large_ = false;
  mutable std::map<std::pair<const Backend*, const Node*>, bool> supported_;  // as far as asked
};

}  // namespace assay::inline engine
