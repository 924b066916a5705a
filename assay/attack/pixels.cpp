#include "assay/attack/pixels.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include <assay/error.h>
#include <assay/extend/attack_problem.h>
#include <assay/relevance.h>
#include "assay/engine/elements.h"

namespace assay::attack {

Pixels pixels_of(const Array& inputs) {
  const std::int64_t elements = inputs.count() / std::max<std::int64_t>(1, inputs.size(0));
  if (inputs.rank() != 4) return {1, elements};
  return {inputs.size(1), inputs.size(2) * inputs.size(3)};
}

std::size_t pixels_in(const Pixels& pixels, double share) {
  // A share such as 0.02 is not exact: 0.02 * 50 must be 1 pixel.
  const double all = pixels.count;
  const auto count = static_cast<std::size_t>(std::floor(share * all * (1 + 1e-12)));
  if (count == 0)
    fail(Fault::usage,
         "share={} of the {} pixels of a record is less than one pixel, so the attack would change nothing; "
         "give at least {}",
         share, pixels.count, 1 / all);
  return count;
}

Array with_pixels(const AttackProblem& problem, const std::vector<std::vector<std::size_t>>& chosen,
                  const std::function<void(Rng&, std::span<float*>)>& change) {
  const Pixels pixels = pixels_of(problem.inputs);
  const std::size_t channels = pixels.channels, count = pixels.count;
  const Array host = in_memory(problem.inputs, DType::float32).clone();
  std::vector<float*> pixel(channels);
  for (std::size_t row = 0; row < chosen.size(); ++row) {
    Rng rng = problem.rng(row, 1);
    float* const record = host.elements<float>() + row * channels * count;
    for (const std::size_t place : chosen[row]) {
      for (std::size_t c = 0; c < channels; ++c) pixel[c] = record + c * count + place;
      change(rng, pixel);
    }
  }
  return host;
}

std::vector<std::vector<std::size_t>> random_pixels(const AttackProblem& problem, std::size_t count) {
  const std::size_t pixels = pixels_of(problem.inputs).count;
  std::vector<std::vector<std::size_t>> chosen;
  for (std::size_t row = 0; row < problem.keys.size(); ++row)
    chosen.push_back(problem.rng(row).sample(pixels, count));
  return chosen;
}

namespace {

// The decision on each record, or what its change says.
relevance::Target explained(const AttackedNetwork& network, const AttackProblem& problem,
                            const Tensors& bound) {
  relevance::Target target;
  if (!problem.change) return target;
  const Array outputs = in_memory(network.outputs(bound), DType::float32);
  const std::size_t width = outputs.size(1);
  for (std::size_t row = 0; row < problem.places.size(); ++row) {
    std::vector<float> weights =
        problem.change->explained(problem.places[row], {outputs.elements<float>() + row * width, width});
    if (weights.empty()) return {};
    target.weights.push_back(std::move(weights));
  }
  return target;
}

}  // namespace

std::vector<std::vector<std::size_t>> relevant_pixels(const AttackedNetwork& network,
                                                      const AttackProblem& problem, std::size_t count,
                                                      const std::string& method) {
  const ValueId input = network.input();
  const auto attribution = relevance::make_attribution(
      method, network.session(),
      {.outputs = network.regression(), .range = network.range(), .wanted = {input}});
  const Tensors bound = network.bind(problem.inputs, problem.held);
  const Array relevance = network.first(
      attribution->attribute(bound, explained(network, problem, bound), std::span(&input, 1)).values);
  const Pixels pixels = pixels_of(problem.inputs);
  const Array host = in_memory(relevance, DType::float32);
  const std::size_t channels = pixels.channels, places = pixels.count;
  std::vector<std::vector<std::size_t>> chosen;
  for (std::size_t row = 0; row < problem.keys.size(); ++row) {
    std::vector<double> sums(places);
    for (std::size_t i = 0; i < channels * places; ++i)
      sums[i % places] += host.elements<float>()[row * channels * places + i];
    for (double& sum : sums) sum = std::isnan(sum) ? std::numeric_limits<double>::infinity() : sum;
    std::vector<std::size_t> order(places);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t place) { return sums[place]; });
    chosen.emplace_back(order.begin(), order.begin() + count);
  }
  return chosen;
}

}  // namespace assay::attack
