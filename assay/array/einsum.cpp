// Sums of products by labels of axes, and determinants.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "assay/array/loops.h"
#include "assay/array/tape.h"
#include "assay/support/ascii.h"

namespace assay::array {
namespace {

// Labels of axes: a letter by its code, axes of an ellipsis from here on in the order of the array.
constexpr int first_of_ellipsis = 256;
using Labels = std::vector<int>;

// One side of the equation, "ij" or "b...k", of so many axes that the ellipsis stands for.
struct Subscripts {
  Labels before, after;
  bool ellipsis = false;

  std::size_t letters() const { return before.size() + after.size(); }

  // The ellipsis takes the last `own` of `all` axes.
  Labels labels(std::size_t own, std::size_t all) const {
    Labels found = before;
    for (std::size_t i = all - own; ellipsis && i < all; ++i)
      found.push_back(first_of_ellipsis + static_cast<int>(i));
    found.insert(found.end(), after.begin(), after.end());
    return found;
  }
};

struct Equation {
  std::vector<Subscripts> operands;
  Subscripts result;
  bool has_result = false;
};

Subscripts parsed_subscripts(std::string_view text, std::string_view equation) {
  Subscripts found;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_letter(text[i])) {
      (found.ellipsis ? found.after : found.before).push_back(text[i]);
    } else if (text.substr(i, 3) == "..." && !found.ellipsis) {
      found.ellipsis = true;
      i += 2;
    } else {
      fail(Fault::model, "einsum '{}': '{}' is neither letters nor one ellipsis", equation, text);
    }
  }
  return found;
}

Equation parsed_equation(std::string_view equation) {
  std::string text(equation);
  std::erase(text, ' ');
  Equation found;
  const std::size_t arrow = text.find("->");
  found.has_result = arrow != std::string::npos;
  if (found.has_result) found.result = parsed_subscripts(std::string_view(text).substr(arrow + 2), equation);
  const std::string_view operands = std::string_view(text).substr(0, arrow);
  for (std::size_t begin = 0; begin <= operands.size();) {
    const std::size_t end = std::min(operands.find(',', begin), operands.size());
    found.operands.push_back(parsed_subscripts(operands.substr(begin, end - begin), equation));
    begin = end + 1;
  }
  return found;
}

// A label that an operand has twice becomes one axis along the diagonal.
Array diagonal_of_labels(const Array& array, const Labels& labels, Labels& kept, std::string_view equation) {
  kept.clear();
  std::vector<std::size_t> axes(labels.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    axes[i] = std::find(kept.begin(), kept.end(), labels[i]) - kept.begin();
    if (axes[i] == kept.size()) kept.push_back(labels[i]);
  }
  if (kept.size() == labels.size()) return array;
  const auto look = [axes, rank = kept.size()](const Array& whole) {
    Shape shape(rank), strides(rank, 0);
    for (std::size_t i = 0; i < axes.size(); ++i) {
      shape[axes[i]] = whole.shape()[i];
      strides[axes[i]] += whole.strides()[i];
    }
    return whole.viewed(std::move(shape), std::move(strides));
  };
  Array view = look(array);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (array.shape()[i] != view.shape()[axes[i]])
      fail(Fault::model, "einsum '{}': a label is repeated for axes of different sizes in shape {}", equation,
           to_string(array.shape()));
  }
  return recorded_map(std::move(view), array,
                      [look, shape = array.shape(), type = array.dtype()](const Array& g) {
                        Array whole = Array::zeros(type, shape);
                        look(whole).copy_(g);
                        return whole;
                      });
}

// All labels, those of the result first.
struct LabelOrder {
  Labels all;
  std::size_t of_result = 0;

  std::size_t position(int label) const { return std::find(all.begin(), all.end(), label) - all.begin(); }
};

// Without an arrow: axes of ellipses, then letters that occur once, in the order of their codes.
Labels implied_result(const std::vector<Labels>& operands, std::size_t ellipsis) {
  std::vector<int> appearances(first_of_ellipsis, 0);
  for (const Labels& labels : operands) {
    for (const int label : labels) {
      if (label < first_of_ellipsis) ++appearances[label];
    }
  }
  Labels found;
  for (std::size_t i = 0; i < ellipsis; ++i) found.push_back(first_of_ellipsis + static_cast<int>(i));
  for (int label = 0; label < first_of_ellipsis; ++label) {
    if (appearances[label] == 1) found.push_back(label);
  }
  return found;
}

