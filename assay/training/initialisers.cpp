// Initial kernels, as Keras 2.3 draws them.

#include <assay/training.h>

#include <algorithm>
#include <cmath>

#include <assay/error.h>
#include <assay/extend/optimisers.h>
#include "assay/training/draws.h"
#include "assay/training/recipe_parts.h"

namespace assay::training {
namespace {

// Keras 2.3 widens a normal distribution that is cut at two deviations by this, so that the deviation is the
// one wanted.
constexpr double cut_deviation = 0.87962566103423978;

void fill_normal(std::span<float> values, Rng& rng, double mean, double deviation) {
  for (float& value : values) value = static_cast<float>(mean + deviation * rng.normal());
}

// Draws beyond two deviations are drawn again.
void fill_cut_normal(std::span<float> values, Rng& rng, double mean, double deviation) {
  for (float& value : values) {
    double drawn = rng.normal();
    while (std::abs(drawn) > 2) drawn = rng.normal();
    value = static_cast<float>(mean + deviation * drawn);
  }
}

using Fill = void (*)(const FreshWeight&, const SpecOptions&, Rng&);

void zeros(const FreshWeight& kernel, const SpecOptions&, Rng&) { std::ranges::fill(kernel.values, 0.0F); }
void ones(const FreshWeight& kernel, const SpecOptions&, Rng&) { std::ranges::fill(kernel.values, 1.0F); }
void constant(const FreshWeight& kernel, const SpecOptions& options, Rng&) {
  std::ranges::fill(kernel.values, static_cast<float>(options.number("value")));
}
void random_normal(const FreshWeight& kernel, const SpecOptions& options, Rng& rng) {
  fill_normal(kernel.values, rng, options.number("mean"), options.number("stddev", 0));
}
void random_uniform(const FreshWeight& kernel, const SpecOptions& options, Rng& rng) {
  const double low = options.number("low"), high = options.number("high", low);
  for (float& value : kernel.values) value = static_cast<float>(rng.uniform(low, high));
}
void truncated_normal(const FreshWeight& kernel, const SpecOptions& options, Rng& rng) {
  fill_cut_normal(kernel.values, rng, options.number("mean"), options.number("stddev", 0));
}

double fan_in(const FreshWeight& kernel) { return kernel.fan_in; }
double fan_mean(const FreshWeight& kernel) { return (kernel.fan_in + kernel.fan_out) / 2.0; }

// Of variance `scale` / fan.
template <int scale, double (*fan)(const FreshWeight&)>
void scaled_uniform(const FreshWeight& kernel, const SpecOptions&, Rng& rng) {
  fill_uniform(kernel.values, rng, std::sqrt(3.0 * scale / fan(kernel)));
}
template <int scale, double (*fan)(const FreshWeight&)>
void scaled_normal(const FreshWeight& kernel, const SpecOptions&, Rng& rng) {
  fill_cut_normal(kernel.values, rng, 0, std::sqrt(scale / fan(kernel)) / cut_deviation);
}

void orthogonal(const FreshWeight& kernel, const SpecOptions& options, Rng& rng) {
  if (kernel.shape.size() < 2)
    fail(Fault::mismatch, "orthogonal: a kernel of shape {} is not a matrix", to_string(kernel.shape));
  const std::size_t rows = kernel.shape[0];
  fill_orthogonal(kernel.values, kernel.values.size() / rows, rng);
  const auto gain = static_cast<float>(options.number("gain"));
  for (float& value : kernel.values) value *= gain;
}

void identity(const FreshWeight& kernel, const SpecOptions& options, Rng&) {
  if (kernel.shape.size() != 2)
    fail(Fault::mismatch, "identity: a kernel of shape {} is not a matrix; name dense layers with layer=",
         to_string(kernel.shape));
  std::ranges::fill(kernel.values, 0.0F);
  const std::size_t columns = kernel.shape[1];
  const auto gain = static_cast<float>(options.number("gain"));
  for (std::size_t i = 0; i < columns && i * columns + i < kernel.values.size(); ++i)
    kernel.values[i * columns + i] = gain;
}

InitialiserInfo entry(const char* name, const char* summary, const char* paper, Fill fill,
                      std::vector<SpecOption> options = {}) {
  options.push_back(layer_option());
  return {name, summary, paper, std::move(options), fill};
}

}  // namespace

Catalogue<InitialiserInfo>& initialisers() {
  static const char *const glorot = "Glorot and Bengio, AISTATS 2010", *const he = "He et al., ICCV 2015",
                           *const lecun = "LeCun et al. 1998";
  static const SpecOption mean{"mean", "0", "of the distribution"},
      deviation{"stddev", "0.05", "standard deviation, before it is cut"}, gain{"gain", "1", "factor"};
  static Catalogue<InitialiserInfo> all(
      {"initialiser"},
      {entry("zeros", "0", "", zeros), entry("ones", "1", "", ones),
       entry("constant", "one number", "", constant, {{"value", "0", "the number"}}),
       entry("random-normal", "normal", "", random_normal, {mean, deviation}),
       entry("random-uniform", "uniform", "", random_uniform,
             {{"low", "-0.05", "least value"}, {"high", "0.05", "greatest value"}}),
       entry("truncated-normal", "normal, cut at two standard deviations", "", truncated_normal,
             {mean, deviation}),
       entry("glorot-uniform", "uniform within sqrt(6 / (fan_in + fan_out))", glorot,
             scaled_uniform<1, fan_mean>),
       entry("glorot-normal", "cut normal of variance 2 / (fan_in + fan_out)", glorot,
             scaled_normal<1, fan_mean>),
       entry("he-uniform", "uniform within sqrt(6 / fan_in)", he, scaled_uniform<2, fan_in>),
       entry("he-normal", "cut normal of variance 2 / fan_in", he, scaled_normal<2, fan_in>),
       entry("lecun-uniform", "uniform within sqrt(3 / fan_in)", lecun, scaled_uniform<1, fan_in>),
       entry("lecun-normal", "cut normal of variance 1 / fan_in", lecun, scaled_normal<1, fan_in>),
       entry("orthogonal", "a random matrix with orthonormal rows or columns, whichever are fewer",
             "Saxe et al., ICLR 2014", orthogonal, {gain}),
       entry("identity", "the identity matrix, for dense layers", "Le et al. 2015", identity, {gain})});
  return all;
}

}  // namespace assay::training
