// Functions that fall up to one point and rise from there: x g(x) with a gate g that is never negative, never
// falls, and whose logarithm is concave below 0. Their derivative is g' (g / g' + x) below 0, where both g /
// g' and x rise, so it changes its sign once; above 0 both factors rise.

#include <algorithm>
#include <cmath>
#include <limits>

#include "assay/bounds/element_function.h"

namespace assay::bounds {

// What a register is as a function of x.
struct ElementFunction::Form {
  enum class Kind {
    other,
    constant,  // a
    line,      // a x + b
    square,    // a x^2
    cubic,     // a x + b x^3
    softplus,  // of p x, p > 0, alone
    odd,       // a S, where S rises from -1 to 1 and the logarithm of 1 + S is concave below 0
    gate,      // at most a
    valley     // x times such a gate
  };
  Kind kind = Kind::other;
  double a = 0, b = 0;
  double error = 0;  // of float32: of odd and gate, and of valley as a share of |x|

  bool is(Kind one) const { return kind == one; }
  bool passes_zero() const { return kind == Kind::cubic || (kind == Kind::line && b == 0); }
  // Rises everywhere, and bends down below 0.
  bool is_argument() const { return passes_zero() && a >= 0 && b >= 0 && a + b > 0; }
  // Rounding of one more product.
  Form times(double factor) const {
    const bool any_sign = kind <= Kind::cubic;
    if (kind == Kind::softplus || (!any_sign && factor <= 0)) return {};
    Form scaled = *this;
    scaled.a *= factor, scaled.b *= factor;
    scaled.error = scaled.error * factor + 4 * unit_roundoff * std::abs(scaled.a);
    return scaled;
  }
};

namespace {

// Of a function of a sum whose terms have one sign: a relative error of its operand, of at most 16 roundings,
// moves sigmoid, tanh and erf by less than half of it.
constexpr double error_of_gate = 2 * function_error;

}  // namespace

ElementFunction::Form ElementFunction::form_after(const Step& step,
                                                  const std::vector<Form>& registers) const {
  using Is = Form::Kind;
  using Kind = Step::Kind;
  const Form &a = registers[step.a], &b = registers[step.b];
  const auto sum = [&](const Form& one, const Form& other, double sign) -> Form {
    const double number = sign * other.a;
    if (!other.is(Is::constant)) {
      const bool both = one.passes_zero() && other.passes_zero() && sign > 0,
                 cancels = one.a * other.a < 0 || one.b * other.b < 0;
      if (!both || cancels || (one.is(Is::line) && other.is(Is::line))) return {};
      return {.kind = Is::cubic,
              .a = one.a + other.a,
              .b = (one.is(Is::cubic) ? one.b : 0) + (other.is(Is::cubic) ? other.b : 0)};
    }
    if (one.is(Is::constant)) return {.kind = Is::constant, .a = one.a + number};
    // One number added: of several, what rounding took from the first would be forgotten.
    if (one.is(Is::line) && one.b == 0) return {.kind = Is::line, .a = one.a, .b = number};
    if (one.is(Is::odd) && number == one.a)
      return {.kind = Is::gate, .a = 2 * one.a, .error = one.error + 4 * unit_roundoff * one.a};
    return {};
  };
  const auto product = [](const Form& one, const Form& other) -> Form {
    if (one.is(Is::constant)) return other.times(one.a);
    if (!one.is(Is::line) || one.b != 0) return {};
    if (other.is(Is::line) && other.b == 0) return {.kind = Is::square, .a = one.a * other.a};
    if (other.is(Is::square)) return {.kind = Is::cubic, .a = 0, .b = one.a * other.a};
    if (!other.is(Is::gate) || one.a <= 0) return {};
    return {.kind = Is::valley,
            .a = one.a * other.a,
            .error = one.a * (other.error + 8 * unit_roundoff * other.a)};
  };
  switch (step.kind) {
    case Kind::constant:
      return {.kind = Is::constant, .a = step.p};
    case Kind::add:
      return b.is(Is::constant) || !a.is(Is::constant) ? sum(a, b, 1) : sum(b, a, 1);
    case Kind::subtract:
      return sum(a, b, -1);
    case Kind::multiply: {
      const Form one = product(a, b);
      return one.is(Is::other) ? product(b, a) : one;
    }
    case Kind::square:
      return product(a, a);
    case Kind::cube:
      if (!a.is(Is::line) || a.b != 0) return {};
      return {.kind = Is::cubic, .a = 0, .b = a.a * a.a * a.a};
    case Kind::sigmoid:
      if (!a.is_argument()) return {};
      return {.kind = Is::gate, .a = 1, .error = error_of_gate};
    case Kind::tanh:
      if (a.is(Is::softplus)) return {.kind = Is::gate, .a = 1, .error = 1.5 * error_of_gate};
      [[fallthrough]];
    case Kind::erf:
      if (!a.is_argument()) return {};
      return {.kind = Is::odd, .a = 1, .error = error_of_gate};
    case Kind::softplus:
      if (!a.is(Is::line) || a.b != 0 || a.a <= 0) return {};
      return {.kind = Is::softplus};
    case Kind::hard_sigmoid:
      if (!a.is(Is::line) || a.a <= 0 || step.p <= 0) return {};
      return {.kind = Is::gate,
              .a = 1,
              .error = function_error * (1 + std::abs(step.q) + step.p * std::abs(a.b))};
    case Kind::clip:
      if (!a.is(Is::line) || a.a <= 0 || step.p != 0 || !(step.q > 0) || !std::isfinite(step.q)) return {};
      return {.kind = Is::gate, .a = step.q, .error = function_error * (step.q + std::abs(a.b))};
    default:
      return {};
  }
}

// The grid finds the valley beside places where the function is flat; what is left of it is halved by the
// golden section.
std::optional<double> ElementFunction::bottom() const {
  constexpr int finest = -20, coarsest = 20, parts = 16;
  const auto place = [](int i) { return -std::exp2(static_cast<double>(i) / parts); };
  int least = finest * parts;
  for (int i = least; i <= coarsest * parts; ++i)
    if (at(place(i)) < at(place(least))) least = i;
  // Beyond the grid, or nowhere below 0: not known.
  if (least == finest * parts || least == coarsest * parts) return std::nullopt;
  double left = place(least + 1), right = place(least - 1);
  const double golden = 0.5 * (std::sqrt(5.0) - 1);
  for (int i = 0; i < 100; ++i) {
    const double one = right - golden * (right - left), other = left + golden * (right - left);
    (at(one) < at(other) ? right : left) = at(one) < at(other) ? other : one;
  }
  return 0.5 * (left + right);
}

std::optional<ElementFunction::Valley> ElementFunction::valley() const {
  std::vector<Form> registers{{.kind = Form::Kind::line, .a = 1}};
  for (const Step& step : steps_) registers.push_back(form_after(step, registers));
  const Form& whole = registers.back();
  if (!whole.is(Form::Kind::valley)) return std::nullopt;
  const std::optional<double> where = bottom();
  if (!where) return std::nullopt;
  return Valley{.bottom = *where, .error = whole.error};
}

}  // namespace assay::bounds