LabelOrder ordered_labels(const Labels& result, const std::vector<Labels>& operands,
                          std::string_view equation) {
  LabelOrder order{result, result.size()};
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (order.position(result[i]) != i)
      fail(Fault::model, "einsum '{}': a label occurs twice in the result", equation);
    const bool known = std::any_of(operands.begin(), operands.end(), [&](const Labels& labels) {
      return std::find(labels.begin(), labels.end(), result[i]) != labels.end();
    });
    if (!known) fail(Fault::model, "einsum '{}': a label of the result is in no operand", equation);
  }
  for (const Labels& labels : operands) {
    for (const int label : labels) {
      if (order.position(label) == order.all.size()) order.all.push_back(label);
    }
  }
  return order;
}

// The operand with an axis for every label, of one element where it has none.
Array with_all_labels(const Array& array, const Labels& labels, const LabelOrder& order) {
  Shape axes, shape;
  for (const int label : order.all) {
    const auto found = std::find(labels.begin(), labels.end(), label);
    if (found != labels.end()) axes.push_back(found - labels.begin());
    shape.push_back(found == labels.end() ? 1 : array.size(axes.back()));
  }
  return array.permute(axes).reshape(std::move(shape));
}

Array summed_over(const Array& array, const Shape& axes) {
  return axes.empty() ? array : sum(array, axes, true).to(array.dtype());
}

std::int64_t size_of_axes(const Array& array, const Shape& axes) {
  std::int64_t size = 1;
  for (const std::int64_t axis : axes) size *= array.size(axis);
  return size;
}

