#pragma once

// Functions of one real number that consist of several operators, such as x sigmoid(x), between straight
// lines. What holds of an interval is found by dividing it: of each part, from the function at its middle and
// all that its derivative can be.

#include <optional>
#include <vector>

#include "assay/bounds/relaxation.h"
#include "assay/bounds/static_network.h"

namespace assay::bounds {

class ElementFunction final : public UnaryFunction {
 public:
  // What the nodes, in order of computation, make of each element of `root`. Nothing if one of them is not a
  // function of a number, or has constants that are different for each element.
  static std::optional<ElementFunction> of(const Graph& graph, ValueId root,
                                           std::span<const Node* const> nodes);

  Relaxation over(double low, double high) const override;
  std::pair<double, double> ends(double low, double high) const override;
  bool is_exact(double low, double high) const override { return low == high; }

  // Of x sigmoid(x), GELU and their like: falls up to the bottom and rises from there.
  struct Valley {
    double bottom = 0;  // where it is least
    double error = 0;   // float32 is at most this times |x| wrong
  };
  std::optional<Valley> valley() const;

 private:
  // What an operator makes of registers; register 0 is x.
  struct Step {
    enum class Kind {
      constant,
      add,
      subtract,
      multiply,
      sigmoid,
      tanh,
      erf,
      softplus,
      hard_sigmoid,
      rectifier,
      elu,
      clip,
      square,
      cube,
      root,
      reciprocal,
      more,   // whether a > b
      choice  // a where c is true, b where it is not
    };
    Kind kind;
    std::size_t a = 0, b = 0, c = 0;
    double p = 0, q = 0;  // numbers of the operator
  };
  // What a register is over an interval, what its derivative is there, and how far float32 can be from it.
  struct Range {
    double low = 0, high = 0, least_slope = 0, most_slope = 0, error = 0;
  };

  static std::optional<Step> step_of(const Graph& graph, const Node& node);
  static void set_operands(Step& step, const Node& node, const std::vector<std::size_t>& from);
  static Range chosen(const Range& truth, const Range& one, const Range& other);
  Range range_after(const Step& step, const std::vector<Range>& registers) const;
  Range over_all(double low, double high) const;
  // Bounds of f(x) - slope x.
  std::pair<double, double> beyond(double slope, double low, double high) const;

  double at(double x) const { return over_all(x, x).low; }
  // Where it is least, if it falls up to there and rises from there.
  std::optional<double> bottom() const;

  std::vector<Step> steps_;
  // What registers are as functions of x (valley.cpp).
  struct Form;
  Form form_after(const Step& step, const std::vector<Form>& registers) const;
};

}  // namespace assay::bounds
