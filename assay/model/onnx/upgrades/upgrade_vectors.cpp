// Support vectors of ai.onnx.ml: how near a record is to each of them, then what they say as a matrix
// product.

#include <algorithm>
#include <map>
#include <numeric>
#include <string>

#include <assay/error.h>
#include "assay/model/onnx/upgrades/columns.h"

namespace assay::onnx_format {
namespace {

using VectorFloats = std::vector<float>;

struct Vectors {
  std::int64_t count = 0, columns = 0;
  VectorFloats elements = {};  // [count, columns]

  Array times(float factor) const {
    VectorFloats scaled = elements;
    for (float& element : scaled) element *= factor;
    return Array::of<float>({count, columns}, scaled);
  }
  // Moves all by their mean, which it returns: [columns].
  Array centre() {
    std::vector<double> sums(columns);
    for (std::size_t i = 0; i < elements.size(); ++i) sums[i % sums.size()] += elements[i];
    VectorFloats mean(sums.size());
    std::ranges::transform(sums, mean.begin(), [&](double sum) { return static_cast<float>(sum / count); });
    for (std::size_t i = 0; i < elements.size(); ++i) elements[i] -= mean[i % mean.size()];
    return Array::of<float>({columns}, mean);
  }
  // |s|^2 of each, times `factor`.
  Array squares(float factor) const {
    VectorFloats all(count);
    for (std::size_t v = 0; v < all.size(); ++v) {
      const auto row = std::span(elements).subspan(v * static_cast<std::size_t>(columns), columns);
      all[v] = factor * std::inner_product(row.begin(), row.end(), row.begin(), 0.0F);
    }
    return Array::of<float>({count}, all);
  }
};

Vectors vectors_of(const Upgrade& u, std::int64_t count) {
  Vectors vectors{.count = count, .elements = u.node.reals("support_vectors", {})};
  if (count < 1 || vectors.elements.empty() || std::ssize(vectors.elements) % count != 0)
    fail(Fault::model, "{}: {} numbers do not make {} support vectors", u.node.describe(),
         vectors.elements.size(), count);
  vectors.columns = std::ssize(vectors.elements) / count;
  return vectors;
}

ValueId product_with_rows(Upgrade& u, const char* role, ValueId x, const Array& rows, const Array& sums) {
  const std::string name(role);
  return u.before(role, "Gemm", {x, u.constant(name + "_rows", rows), u.constant(name + "_sums", sums)},
                  {{"transB", std::int64_t{1}}});
}

Array repeated(std::int64_t count, float value) {
  return Array::of<float>({count}, VectorFloats(count, value));
}

// exp(-gamma |x - s|^2), as exp(2 gamma x s - gamma |s|^2 - gamma |x|^2). Both are moved by the mean of the
// vectors, since the difference of great squares would be lost in rounding.
ValueId radial(Upgrade& u, ValueId x, Vectors vectors, float gamma) {
  x = u.before("centred", "Sub", {x, u.constant("centre", vectors.centre())});
  const ValueId products =
      product_with_rows(u, "vectors", x, vectors.times(2 * gamma), vectors.squares(-gamma));
  const ValueId squares = u.before("squares", "Mul", {x, x});
  const ValueId length = u.before("length", "ReduceSum", {squares, u.integers("columns", {-1})},
                                  {{"keepdims", std::int64_t{1}}});
  const ValueId scaled = u.before("scaled_length", "Mul", {length, u.real("gamma", gamma)});
  return u.before("kernel", "Exp", {u.before("exponent", "Sub", {products, scaled})});
}

// [N, vectors].
ValueId kernels(Upgrade& u, ValueId x, const Vectors& vectors) {
  const auto columns = u.graph.dimension(u.node.inputs[0], 1);
  if (columns && *columns != vectors.columns)
    fail(Fault::model, "{}: records have {} columns, and support vectors {}", u.node.describe(), *columns,
         vectors.columns);
  const std::string kind = u.node.text("kernel_type", "LINEAR");
  VectorFloats parameters = u.node.reals("kernel_params", {});
  if (kind != "LINEAR" && parameters.size() != 3)
    fail(Fault::model, "{}: 'kernel_params' has {} numbers, not gamma, coef0 and degree", u.node.describe(),
         parameters.size());
  parameters.resize(3);
  const float gamma = parameters[0], first = parameters[1], degree = parameters[2];
  if (kind == "RBF") return radial(u, x, vectors, gamma);
  const bool plain = kind == "LINEAR";
  const ValueId products = product_with_rows(u, "vectors", x, vectors.times(plain ? 1 : gamma),
                                             repeated(vectors.count, plain ? 0 : first));
  if (plain) return products;
  if (kind == "POLY") return u.before("kernel", "Pow", {products, u.real("degree", degree)});
  if (kind == "SIGMOID") return u.before("kernel", "Tanh", {products});
  fail(Fault::model, "{}: there is no kernel '{}'", u.node.describe(), kind);
}

VectorFloats required_list(const Upgrade& u, const char* attribute, std::int64_t count) {
  VectorFloats values = u.node.reals(attribute, {});
  if (std::ssize(values) != count)
    fail(Fault::model, "{}: '{}' has {} numbers, not {}", u.node.describe(), attribute, values.size(), count);
  return values;
}

VectorFloats offsets(const Upgrade& u) {
  VectorFloats values = u.node.reals("rho", {});
  if (values.empty()) fail(Fault::model, "{}: attribute 'rho' is missing", u.node.describe());
  return values;
}

// Pairs of classes, each with the numbers that a vector has for it: those of a class are compared with every
// other class.
class Pairs {
 public:
  Pairs(const Upgrade& u, std::vector<std::int64_t> per_class)
      : per_class_(std::move(per_class)), classes_(std::ssize(per_class_)) {
    constexpr std::int64_t most = std::int64_t{1} << 31;  // as files hold at most; sums stay numbers
    for (const std::int64_t one : per_class_) {
      if (classes_ < 2 || one < 0)
        fail(Fault::model, "{}: 'vectors_per_class' is not of two classes or more", u.node.describe());
      if (one > most - vectors_)
        fail(Fault::model, "{}: 'vectors_per_class' has more vectors than a file holds", u.node.describe());
      vectors_ += one;
    }
    coefficients_ = required_list(u, "coefficients", (classes_ - 1) * vectors_);
    offsets_ = required_list(u, "rho", count());
  }

