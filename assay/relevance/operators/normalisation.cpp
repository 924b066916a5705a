// Normalisations by statistics of the record itself. The deviation counts as a constant factor; taking away
// the mean is linear and shares by the z-rule (Ali et al., ICML 2022): y = C x s + b with C = I - 1/n over
// the normalised elements.

#include <assay/array_math.h>

#include <assay/extend/rule.h>
#include "assay/relevance/operators/families.h"

namespace assay::relevance::passing {
namespace {

using Ints = std::vector<std::int64_t>;

// `x` normalised over `axes`; scale and bias broadcast over x, undefined where there are none.
Array centred(const Passage& p, const Array& x, const Array& y, const Array& relevance, const Ints& axes,
              const Array& scale, const Array& bias, double added) {
  const Array z = !p.bias_absorbs && bias.defined() ? y - bias : y;
  const Array deviation = array::sqrt(array::var(x, axes, true) + added);
  Array share = share_of(relevance, z, p.epsilon) / deviation;
  if (scale.defined()) share = share * scale;
  return x * (share - share.mean(axes, /*keepdim=*/true));
}

// Axes first..rank-1.
Ints axes_from(std::int64_t first, std::int64_t rank) {
  Ints axes;
  for (std::int64_t a = first; a < rank; ++a) axes.push_back(a);
  return axes;
}

// [n, c, ...] by groups of channels.
Relevances grouped(const Passage& p, std::int64_t groups) {
  const Array& x = p.input(0);
  Ints split{x.size(0), groups, x.size(1) / groups}, per_channel{1, groups, x.size(1) / groups};
  for (std::int64_t a = 2; a < x.rank(); ++a) split.push_back(x.size(a)), per_channel.push_back(1);
  const auto by_group = [&](const Array& t) { return t.reshape(split); };
  const Array result = centred(p, by_group(x), by_group(p.outputs[0]), by_group(p.arriving()),
                               axes_from(2, std::ssize(split)), p.input(1).reshape(per_channel),
                               p.input(2).reshape(per_channel), p.node.real("epsilon", 1e-5f));
  return {result.reshape(x.shape())};
}

}  // namespace

Relevances layer_normalisation(const Passage& p) {
  const Array& x = p.input(0);
  std::int64_t axis = p.node.integer("axis", -1);
  if (axis < 0) axis += x.rank();
  return {centred(p, x, p.outputs[0], p.arriving(), axes_from(axis, x.rank()), p.input(1),
                  p.has(2) ? p.input(2) : Array(), p.node.real("epsilon", 1e-5f))};
}

Relevances instance_normalisation(const Passage& p) { return grouped(p, p.input(0).size(1)); }
Relevances group_normalisation(const Passage& p) { return grouped(p, p.node.integer("num_groups", 1)); }

Relevances mean_variance(const Passage& p) {
  return {
      centred(p, p.input(0), p.outputs[0], p.arriving(), p.node.integers("axes", {0, 2, 3}), {}, {}, 1e-9)};
}

}  // namespace assay::relevance::passing
