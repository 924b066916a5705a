// Fresh weights, as Keras and PyTorch draw them.

#include <algorithm>
#include <cmath>
#include <optional>

#include <assay/error.h>
#include <assay/model.h>
#include <assay/training.h>
#include "assay/support/files/hash.h"
#include "assay/training/draws.h"
#include "assay/training/recipe_parts.h"
#include "assay/training/weights.h"

namespace assay::training {
namespace {

// One stream for each weight, by its name, so that other weights do not change it.
Rng stream_of(const std::string& name, std::uint64_t seed) {
  return Rng(seed, {std::stoull(hash_hex(name).substr(0, 16), nullptr, 16)});
}

using Values = std::vector<float>;

// Glorot and Bengio 2010: kernels uniform within sqrt(6 / (fan_in + fan_out)); recurrent kernels orthogonal;
// zero biases, 1 for LSTM forget gates.
void keras(Values& values, const Weight& weight, const Shape& shape, Rng& rng) {
  if (weight.role == Role::recurrent && shape.size() > 1) {
    const std::size_t columns = shape.back(), size = shape[shape.size() - 2] * columns;
    for (std::size_t begin = 0; size > 0 && begin < values.size(); begin += size)
      fill_orthogonal(std::span(values).subspan(begin, size), columns, rng);
  } else if (weight.role == Role::kernel || weight.role == Role::recurrent) {
    fill_uniform(values, rng, std::sqrt(6.0 / (weight.fan_in + weight.fan_out)));
  } else if (weight.role == Role::table) {
    fill_uniform(values, rng, 0.05);
  } else if (weight.role == Role::lstm_bias && shape.back() % (4 * weight.fan_in) == 0) {
    const std::int64_t hidden = weight.fan_in;  // input, output, forget, cell: first of W, then of R
    for (std::int64_t begin = 0; begin < std::ssize(values); begin += shape.back()) {
      std::fill_n(values.begin() + begin + 2 * hidden, hidden, 1.0F);
    }
  }
}

// He et al. 2015 with a = sqrt(5): kernels and biases uniform within 1 / sqrt(fan_in); recurrent nodes within
// 1 / sqrt(hidden); embeddings normal; slopes of PRelu 0.25.
void pytorch(Values& values, const Weight& weight, const Shape&, Rng& rng) {
  if (weight.role == Role::table) {
    for (float& value : values) value = static_cast<float>(rng.normal());
  } else if (weight.role == Role::slope) {
    std::fill(values.begin(), values.end(), 0.25F);
  } else {
    fill_uniform(values, rng, 1 / std::sqrt(weight.fan_in));
  }
}

// Normalisations begin as the identity with every initialiser.
bool is_fixed(Role role) {
  return role == Role::scale || role == Role::shift || role == Role::mean || role == Role::variance;
}

// The part that fills each weight, by its position; none for weights that stay.
std::vector<const InitialiserPart*> parts_by_weight(const Graph& graph, const std::vector<Weight>& weights,
                                                    const std::vector<InitialiserPart>& parts,
                                                    const InitialiserPart& base) {
  std::vector<const InitialiserPart*> chosen(weights.size(), &base);
  for (const InitialiserPart& part : parts) {
    if (part.info == nullptr) {
      std::ranges::fill(chosen, part.name == "keep" ? nullptr : &part);
    } else {
      for (const std::size_t kernel : kernels_of(graph, weights, part.layers())) chosen[kernel] = &part;
    }
  }
  return chosen;
}

Values drawn(const Weight& weight, const Shape& shape, const InitialiserPart& part, Rng& rng) {
  Values values(element_count(shape), 0.0F);
  if (weight.role == Role::scale || weight.role == Role::variance) std::ranges::fill(values, 1.0F);
  if (is_fixed(weight.role)) return values;
  if (part.info != nullptr) {
    part.info->fill({values, shape, weight.fan_in, weight.fan_out}, part.options, rng);
  } else {
    (part.name == "pytorch" ? pytorch : keras)(values, weight, shape, rng);
  }
  return values;
}

}  // namespace

Graph initialise(const Graph& graph, const std::string& initialiser, std::uint64_t seed) {
  const std::vector<InitialiserPart> parts = initialiser_parts(initialiser),
                                     base = initialiser_parts("keras");
  const std::vector<Weight> weights = find_weights(graph);
  const auto chosen = parts_by_weight(graph, weights, parts, base.front());
  GraphBuilder edit(graph);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (chosen[i] == nullptr || weights[i].role == Role::operand) continue;
    const Shape& shape = graph.constant(weights[i].value).shape();
    Rng rng = stream_of(graph.value(weights[i].value).name, seed);
    edit.replace_constant(weights[i].value,
                          Array::of<float>(shape, drawn(weights[i], shape, *chosen[i], rng)));
  }
  return edit.build();
}

}  // namespace assay::training
