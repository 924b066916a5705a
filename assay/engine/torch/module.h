#pragma once

// What the program and its module with libtorch (libassay_torch.so) agree on: types of the standard library
// and virtual functions alone, so that neither needs a symbol of the other, and the program no header of
// libtorch.

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <assay/element_type.h>
#include <assay/version.h>

namespace assay::torch_module {

// Contiguous numbers in the program's memory; without data: none.
struct HostNumbers {
  const void* data = nullptr;
  DType dtype = DType::float32;
  Shape shape = {};
};

using StepAttribute = std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>>;

// One node. Computed values are numbered by slots.
struct Step {
  std::string op;
  std::map<std::string, StepAttribute, std::less<>> attributes;
  struct Operand {
    int slot = -1;         // of a computed value
    HostNumbers constant;  // otherwise, unless the operand is left out
    Shape shape;           // for one record
  };
  std::vector<Operand> operands;
  struct Result {
    int slot = -1;  // -1: no one reads it
    Shape shape;    // for one record
  };
  std::vector<Result> results;
};

// A value reduced to a matrix of records by neurons, as ReducedValue.
struct TappedSlot {
  enum class How { mean, max, min } how = How::mean;
  int slot = -1;
  std::size_t axis = 1;
  bool whole = false;
};

struct ModulePlan {
  std::vector<Step> steps;
  int slots = 0;
  std::vector<int> inputs, outputs;  // slots
  std::vector<TappedSlot> taps;
  int threads = 1;
};

// How gradients begin.
struct WayBack {
  std::vector<std::size_t> wanted;  // positions among the inputs
  std::vector<std::size_t> read;    // positions among the outputs, for start()
  // From the outputs read, in their order: for each number the gradient with respect to every output, or
  // nullptr for zeros. Called once; what it returns stays valid.
  std::function<std::vector<std::vector<const float*>>(std::span<const HostNumbers>)> start;
};

class CompiledPlan {
 public:
  virtual ~CompiledPlan() = default;
  // Writes every output and every tap, whole.
  virtual void run(std::span<const HostNumbers> inputs, std::span<float* const> outputs,
                   std::span<float* const> taps) const = 0;
  // Writes the gradients of each number with respect to the wanted inputs.
  virtual void gradients(std::span<const HostNumbers> inputs, const WayBack& way,
                         std::span<const std::vector<float*>> results) const = 0;
};

// What is to be there of a node's operand.
enum class Role {
  data,       // numbers, computed or constant
  weights,    // constant; may be trainable
  parameter,  // constant, read by the processor
  unread      // not needed: shapes are known
};

class Device {
 public:
  virtual ~Device() = default;
  // Whether it knows the operator; then the role of an operand.
  virtual bool knows(std::string_view op) const = 0;
  virtual Role role(std::string_view op, std::size_t operand) const = 0;
  // Whether it computes the node in this form. REQUIRES operands that their roles allow.
  virtual bool takes(const Step& step) const = 0;
  // Constants have to stay where they are as long as the compiled plan.
  virtual std::unique_ptr<CompiledPlan> compile(ModulePlan plan) const = 0;
};

// What module and program must have in common, before anything else is touched.
struct BuiltFor {
  const char* version = ASSAY_VERSION_TEXT;
  int compiler_abi = 2 * __GXX_ABI_VERSION + _GLIBCXX_USE_CXX11_ABI;
};

// What the module's one function, assay_torch_module(), gives. open() takes "cpu", "cuda", "cuda:N" or
// "torch:cpu", a device that everything is copied to and from although it is the processor. Functions throw
// std::exception.
struct Entry {
  BuiltFor built_for;
  std::unique_ptr<Device> (*open)(const std::string& device);
};
using FindEntry = const Entry* (*)();

}  // namespace assay::torch_module
