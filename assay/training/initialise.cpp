// Fresh weights, as Keras and PyTorch draw them.

#include <algorithm>
#include <cmath>
#include <numeric>

#include <assay/error.h>
#include <assay/model.h>
#include <assay/random.h>
#include <assay/training.h>
#include "assay/support/hash.h"
#include "assay/support/text.h"
#include "assay/training/weights.h"

namespace assay::training {
namespace {

// One stream for each weight, by its name, so that other weights do not change it.
Rng stream_of(const std::string& name, std::uint64_t seed) {
  return Rng(seed, {std::stoull(hash_hex(name).substr(0, 16), nullptr, 16)});
}

using Values = std::vector<float>;

void fill_uniform(Values& values, Rng& rng, double limit) {
  for (float& value : values) value = static_cast<float>(rng.uniform(-limit, limit));
}

// Columns of a [rows, columns] matrix that are orthonormal: normal numbers after Gram and Schmidt, twice for
// accuracy.
void fill_orthogonal(std::span<float> matrix, std::size_t columns, Rng& rng) {
  const std::size_t rows = matrix.size() / columns;
  std::vector<std::vector<double>> basis;
  while (basis.size() < columns) {
    std::vector<double> column(rows);
    for (double& value : column) value = rng.normal();
    for (int pass = 0; pass < 2; ++pass) {
      for (const auto& other : basis) {
        const double along = std::inner_product(column.begin(), column.end(), other.begin(), 0.0);
        for (std::size_t i = 0; i < rows; ++i) column[i] -= along * other[i];
      }
    }
    const double length = std::sqrt(std::inner_product(column.begin(), column.end(), column.begin(), 0.0));
    for (double& value : column) value /= length;
    for (std::size_t i = 0; i < rows; ++i) matrix[i * columns + basis.size()] = static_cast<float>(column[i]);
    basis.push_back(std::move(column));
  }
}

// Glorot and Bengio 2010: kernels uniform within sqrt(6 / (fan_in + fan_out)); recurrent kernels orthogonal;
// zero biases, 1 for LSTM forget gates.
void keras(Values& values, const Weight& weight, const Shape& shape, Rng& rng) {
  if (weight.role == Role::recurrent) {
    const auto columns = static_cast<std::size_t>(shape[2]),
               size = static_cast<std::size_t>(shape[1]) * columns;
    for (std::size_t begin = 0; begin < values.size(); begin += size)
      fill_orthogonal(std::span(values).subspan(begin, size), columns, rng);
  } else if (weight.role == Role::kernel) {
    fill_uniform(values, rng, std::sqrt(6.0 / static_cast<double>(weight.fan_in + weight.fan_out)));
  } else if (weight.role == Role::table) {
    fill_uniform(values, rng, 0.05);
  } else if (weight.role == Role::lstm_bias && shape.size() == 2 && shape[1] % 8 == 0) {
    const std::int64_t hidden = shape[1] / 8;  // input, output, forget, cell: first of W, then of R
    for (std::int64_t d = 0; d < shape[0]; ++d) {
      std::fill_n(values.begin() + d * shape[1] + 2 * hidden, hidden, 1.0F);
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
    fill_uniform(values, rng, 1 / std::sqrt(static_cast<double>(weight.fan_in)));
  }
}

using Initialiser = void (*)(Values& values, const Weight& weight, const Shape& shape, Rng& rng);

Initialiser find_initialiser(const std::string& name) {
  if (name == "keras") return keras;
  if (name == "pytorch") return pytorch;
  fail(Fault::usage, "no initialiser is named '{}'{}; there are keras, pytorch and keep", name,
       did_you_mean(name, {"keras", "pytorch", "keep"}));
}

// Normalisations begin as the identity whoever draws the weights.
bool is_fixed(Role role) {
  return role == Role::scale || role == Role::shift || role == Role::mean || role == Role::variance;
}

}  // namespace

Graph initialise(const Graph& graph, const std::string& initialiser, std::uint64_t seed) {
  if (initialiser == "keep") return graph;
  const Initialiser draw = find_initialiser(initialiser);
  GraphBuilder edit(graph);
  for (const Weight& weight : find_weights(graph)) {
    const Shape& shape = graph.constant(weight.value).shape();
    Values values(static_cast<std::size_t>(element_count(shape)), 0.0F);
    if (weight.role == Role::scale || weight.role == Role::variance)
      std::fill(values.begin(), values.end(), 1.0F);
    if (!is_fixed(weight.role)) {
      Rng rng = stream_of(graph.value(weight.value).name, seed);
      draw(values, weight, shape, rng);
    }
    edit.replace_constant(weight.value, Array::of<float>(shape, values));
  }
  return edit.build();
}

}  // namespace assay::training
