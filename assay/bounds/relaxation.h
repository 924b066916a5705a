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

// A function of each element alone, for operands in [low, high].
class UnaryFunction {
 public:
  virtual ~UnaryFunction() = default;
  virtual Relaxation over(double low, double high) const = 0;
  // How far a result in float32 can be from the function, beyond what the lines have.
  virtual double rounding(double /*low*/) const { return 0; }
  // The least and the greatest that it gives, with its error.
  virtual std::pair<double, double> ends(double low, double high) const = 0;
  // Whether both lines are the function there, so that tighter bounds of the operand would not change them.
  virtual bool is_exact(double low, double high) const = 0;
};

// Of a node with the rule of monotone.
class MonotoneFunction final : public UnaryFunction {
 public:
  MonotoneFunction(const Graph& graph, const Node& node);

  Relaxation over(double low, double high) const override;
  double rounding(double low) const override { return 4 * 0x1p-24 * std::abs(negative_ * low); }
  std::pair<double, double> ends(double low, double high) const override;
  bool is_exact(double low, double high) const override;

 private:
  enum class Kind { rectifier, clip, sigmoid, tanh };
  double at(double x) const;
  double derivative(double x) const;

  Kind kind_;
  double negative_ = 0;          // slope of a rectifier below 0
  double least_ = 0, most_ = 0;  // of clip
};

}  // namespace assay::bounds
