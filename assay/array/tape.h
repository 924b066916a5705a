#pragma once

// Records of computations, so that gradients can go back through them.

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include <assay/array_math.h>

namespace assay::array {

class GradientStep {
 public:
  // How gradients go back; as array::recorded() has it.
  static Arrays record(Arrays results, std::span<const Array> inputs, array::Back back);
  static Array leaf(const Array& array);
  static Array without(const Array& array);
  static Arrays gradients(std::span<const Array> outputs, std::span<const Array> points,
                          std::span<const Array> seeds, bool keep);
  ~GradientStep();

 private:
  // Where the gradient of an input goes.
  struct Edge {
    std::shared_ptr<GradientStep> step;  // nullptr: nowhere
    std::size_t output = 0;
  };
  struct Pending;

  std::uint64_t number_ = 0;  // in the order of computation
  std::vector<Edge> inputs_;
  std::size_t outputs_ = 1;
  array::Back back_;
};

// Whether one of them is to be recorded.
template <typename... Inputs>
bool records(const Inputs&... inputs) {
  return is_recording() && (inputs.requires_grad() || ...);
}

// `back` of one result: from its gradient to that of each input.
template <typename One>
Array recorded_one(Array result, std::initializer_list<Array> inputs, One back) {
  return recorded(std::move(result), std::span(inputs.begin(), inputs.size()),
                  [back = std::move(back)](const Arrays& of_results, const std::vector<bool>& wanted) {
                    return back(of_results[0], wanted);
                  });
}

// The same for one input.
template <typename One>
Array recorded_map(Array result, const Array& input, One back) {
  return recorded(std::move(result), std::span(&input, 1),
                  [back = std::move(back)](const Arrays& of_results, const std::vector<bool>&) {
                    return Arrays{back(of_results[0])};
                  });
}

}  // namespace assay::array
