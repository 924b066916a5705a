// In place of the back end where Assay is built without oneDNN: it supports no operator.

#include <assay/error.h>
#include "assay/engine/onednn/segment.h"

namespace assay::onednn {

bool supports(const Graph&, const Node&, const ShapeOf&) { return false; }

Segment::Segment(const Graph&, std::span<const int>, const ShapeOf&, std::span<const ValueId>,
                 std::span<const Tap>, int) {
  fail(Fault::internal, "a segment of nodes is asked for, but Assay is built without oneDNN");
}

Segment::~Segment() = default;
Segment::Segment(Segment&&) noexcept = default;

std::span<const ValueId> Segment::inputs() const { return {}; }
std::span<const ValueId> Segment::outputs() const { return {}; }
void Segment::run(const Tensors&, Tensors&, std::span<float* const>) const {}

}  // namespace assay::onednn
