#pragma once

// Where the weights of one neuron lie in an array of weights. All linear and recurrent operators of ONNX fit one picture:
// the flat array is [outer, before, inner, after], neuron n = outer index * inner + inner index, and its weights are all
// `before` x `after` elements at these two indices.
//
//   operator                array                          outer  before  inner  after
//   Conv                    [M, C/group, k...]             M      1       1      C/group * k...
//   ConvTranspose           [C, M/group, k...]             group  C/group M/group  k...
//   Gemm, transB = 1        [M, K]                         M      1       1      K
//   Gemm, MatMul            [K, M]                         1      K       M      1
//   LSTM, GRU, RNN: W, R    [directions, gates * H, I]     directions  gates  H  I
//   biases                  [M]                            1      1       M      1

#include <cstdint>

namespace assay {

struct NeuronLayout {
  std::int64_t outer = 1, before = 1, inner = 1, after = 1;

  std::int64_t neurons() const { return outer * inner; }
  std::int64_t per_neuron() const { return before * after; }
  std::int64_t count() const { return neurons() * per_neuron(); }
  // Flat index of weight k of a neuron. REQUIRES neuron < neurons(), k < per_neuron().
  std::int64_t index(std::int64_t neuron, std::int64_t k) const;
  // The neuron that a flat index belongs to. REQUIRES index < count().
  std::int64_t neuron_of(std::int64_t index) const;
  bool operator==(const NeuronLayout&) const = default;
};

}  // namespace assay
