#include "assay/bounds/relaxation.h"

#include <algorithm>
#include <cmath>

#include <assay/extend/operator_traits.h>
#include "assay/bounds/static_network.h"

namespace assay::bounds {
namespace {

Relaxation one_line(Line line) { return {line, line}; }

}  // namespace

MonotoneFunction::MonotoneFunction(const Graph& graph, const Node& node)
    : kind_(node.op == "Sigmoid" ? Kind::sigmoid
            : node.op == "Tanh"  ? Kind::tanh
            : node.op == "Clip"  ? Kind::clip
                                 : Kind::rectifier) {
  if (node.op == "LeakyRelu") negative_ = node.real("alpha", 0.01F);
  if (kind_ != Kind::clip) return;
  const ValueRange range = range_of(graph, node);
  least_ = range.low;
  most_ = range.high;
}

double MonotoneFunction::at(double x) const {
  switch (kind_) {
    case Kind::rectifier:
      return x > 0 ? x : negative_ * x;
    case Kind::clip:
      return std::clamp(x, least_, most_);
    case Kind::sigmoid:
      return 1 / (1 + std::exp(-x));
    case Kind::tanh:
      return std::tanh(x);
  }
  return 0;
}

double MonotoneFunction::derivative(double x) const {
  const double y = at(x);
  return kind_ == Kind::sigmoid ? y * (1 - y) : 1 - y * y;
}

std::pair<double, double> MonotoneFunction::ends(double low, double high) const {
  const double error = kind_ == Kind::sigmoid || kind_ == Kind::tanh ? function_error : rounding(low);
  return {at(low) - error, at(high) + error};
}

bool MonotoneFunction::is_exact(double low, double high) const {
  if (kind_ == Kind::rectifier) return low >= 0 || high <= 0;
  if (kind_ == Kind::clip) return (low >= least_ && high <= most_) || high <= least_ || low >= most_;
  return false;
}

// A rectifier between its chord and whichever of its two lines leaves less area (Zhang et al., CROWN, NeurIPS
// 2018). Of f with the slope s = min f' over the interval, f(x) - s x never falls, so that the lines with
// this slope through both ends bound it; f' of sigmoid and tanh is least at an end.
Relaxation MonotoneFunction::over(double low, double high) const {
  if (kind_ == Kind::rectifier) {
    if (low >= 0) return one_line({1, 0});
    if (high <= 0) return one_line({negative_, 0});
    const double chord = (high - negative_ * low) / (high - low);
    return {{high > -low ? 1.0 : negative_, 0}, {chord, high - chord * high}};
  }
  if (kind_ == Kind::clip && is_exact(low, high))
    return low >= least_ && high <= most_ ? one_line({1, 0}) : one_line({0, at(low)});
  if (kind_ == Kind::clip) {
    // Where only one bend is inside, it is a rectifier, moved and maybe upside down.
    const double rise = (at(high) - at(low)) / (high - low);
    const Line chord{rise, at(low) - rise * low};
    const bool bends_up = low < least_ && high <= most_, bends_down = low >= least_ && high > most_;
    if (bends_up) return {high - least_ > least_ - low ? Line{1, 0} : Line{0, least_}, chord};
    if (bends_down) return {chord, high - most_ > most_ - low ? Line{0, most_} : Line{1, 0}};
    return {{0, at(low)}, {0, at(high)}};
  }
  const double slope = std::min(derivative(low), derivative(high));
  return {{slope, at(low) - slope * low - function_error}, {slope, at(high) - slope * high + function_error}};
}

}  // namespace assay::bounds