  std::int64_t classes() const { return classes_; }
  std::int64_t vectors() const { return vectors_; }
  std::int64_t count() const { return classes_ * (classes_ - 1) / 2; }

  // [N, pairs]: above 0 for the first class of a pair.
  ValueId compared(Upgrade& u, ValueId kernel) const {
    VectorFloats rows(count() * vectors_);
    for_each([&](std::int64_t pair, std::int64_t first, std::int64_t second) {
      copy_row(rows, pair, first, second - 1);
      copy_row(rows, pair, second, first);
    });
    return product_with_rows(u, "pairs", kernel, Array::of<float>({count(), vectors_}, rows),
                             Array::of<float>({count()}, offsets_));
  }

  // [N, classes]: how many pairs each class wins.
  ValueId votes(Upgrade& u, ValueId compared) const {
    VectorFloats rows(classes_ * count()), lost(classes_);
    for_each([&](std::int64_t pair, std::int64_t first, std::int64_t second) {
      rows[first * count() + pair] = 1;
      rows[second * count() + pair] = -1;
      ++lost[second];
    });
    const ValueId won = u.before("won", "Cast", {u.before("above", "Greater", {compared, u.real("tie", 0)})},
                                 {{"to", std::int64_t{1}}});
    return product_with_rows(u, "votes", won, Array::of<float>({classes_, count()}, rows),
                             Array::of<float>({classes_}, lost));
  }

 private:
  template <typename Visit>
  void for_each(const Visit& visit) const {
    std::int64_t pair = 0;
    for (std::int64_t first = 0; first < classes_; ++first) {
      for (std::int64_t second = first + 1; second < classes_; ++second) visit(pair++, first, second);
    }
  }

  // The numbers that the vectors of a class have in a row of the coefficients.
  void copy_row(VectorFloats& rows, std::int64_t pair, std::int64_t of_class, std::int64_t row) const {
    const std::int64_t begin =
        std::accumulate(per_class_.begin(), per_class_.begin() + of_class, std::int64_t{0});
    std::copy_n(coefficients_.begin() + row * vectors_ + begin, per_class_[of_class],
                rows.begin() + pair * vectors_ + begin);
  }

