#pragma once

// Straight lines below and above a function over an interval.

#include <cmath>
#include <utility>

#include <assay/graph.h>

namespace assay::bounds {

struct Line {
  double slope = 0, intercept = 0;
};
struct Relaxation {
  Line below, above;
};

// Of a node with the rule of monotone, for operands in [low, high].
class MonotoneFunction {
 public:
  MonotoneFunction(const Graph& graph, const Node& node);

  Relaxation over(double low, double high) const;
  // How far a result in float32 can be from the function, beyond what the lines have.
  double rounding(double low) const { return 4 * 0x1p-24 * std::abs(negative_ * low); }
  // What the function gives at both ends, with its error.
  std::pair<double, double> ends(double low, double high) const;
  // Whether both lines are the function there, so that tighter bounds of the operand would not change them.
  bool is_exact(double low, double high) const;

 private:
  enum class Kind { rectifier, clip, sigmoid, tanh };
  double at(double x) const;
  double derivative(double x) const;

  Kind kind_;
  double negative_ = 0;          // slope of a rectifier below 0
  double least_ = 0, most_ = 0;  // of clip
};

}  // namespace assay::bounds