Shape joined_axes(std::initializer_list<Shape> parts) {
  Shape all;
  for (const Shape& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

// Axes of two operands by what becomes of them.
struct Roles {
  Shape batch, left, right, both;
};

// left[batch, left, both] right[batch, both, right] with axes back in their order.
Array contracted(const Array& left, const Array& right, const Roles& roles) {
  const std::int64_t batch = size_of_axes(left, roles.batch), both = size_of_axes(left, roles.both);
  const std::int64_t rows = size_of_axes(left, roles.left), columns = size_of_axes(right, roles.right);
  const Array x = left.permute(joined_axes({roles.batch, roles.left, roles.both, roles.right}))
                      .reshape({batch, rows, both});
  const Array y = right.permute(joined_axes({roles.batch, roles.both, roles.right, roles.left}))
                      .reshape({batch, both, columns});
  const Shape order = joined_axes({roles.batch, roles.left, roles.right, roles.both});
  Shape shape, back(order.size());
  for (const std::int64_t axis : roles.batch) shape.push_back(left.size(axis));
  for (const std::int64_t axis : roles.left) shape.push_back(left.size(axis));
  for (const std::int64_t axis : roles.right) shape.push_back(right.size(axis));
  shape.resize(order.size(), 1);
  for (std::size_t i = 0; i < order.size(); ++i) back[order[i]] = i;
  return bmm(x, y).reshape(std::move(shape)).permute(back);
}

// The product of both, summed over axes that are marked, which stay with one element.
Array summed_product(const Array& a, const Array& b, const std::vector<bool>& summed) {
  Roles roles;
  Shape only_left, only_right;
  for (std::int64_t axis = 0; axis < a.rank(); ++axis) {
    const bool left = a.size(axis) != 1, right = b.size(axis) != 1;
    const bool sums = summed[axis];
    if (left && right) {
      (sums ? roles.both : roles.batch).push_back(axis);
    } else if (left != right && !sums) {
      (left ? roles.left : roles.right).push_back(axis);
    } else {
      if (left) only_left.push_back(axis);
      if (right) only_right.push_back(axis);
      roles.batch.push_back(axis);  // of one element by now
    }
  }
  const Array left = summed_over(a, only_left), right = summed_over(b, only_right);
  return roles.both.empty() ? left * right : contracted(left, right, roles);
}

void require_sizes_to_meet(const Arrays& operands, const LabelOrder& order, std::string_view equation) {
  for (std::size_t i = 0; i < order.all.size(); ++i) {
    std::int64_t size = 1;
    for (const Array& operand : operands) {
      const std::int64_t own = operand.shape()[i];
      if (own != 1 && size != 1 && own != size)
        fail(Fault::model, "einsum '{}': one label is used for axes of {} and of {} elements", equation, size,
             own);
      if (own != 1) size = own;
    }
  }
}

// How many axes the ellipsis of an operand stands for.
std::size_t axes_of_ellipsis(const Subscripts& subscripts, const Array& operand, std::string_view equation) {
  const std::size_t rank = operand.shape().size(), letters = subscripts.letters();
  if (letters > rank || (letters < rank && !subscripts.ellipsis))
    fail(Fault::model, "einsum '{}': {} labels for an operand of shape {}", equation, letters,
         to_string(operand.shape()));
  return rank - letters;
}

Array einsum_by(const Equation& parsed, std::span<const Array> operands, std::string_view equation) {
  const std::size_t count = operands.size();
  std::size_t ellipsis = 0;
  for (std::size_t i = 0; i < count; ++i)
    ellipsis = std::max(ellipsis, axes_of_ellipsis(parsed.operands[i], operands[i], equation));
  std::vector<Labels> all(count), distinct(count);
  Arrays parts;
  for (std::size_t i = 0; i < count; ++i) {
    all[i] = parsed.operands[i].labels(axes_of_ellipsis(parsed.operands[i], operands[i], equation), ellipsis);
    parts.push_back(diagonal_of_labels(operands[i], all[i], distinct[i], equation));
  }
  const Labels result =
      parsed.has_result ? parsed.result.labels(ellipsis, ellipsis) : implied_result(all, ellipsis);
  const LabelOrder order = ordered_labels(result, distinct, equation);
  for (std::size_t i = 0; i < count; ++i) parts[i] = with_all_labels(parts[i], distinct[i], order);
  require_sizes_to_meet(parts, order, equation);

  // A label that is not of the result is summed with the last operand that has it.
  std::vector<std::size_t> last(order.all.size(), 0);
  for (std::size_t i = 0; i < count; ++i) {
    for (const int label : distinct[i]) last[order.position(label)] = i;
  }
  Array product = parts[0];
  for (std::size_t i = 1; i < count; ++i) {
    std::vector<bool> summed(order.all.size());
    for (std::size_t axis = order.of_result; axis < summed.size(); ++axis) summed[axis] = last[axis] <= i;
    product = summed_product(product, parts[i], summed);
  }
  Shape rest(order.all.size() - order.of_result);
  std::iota(rest.begin(), rest.end(), static_cast<std::int64_t>(order.of_result));
  if (count == 1) product = summed_over(product, rest);
  return product.reshape(Shape(product.shape().begin(), product.shape().begin() + order.of_result));
}

// Factors of a matrix with its rows exchanged, in place; the determinant. `order`: which row came where.
double factorise(std::vector<double>& a, std::size_t n, std::vector<std::size_t>& order) {
  double product = 1;
  order.resize(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t pivot = i;
    for (std::size_t r = i + 1; r < n; ++r) {
      if (std::abs(a[r * n + i]) > std::abs(a[pivot * n + i])) pivot = r;
    }
    if (pivot != i) {
      std::swap_ranges(a.begin() + (i * n), a.begin() + (i * n + n), a.begin() + (pivot * n));
      std::swap(order[i], order[pivot]);
      product = -product;
    }
    const double diagonal = a[i * n + i];
    product *= diagonal;
    if (diagonal == 0) return std::isnan(product) ? product : 0;
    for (std::size_t r = i + 1; r < n; ++r) {
      const double factor = a[r * n + i] /= diagonal;
      for (std::size_t c = i + 1; c < n; ++c) a[r * n + c] -= factor * a[i * n + c];
    }
  }
  return product;
}

double determinant(std::vector<double> a, std::size_t n) {
  std::vector<std::size_t> order;
  return factorise(a, n, order);
}

// Of a matrix that may have no inverse: each cofactor as a determinant.
std::vector<double> cofactors_by_minors(const std::vector<double>& a, std::size_t n) {
  std::vector<double> found(n * n);
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t c = 0; c < n; ++c) {
      std::vector<double> minor;
      for (std::size_t i = 0; i < n * n; ++i) {
        if (i / n != r && i % n != c) minor.push_back(a[i]);
      }
      found[r * n + c] = ((r + c) % 2 == 0 ? 1 : -1) * determinant(std::move(minor), n - 1);
    }
  }
  return found;
}

