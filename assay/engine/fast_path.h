#pragma once

// Inference with the fast CPU back end: a plan whose stretches of supported nodes run as compiled segments,
// everything else with the libtorch kernels.

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "assay/engine/execute.h"
#include "assay/engine/onednn/segment.h"
#include "assay/engine/probe.h"

namespace assay {

class FastPath {
 public:
  // What one run is to compute. `visited` values are handed to on_value, `tapped` ones either to on_value or,
  // reduced to [n, channels], to on_matrix.
  struct Request {
    std::span<const ValueId> wanted, visited = {};
    std::span<const onednn::Tap> tapped = {};
    OnValue on_value = {};
    std::function<void(const onednn::Tap&, const Tensor&)> on_matrix = {};
  };

  FastPath(const Graph& graph, const Constants& constants, std::vector<ValueInfo> infos, int threads);

  // True when the run can be done here: `given` holds batches of the shapes found when probing and replaces
  // nothing that was taken to be constant, and every value asked for is still computed.
  bool can_run(const Tensors& given, const Request& request) const;

  // REQUIRES can_run(), and that no gradients are recorded.
  Tensors run(const Tensors& given, const Request& request) const;

 private:
  // Steps [begin, end) of a plan as one segment.
  struct Stretch {
    std::size_t begin = 0, end = 0;
    std::vector<onednn::Tap> taps;
    onednn::Segment segment;
  };
  struct FastPlan {
    Plan plan;
    std::vector<Stretch> stretches;  // in order
  };
  using Key = std::vector<std::vector<ValueId>>;

  const FastPlan& plan_for(const Tensors& given, const Request& request) const;
  FastPlan make_plan_for(const Tensors& given, const Request& request) const;
  Stretch make_stretch(const Plan& plan, std::size_t begin, std::size_t end, const Request& request) const;
  bool supported(int node) const;
  void run_stretch(const Stretch& stretch, std::vector<Tensor>& values, const Request& request) const;
  bool as_expected(ValueId id, const Tensor& tensor) const;

  Graph graph_;
  Constants constants_;
  std::vector<ValueInfo> infos_;
  std::vector<Shape>
      shapes_;  // of float32 values with the batch in front, for one record; empty for all others
  int threads_;
  std::size_t most_plans_;
  mutable std::map<Key, std::unique_ptr<const FastPlan>> plans_;
};

}  // namespace assay
