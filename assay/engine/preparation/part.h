#pragma once

// Some nodes of a graph as a separate network: what an edit changes, without the rest.

#include <map>
#include <memory>
#include <span>
#include <vector>

#include <assay/session.h>

namespace assay::inline engine {

class Part {
 public:
  // `nodes`: of the graph, ascending. `given`: shapes of all values that they read from
  // outside, but for constants, -1 along the axis of the records. The graph may go afterwards. `options`: of
  // the session that runs the whole. Throws Error where the nodes alone do not form a network that can run.
  Part(const Graph& graph, std::span<const NodeId> nodes, const std::map<ValueId, Shape>& given,
       std::span<const ValueId> wanted, SessionOptions options);

  // Computes all of `wanted`.
  Tensors run(const Tensors& given) const;

 private:
  std::unique_ptr<const Session> session_;
  std::map<ValueId, ValueId> given_, wanted_;  // in the graph, and in the part's own
};

}  // namespace assay::inline engine
