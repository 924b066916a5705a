#pragma once

// Epsilon relevance as one program of a back end. With m = R / value the rule
//
//   R_i = x_i sum_j w_ij R_j / (z_j + epsilon sgn z_j)     becomes     m_i = sum_j w_ij m_j z_j / (z_j +
//   epsilon sgn z_j)
//
// which is the gradient with a factor at every linear layer's output (Ancona et al., ICLR 2018, proposition
// 1). Passing relevance on unchanged is the gradient if a function is linear on both sides of 0; other
// functions that are 0 at 0 pass m y / x. So forward pass, start and backward pass happen batch block by
// batch block, and nothing in between is stored.

#include <memory>
#include <span>
#include <vector>

#include <assay/relevance.h>
#include "assay/engine/backend.h"
#include "assay/relevance/start.h"

namespace assay::relevance {

class CompiledRelevance {
 public:
  // How a node on the way passes relevance.
  struct Passing {
    NodeId node = no_node;
    bool part_of_unit = false;  // of a linear unit, or its first node
    ValueId end = no_value;     // the unit's output, where its rule divides
    double epsilon = 0;         // of the unit, or for operators that share in proportion
  };

  // For relevance of `wanted`; `passed`: the nodes from there to the start, in order. nullptr where no
  // back end runs all of them, and where an operator passes relevance in another way.
  static std::unique_ptr<const CompiledRelevance> make(const Session& session, const Start& start,
                                                       ValueId wanted, std::span<const Passing> passed,
                                                       bool maxima_share);

  // The values that attribute() reads.
  std::span<const ValueId> reads() const { return segment_->inputs(); }
  // `values`: all of them, float32.
  Relevance attribute(const Tensors& values, const Target& target) const;

 private:
  CompiledRelevance(const Session& session, const Start& start, ValueId wanted)
      : session_(session), start_(start), wanted_(wanted) {}
  // Sets `gradients` of the explained elements to relevance over value, and returns the relevance put in.
  double put_in(std::span<const float> elements, const Target& target, std::size_t record,
                std::span<float> gradients) const;

  const Session& session_;
  Start start_;
  ValueId wanted_;
  std::unique_ptr<const Segment> segment_;
};

}  // namespace assay::relevance
