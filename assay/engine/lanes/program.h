#pragma once

// A segment compiled for batch blocks: operations on slots of memory. Built once, run by many threads, each
// with its own batch block.

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "assay/engine/backend.h"
#include "assay/engine/lanes/kernels.h"

namespace assay::lanes {

struct Program;

// A thread's memory as one program divides it.
class BatchBlock {
 public:
  // `memory` and `scratch`: Program::floats and Program::scratch floats, 64-byte aligned, of any content.
  BatchBlock(const Program& program, float* memory, float* scratch);
  // [elements][width] floats.
  float* value(std::size_t slot) const { return values_[slot]; }
  // The gradient with respect to the value; of programs that differentiate.
  float* gradient(std::size_t slot) const { return gradients_[slot]; }
  // Memory for what an operation needs for the time of one call.
  float* scratch() const { return scratch_; }

 private:
  float* scratch_;
  std::vector<float*> values_, gradients_;
};

// State of the gradient of an operand: not needed; to be written for the first time; to be added to.
enum class GradientState { unwanted, first, further };

// A constant whose value comes with every run, and the sums of an operation for its gradient.
struct TrainableConstant {
  ValueId constant = no_value;
  float factor = 1;              // what the operation multiplies it with
  std::vector<std::int32_t> to;  // of each sum: the element that it belongs to; -1: none
  bool unique = true;            // no two sums belong to one element
};

class Operation {
 public:
  Operation(std::vector<std::size_t> operands, std::size_t result)
      : operands_(std::move(operands)), result_(result) {}
  virtual ~Operation() = default;
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  virtual void forward(const BatchBlock& block) const = 0;
  // Brings the gradient of the result, which is complete and may be overwritten, to the operands. `gradients`
  // has an entry for each operand.
  virtual void backward(const BatchBlock& block, std::span<const GradientState> gradients) const = 0;

  // The same for neighbouring batch blocks, whose memory lies equally far apart.
  virtual void forward_all(std::span<const BatchBlock> blocks) const {
    for (const BatchBlock& block : blocks) forward(block);
  }
  virtual void backward_all(std::span<const BatchBlock> blocks,
                            std::span<const GradientState> gradients) const {
    for (const BatchBlock& block : blocks) backward(block, gradients);
  }
  // Whether these read weights once for all of them.
  virtual bool reads_weights_once() const { return false; }

  // Whether backward() reads values, its own result's or its operands'.
  virtual bool reads_values() const { return true; }

  std::span<const TrainableConstant> trainable() const { return trainable_; }
  // Takes the value of the i-th of them.
  virtual void set(std::size_t, std::span<const float>) {}
  // Writes the sums for it over the records of the batch block, or adds them. After backward().
  virtual void sum_weight_gradient(const BatchBlock&, std::size_t, bool /*add*/, float* /*sums*/) const {}
  // Floats that sum_weight_gradient() needs in BatchBlock::scratch().
  virtual std::int64_t scratch() const { return 0; }

  std::span<const std::size_t> operands() const { return operands_; }
  std::size_t result() const { return result_; }

 protected:
  std::size_t operand(std::size_t i = 0) const { return operands_[i]; }

  std::vector<TrainableConstant> trainable_;

 private:
  std::vector<std::size_t> operands_;
  std::size_t result_;
};

// A value that is reduced after that many operations, once for all its taps.
struct Tapped {
  std::size_t after = 0;
  std::size_t slot = 0;
  std::int64_t channels = 0, positions = 0;
  bool neurons_last = false;  // [positions][channels]
  // Slots of the mean, the greatest and the least: of each neuron, and of all of them.
  std::array<std::optional<std::size_t>, 3> neurons = {}, whole = {};
};

// The sums for one constant of an operation.
struct WeightGradient {
  std::size_t operation = 0, which = 0;
  std::int64_t at = -1;  // floats from the start of all sums; -1: not requested
};

struct Program {
  std::vector<std::unique_ptr<Operation>> operations;
  std::vector<std::int64_t> elements;  // of each slot, for a record
  std::vector<std::int64_t> value_at,
      gradient_at;                           // floats from the start of a batch block's memory; -1: none
  std::int64_t floats = 0, scratch = 0;      // of a batch block
  std::int64_t neighbours = 1;               // batch blocks that go through the operations side by side
  std::vector<std::size_t> inputs, outputs;  // slots, as of the segment
  std::vector<Tapped> tapped;
  std::vector<std::vector<std::size_t>> tapped_after;  // by operations done
  std::vector<std::optional<std::size_t>> taps;  // slots, as of the segment; all are there once compiled
  std::vector<std::vector<GradientState>>
      gradients;                                 // by operation and operand; of programs that differentiate
  std::vector<GradientState> seeded;             // by output: `unwanted` where no gradient is needed
  std::vector<WeightGradient> weight_gradients;  // of all constants that come with every run
  std::int64_t sums = 0;                         // floats of all that were requested
  bool reads_values = false;  // on the way back: otherwise nothing has to go forward before
};

// `wanted`: inputs of the segment, trainable constants among them, whose gradients are requested; none:
// forward only.
Program compile(const SegmentRequest& request, std::span<const ValueId> inputs,
                std::span<const ValueId> wanted);

}  // namespace assay::lanes