  std::vector<std::int64_t> per_class_;
  std::int64_t classes_ = 0, vectors_ = 0;
  VectorFloats coefficients_, offsets_;
};

// Platt's probability of the first of two classes, and the rest: [N, 2].
ValueId probabilities(Upgrade& u, ValueId compared) {
  const float a = required_list(u, "prob_a", 1)[0], b = required_list(u, "prob_b", 1)[0];
  const ValueId steep = u.before("steep", "Mul", {compared, u.real("prob_a", -a)});
  const ValueId share =
      u.before("share", "Sigmoid", {u.before("moved", "Sub", {steep, u.real("prob_b", b)})});
  const ValueId rest = u.before("rest", "Sub", {u.real("one", 1), share});
  return u.before("shares", "Concat", {share, rest}, {{"axis", std::int64_t{1}}});
}

// Scores of pairs. Of two classes runtimes give two, the first of which is that of the second class.
void score_pairs(Upgrade& u, const Pairs& pairs, ValueId compared, const std::string& transform) {
  if (pairs.classes() > 2) return become_transform(u, compared, transform);
  const bool shares = transform == "SOFTMAX";
  become_transform(u, both_columns(u, compared, shares), shares ? "NONE" : transform);
}

// [N], of two scores that a row of coefficients each makes. ONNX Runtime, for which such files are made,
// names the second class wherever the greatest score is sure, whosever it is: above 0, or where no
// coefficient is negative from a half on.
void forward_sure_class(Upgrade& u, ValueId scores, const std::vector<std::int64_t>& labels, bool positive) {
  const std::map<std::string, Attribute> flat{{"keepdims", std::int64_t{0}}};
  const std::map<std::string, Attribute> along{{"axis", std::int64_t{1}}, {"keepdims", std::int64_t{0}}};
  const ValueId most = u.before("most", "ReduceMax", {scores, u.integers("classes_axis", {1})}, flat);
  const ValueId sure = positive ? u.before("sure", "GreaterOrEqual", {most, u.real("half", 0.5F)})
                                : u.before("sure", "Greater", {most, u.real("border", 0)});
  const ValueId position = u.before("greatest", "ArgMax", {scores}, along);
  const ValueId named = u.before("named", "Gather", {u.integers("labels", labels), position});
  u.forward(0, u.before("label", "Where", {sure, u.integer("second_label", labels[1]), named}));
}

// Without vectors: a row of coefficients for each class.
void classify_linearly(Upgrade& u, ValueId x, const std::vector<std::int64_t>& labels, std::int64_t classes) {
  const VectorFloats coefficients = u.node.reals("coefficients", {});
  if (classes < 2 || coefficients.empty() || std::ssize(coefficients) % classes != 0)
    fail(Fault::model, "{}: {} coefficients for {} classes", u.node.describe(), coefficients.size(), classes);
  const ValueId scores = product_with_rows(
      u, "linear", x, Array::of<float>({classes, std::ssize(coefficients) / classes}, coefficients),
      repeated(classes, offsets(u)[0]));
  const bool named = u.node.outputs.size() == 2 && u.node.outputs[0] != no_value;
  if (named && labels.size() == 2) {
    forward_sure_class(u, scores, labels, std::ranges::all_of(coefficients, [](float c) { return c >= 0; }));
    u.node.outputs.erase(u.node.outputs.begin());
  } else {
    forward_class(u, scores, classes, labels, 0);
  }
  become_transform(u, scores, u.node.text("post_transform", "NONE"));
}

}  // namespace

void vector_regressor(Upgrade& u) {
  const ValueId x = real_input(u, 0);
  const std::int64_t count = u.node.integer("n_supports", 0);
  VectorFloats coefficients = u.node.reals("coefficients", {});
  const ValueId near = count > 0 ? kernels(u, x, vectors_of(u, count)) : x;
  if (coefficients.empty() || (count > 0 && std::ssize(coefficients) != count))
    fail(Fault::model, "{}: {} coefficients for {} support vectors", u.node.describe(), coefficients.size(),
         count);
  const ValueId sum =
      product_with_rows(u, "sum", near, Array::of<float>({1, std::ssize(coefficients)}, coefficients),
                        Array::of<float>({1}, {offsets(u)[0]}));
  if (u.node.integer("one_class", 0) == 0) return become(u, "Identity", {sum});
  const ValueId inside = u.before("inside", "Greater", {sum, u.real("border", 0)});
  become(u, "Where", {inside, u.real("known", 1), u.real("novel", -1)});
}

void vector_classifier(Upgrade& u) {
  const ValueId x = real_input(u, 0);
  const auto labels = u.node.integers("classlabels_ints", {});
  const auto per_class = u.node.integers("vectors_per_class", {});
  if (per_class.empty())
    return classify_linearly(u, x, labels, std::max(std::ssize(labels), u.node.integer("texts", 0)));
  const Pairs pairs(u, per_class);
  const std::string transform = u.node.text("post_transform", "NONE");
  const ValueId compared = pairs.compared(u, kernels(u, x, vectors_of(u, pairs.vectors())));
  if (!u.node.has("prob_a")) {
    forward_class(u, pairs.votes(u, compared), pairs.classes(), labels, 0);
    return score_pairs(u, pairs, compared, transform);
  }
  if (pairs.classes() > 2)
    fail(Fault::unsupported,
         "{}: probabilities of {} classes, which are found for each record by iteration, are not supported; "
         "export it without them (scikit-learn: probability=False)",
         u.node.describe(), pairs.classes());
  const ValueId shares = probabilities(u, compared);
  forward_class(u, shares, 2, labels, 0);
  become_transform(u, shares, transform);
}

}  // namespace assay::onnx_format
