#pragma once

// A stretch compiled for tiles: operations on slots of memory. Built once, run by many threads, each with its
// own tile.

#include <hwy/aligned_allocator.h>

#include <memory>
#include <span>
#include <vector>

#include "assay/engine/backend.h"
#include "assay/engine/lanes/kernels.h"

namespace assay::lanes {

struct Program;

// One thread's memory for one program.
class Tile {
 public:
  explicit Tile(const Program& program);
  // [elements][width] floats.
  float* value(int slot) const { return values_[static_cast<std::size_t>(slot)]; }
  // The gradient with respect to the value; of programs that differentiate.
  float* slope(int slot) const { return slopes_[static_cast<std::size_t>(slot)]; }

 private:
  hwy::AlignedFreeUniquePtr<float[]> memory_;
  std::vector<float*> values_, slopes_;
};

// What happens to the slope of an operand: nobody wants it; it holds nothing yet; it holds what others added.
enum class Slope { unwanted, first, further };

class Operation {
 public:
  Operation(std::vector<int> operands, int result) : operands_(std::move(operands)), result_(result) {}
  virtual ~Operation() = default;
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  virtual void forward(const Tile& tile) const = 0;
  // Brings the slope of the result, which is complete and may be overwritten, to the operands. `slopes` has
  // an entry for each operand.
  virtual void backward(const Tile& tile, std::span<const Slope> slopes) const = 0;

  std::span<const int> operands() const { return operands_; }
  int result() const { return result_; }

 protected:
  int operand(std::size_t i = 0) const { return operands_[i]; }

 private:
  std::vector<int> operands_;
  int result_;
};

// A value that is reduced as soon as so many operations are done.
struct Tapped {
  std::size_t after = 0;
  int slot = 0, reduced = 0;
  std::int64_t channels = 0, positions = 0;
  Reduce kind = Reduce::mean;
};

struct Program {
  std::vector<std::unique_ptr<Operation>> operations;
  std::vector<std::int64_t> elements;                // of each slot, for a record
  std::vector<std::int64_t> value_at, slope_at;      // floats from the start of a tile's memory; -1: none
  std::int64_t floats = 0;                           // of a tile
  std::vector<int> inputs, outputs;                  // slots, as of the stretch
  std::vector<Tapped> taps;                          // as of the stretch
  std::vector<std::vector<std::size_t>> taps_after;  // numbers of taps, by operations done
  std::vector<std::vector<Slope>> slopes;  // by operation and operand; of programs that differentiate
  std::vector<Slope> seeded;               // by output: `unwanted` where no slope is needed
};

// `wanted`: inputs of the stretch whose gradients are asked for; none: forward only.
Program compile(const StretchRequest& request, std::span<const ValueId> inputs,
                std::span<const ValueId> wanted);

}  // namespace assay::lanes
