#include "assay/attack/pixels.h"

#include <ATen/ATen.h>

#include <cmath>

#include <assay/error.h>
#include <assay/extend/attack_problem.h>
#include <assay/relevance.h>

namespace assay::attack {

Pixels pixels_of(const Tensor& inputs) {
  const std::int64_t elements = inputs.numel() / std::max<std::int64_t>(1, inputs.size(0));
  if (inputs.dim() != 4) return {1, elements};
  return {inputs.size(1), inputs.size(2) * inputs.size(3)};
}

std::size_t pixels_in(const Pixels& pixels, double share) {
  // A share such as 0.02 is not exact: 0.02 * 50 must be 1 pixel.
  const auto all = static_cast<double>(pixels.count);
  const auto count = static_cast<std::size_t>(std::floor(share * all * (1 + 1e-12)));
  if (count == 0)
    fail(Fault::usage,
         "share={} of the {} pixels of a record is none, so that the attack would change nothing; give at "
         "least {}",
         share, pixels.count, 1 / all);
  return count;
}

Tensor with_pixels(const AttackProblem& problem, const std::vector<std::vector<std::size_t>>& chosen,
                   const std::function<void(Rng&, std::span<float*>)>& change) {
  const Pixels pixels = pixels_of(problem.inputs);
  const auto channels = static_cast<std::size_t>(pixels.channels),
             count = static_cast<std::size_t>(pixels.count);
  const Tensor host = problem.inputs.to(at::kCPU).clone(at::MemoryFormat::Contiguous);
  std::vector<float*> pixel(channels);
  for (std::size_t row = 0; row < chosen.size(); ++row) {
    Rng rng = problem.rng(row, 1);
    float* const record = host.data_ptr<float>() + row * channels * count;
    for (const std::size_t place : chosen[row]) {
      for (std::size_t c = 0; c < channels; ++c) pixel[c] = record + c * count + place;
      change(rng, pixel);
    }
  }
  return host.to(problem.inputs.device());
}

std::vector<std::vector<std::size_t>> random_pixels(const AttackProblem& problem, std::size_t count) {
  const auto pixels = static_cast<std::size_t>(pixels_of(problem.inputs).count);
  std::vector<std::vector<std::size_t>> chosen;
  for (std::size_t row = 0; row < problem.keys.size(); ++row)
    chosen.push_back(problem.rng(row).sample(pixels, count));
  return chosen;
}

std::vector<std::vector<std::size_t>> relevant_pixels(const AttackedNetwork& network,
                                                      const AttackProblem& problem, std::size_t count,
                                                      const std::string& method) {
  const ValueId input = network.input();
  const auto attribution =
      relevance::make_attribution(method, network.session(), {.range = network.range(), .wanted = {input}});
  const Tensors bound = network.bind(problem.inputs, problem.held);
  const Tensor relevance = network.first(attribution->attribute(bound, {}, std::span(&input, 1)).values);
  const Pixels pixels = pixels_of(problem.inputs);
  const Tensor sums =
      relevance.to(at::kFloat).reshape({problem.size(), pixels.channels, pixels.count}).sum(1);
  const Tensor order =
      std::get<1>(sums.sort(/*stable=*/true, 1, /*descending=*/true)).to(at::kCPU).contiguous();
  std::vector<std::vector<std::size_t>> chosen;
  for (std::int64_t row = 0; row < problem.size(); ++row) {
    const std::int64_t* const places = order.data_ptr<std::int64_t>() + row * pixels.count;
    chosen.emplace_back(places, places + count);
  }
  return chosen;
}

}  // namespace assay::attack
