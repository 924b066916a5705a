#pragma once

// Runs with back ends: a plan whose segments of nodes are compiled by the back end with
// the least expected cost; everything else runs in the reference.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <assay/session.h>
#include "assay/engine/preparation/batch_major.h"
#include "assay/engine/preparation/planner.h"

namespace assay::inline engine {

class FastPath {
 public:
  using Request = RunRequest;

  FastPath(const Graph& graph, const Constants& constants, std::vector<ValueInfo> infos, int threads,
           EngineChoice engines);

  FastPath(const FastPath&) = delete;
  FastPath& operator=(const FastPath&) = delete;

  // The same with the batch axis first wherever that is possible; nullptr if it has no advantage. It takes
  // requests that neither train nor go back through values that have another form there.
  std::unique_ptr<const FastPath> as_batch_major() const;

  // The same where positions of sequences are picked before what would compute all of them; nullptr if there
  // is none. It takes requests for which the others are of no use.
  std::unique_ptr<const FastPath> with_early_picks() const;

  // Whether a value that has another form here is reduced to neurons as it is computed. Its neurons lie along
  // `axis`.
  bool reduces_batch_major(ValueId id, std::size_t axis) const;

  // True when the run can be done here: `given` holds batches of the expected shapes and replaces no folded
  // constant, and every requested value is still computed.
  bool can_run(const Tensors& given, const Request& request) const;

  // REQUIRES can_run(), and that autograd records only where the request is differentiable.
  Tensors run(const Tensors& given, const Request& request) const;

  // If one segment computes everything that the objective reads from the given values, which must be wanted.
  // REQUIRES can_run() of a differentiable request for the values read.
  std::optional<RecordGradients> gradients(const Tensors& given, const Request& request,
                                           const RecordObjective& objective,
                                           std::span<const ValueId> wanted) const;

  // How a request would be run: each segment of nodes, as they are numbered here, in order; with `measure`
  // the best time of several runs. REQUIRES can_run().
  std::vector<PlannedSegment> explain(const Tensors& given, const Request& request, bool measure) const;
  // The nodes of the session's graph that nodes are here; for those that were put in, if there are no others,
  // what they are put in for.
  std::vector<NodeId> nodes_in(const Graph& session, std::span<const NodeId> nodes) const;
  // Which share of its positions the node of the session's graph computes here. O(nodes that were put in).
  double share_of(const Node& of_session) const;

 private:
  using Key = std::vector<std::vector<std::int32_t>>;

  FastPath(Graph graph, std::vector<ValueInfo> infos, int threads, EngineChoice engines);
  // A request for values in the form that they have here, which `request` outlives.
  struct Translated {
    std::vector<ValueId> wanted, visited;
    std::vector<ReducedValue> tapped;
    Request request;
  };
  Translated translated(const Request& request) const;
  ReducedValue translated(ReducedValue tap) const;
  bool can_translate(const Tensors& given, const Request& request) const;
  bool is_here(const Tensors& given, const Request& request) const;
  bool needs_passed(const Tensors& given, const Request& request) const;

  std::int64_t records_of(const Tensors& given) const;
  const CompiledPlan& plan_for(const Tensors& given, const Request& request) const;
  // Calls after_step(number of steps done) after every part and every node outside of parts.
  Tensors execute(const CompiledPlan& fast, const Tensors& given, const Request& request,
                  const std::function<void(std::size_t)>& after_step) const;
  void run_part(const CompiledPart& part, std::vector<Array>& values, const Request& request) const;
  bool as_expected(ValueId id, const Array& tensor) const;
  const Node& node(NodeId n) const { return graph_.node(n); }

  Graph graph_;
  Constants constants_;
  std::vector<ValueInfo> infos_;
  std::vector<Shape>
      shapes_;  // of float32 values with the batch in front, for one record; empty for all others
  ShapeOf shape_of_;
  std::set<ValueId> folded_;                    // what nodes read that became constants here, or fell away
  std::map<ValueId, BatchMajor::Moved> moved_;  // values that have another form here
  std::set<ValueId> passed_;                    // values from which what is picked of them does not follow
  std::map<std::string, std::string> extra_;
  std::map<std::string, double> instead_;  // of `extra_`: which do what they are for, at a share of positions
  int threads_;
  EngineChoice engines_;
  std::size_t most_plans_;
  Planner planner_;
  // Each is for about as many records as have run together so far.
  struct Known {
    std::int64_t records = 0;
    CompiledPlan plan;
  };
  mutable std::map<Key, Known> plans_;
};

}  // namespace assay::inline engine
