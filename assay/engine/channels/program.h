#pragma once

// A segment compiled for records whose channels lie side by side: operations on buffers, for as many records
// at a time as fit the cache. Built once, run by many threads, each with its own memory.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "assay/engine/backend.h"
#include "assay/support/memory.h"

namespace assay::channels {

// Where a value is and how it lies there.
struct Value {
  enum class Kind { buffer, input } kind = Kind::buffer;
  std::size_t index = 0;    // of the buffer, or of the segment's input
  std::int64_t offset = 0;  // floats, in front of a record's first element
  std::int64_t record = 0;  // floats from record to record
  Shape shape, strides;     // of a record, without the batch axis; in floats

  std::int64_t count() const { return element_count(shape); }
};

Shape plain_strides(const Shape& shape);
// With the first axis behind all others.
Shape channels_last_strides(const Shape& shape);
// Whether the elements lie as these strides say: those of axes of size 1 do not matter.
bool lies_as(const Value& value, const Shape& strides);
// Whether the elements of all records fill memory without gaps, in whatever order.
bool is_dense(const Value& value);

// A thread's memory while records pass through: of any content, so that what no record reaches is never
// touched.
class Memory {
 public:
  Memory(const std::vector<std::int64_t>& buffers, std::size_t inputs);
  void set_input(std::size_t i, float* first) { inputs_[i] = first; }
  float* at(const Value& value) const {
    const bool is_input = value.kind == Value::Kind::input;
    return (is_input ? inputs_[value.index] : buffers_[value.index].get()) + value.offset;
  }

 private:
  std::vector<FloatBlock> buffers_;
  std::vector<float*> inputs_;
};

class Operation {
 public:
  virtual ~Operation() = default;
  // Of the first `records` records.
  virtual void run(const Memory& memory, std::int64_t records) const = 0;
};

// After so many operations a value is copied out, or reduced to neurons.
struct Output {
  std::size_t after = 0;
  Value value;
};
struct Tapped {
  std::size_t after = 0;
  Value value;
  ReducedValue tap;
};

struct Program {
  std::int64_t rows = 0;  // records at a time
  std::vector<std::unique_ptr<Operation>> operations;
  std::vector<std::int64_t> buffers;  // floats of each
  std::vector<Output> outputs;        // as of the segment
  std::vector<Tapped> taps;           // as of the segment; none where the program differentiates

  // Of programs that differentiate: operations from here on go backward, from the gradients of the outputs,
  // which lie plainly, to those of the inputs that were wanted, where any reaches them. They may run again
  // for other gradients of the outputs.
  std::size_t backward = 0;
  bool reads_values = false;  // on the way back: otherwise nothing has to go forward before
  std::vector<Value> seeds;   // as of the outputs
  std::vector<std::optional<Value>> gradients;
};

// `wanted`: inputs whose gradients are requested; none: forward only.
Program compile(const SegmentRequest& request, std::span<const ValueId> inputs,
                std::span<const ValueId> wanted, std::int64_t rows);

// Copies a record from one place to another, where it may lie otherwise.
void arrange(const Value& from, const float* source, const Value& to, float* target);
// The same for the records of a run.
std::unique_ptr<Operation> arrangement(Value from, Value to);
// The same, added to what is there. Elements that lie at one place of the target, with a step of 0, are
// summed.
std::unique_ptr<Operation> accumulation(Value from, Value to);
// Zeros, in a buffer without gaps.
std::unique_ptr<Operation> clearing(Value value);

}  // namespace assay::channels