// Derivatives of the determinant by each element: the determinant times the inverse, transposed.
std::vector<double> cofactors(const std::vector<double>& a, std::size_t n) {
  std::vector<double> factors = a;
  std::vector<std::size_t> order;
  const double product = factorise(factors, n, order);
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (std::size_t i = 0; i < n; ++i) {
    least = std::min(least, std::abs(factors[i * n + i]));
    most = std::max(most, std::abs(factors[i * n + i]));
  }
  constexpr double nearly_singular = 1e-9;
  if (product == 0 || least < nearly_singular * most) return cofactors_by_minors(a, n);
  std::vector<double> found(n * n), x(n);
  for (std::size_t r = 0; r < n; ++r) {  // column order[r] of the inverse
    for (std::size_t i = 0; i < n; ++i) {
      x[i] = i == r ? product : 0;
      for (std::size_t j = 0; j < i; ++j) x[i] -= factors[i * n + j] * x[j];
    }
    for (std::size_t i = n; i-- > 0;) {
      for (std::size_t j = i + 1; j < n; ++j) x[i] -= factors[i * n + j] * x[j];
      x[i] /= factors[i * n + i];
    }
    std::copy(x.begin(), x.end(), found.begin() + (order[r] * n));
  }
  return found;
}

// visit(position, matrix as double) for every matrix of a contiguous array.
template <typename T, typename Visit>
void each_square(const Array& a, const Visit& visit) {
  const std::size_t n = a.size(-1);
  const std::int64_t count = element_count(Shape(a.shape().begin(), a.shape().end() - 2));
  const std::size_t grain = 1 + 4096 / (n * n * n + 1);
  split_loop(count, grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const T* const from = elements<T>(a) + i * n * n;
      visit(i, std::vector<double>(from, from + n * n));
    }
  });
}

Array gradient_of_det(const Array& a, const Array& gradient) {
  Array out = Array::uninitialised(a.dtype(), a.shape());
  const Array each = gradient.contiguous();
  const std::size_t n = a.size(-1);
  with_real(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    each_square<T>(a, [&](std::size_t i, const std::vector<double>& matrix) {
      const double factor = elements<T>(each)[i];
      const std::vector<double> steep = cofactors(matrix, n);
      T* const to = elements<T>(out) + i * n * n;
      for (std::size_t j = 0; j < n * n; ++j) to[j] = static_cast<T>(factor * steep[j]);
    });
  });
  return out;
}

}  // namespace

Array einsum(std::string_view equation, std::span<const Array> operands) {
  const Equation parsed = parsed_equation(equation);
  if (operands.empty() || parsed.operands.size() != operands.size())
    fail(Fault::model, "einsum '{}' was given {} operands, but describes {}", equation, operands.size(),
         parsed.operands.size());
  const DType type = operands[0].dtype();
  const auto other = [&](const Array& operand) { return operand.dtype() != type; };
  if (!is_narrow(type) || std::ranges::any_of(operands, other)) return einsum_by(parsed, operands, equation);
  Arrays wide;
  for (const Array& operand : operands) wide.push_back(widened(operand));
  return einsum_by(parsed, wide, equation).to(type);
}

Array det(const Array& a) {
  if (a.rank() < 2 || a.size(-1) != a.size(-2))
    fail(Fault::model, "the determinant of shape {}: the last two axes must be equal", to_string(a.shape()));
  if (is_short(a.dtype())) return computed_wide(a, [](const Array& wide) { return det(wide); });
  const Array whole = a.detach().contiguous();
  Array out = Array::uninitialised(a.dtype(), Shape(a.shape().begin(), a.shape().end() - 2));
  with_real(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const std::size_t n = a.size(-1);
    each_square<T>(whole, [&](std::size_t i, std::vector<double> matrix) {
      elements<T>(out)[i] = static_cast<T>(determinant(std::move(matrix), n));
    });
  });
  return recorded_map(std::move(out), a,
                      [whole](const Array& gradient) { return gradient_of_det(whole, gradient); });
}

}  // namespace assay::array
