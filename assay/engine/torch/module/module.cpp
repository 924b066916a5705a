// The module's only function, and compiled plans: nodes computed one after the other by ATen, and gradients
// by its automatic differentiation.

#include "assay/engine/torch/module.h"

#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <mutex>
#include <stdexcept>

#include "assay/engine/torch/module/operators.h"

namespace assay::torch_module {
namespace {

at::ScalarType type_of(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return at::kDouble;
    case DType::int64:
      return at::kLong;
    case DType::int32:
      return at::kInt;
    case DType::int8:
      return at::kChar;
    case DType::uint8:
      return at::kByte;
    case DType::boolean:
      return at::kBool;
    case DType::float16:
      return at::kHalf;
    case DType::bfloat16:
      return at::kBFloat16;
    case DType::int16:
      return at::kShort;
    case DType::float32:
      return at::kFloat;
    default:
      throw std::runtime_error("elements of uint16, uint32 and uint64 are not computed with; convert them");
  }
}

// Between the program's memory and a device. `always_copies`: as from and to a GPU, although it is the
// processor.
struct Place {
  at::Device device = at::kCPU;
  bool always_copies = false;

  Tensor take(const HostNumbers& host) const {
    const Tensor here = at::from_blob(const_cast<void*>(host.data), host.shape,
                                      at::TensorOptions().dtype(type_of(host.dtype)));
    return here.to(device, here.scalar_type(), /*non_blocking=*/false, /*copy=*/always_copies);
  }
  static void give(const Tensor& tensor, float* to) {
    at::from_blob(to, tensor.sizes(), at::kFloat).copy_(tensor.detach());
  }
};

// Constants on a device: once for all plans that are there. Those of graphs never change, and stay where they
// are as long as a plan reads them.
class Constants {
 public:
  Tensor get(const Place& place, const HostNumbers& host) {
    const std::lock_guard lock(mutex_);
    const auto known = known_.find({host.data, host.shape});
    if (known != known_.end()) {
      const Tensor there(known->second.lock());
      if (there.defined()) return there;
    }
    const Tensor tensor = place.take(host);
    known_.insert_or_assign({host.data, host.shape}, Weak(tensor.getIntrusivePtr()));
    if (known_.size() > 2 * kept_) forget();
    return tensor;
  }

 private:
  using Weak = c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;
  void forget() {
    std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
    kept_ = std::max<std::size_t>(1024, known_.size());
  }

  std::mutex mutex_;
  std::map<std::pair<const void*, Shape>, Weak> known_;
  std::size_t kept_ = 1024;
};

class Compiled : public CompiledPlan {
 public:
  Compiled(ModulePlan plan, const Place& place, Constants& constants)
      : plan_(std::move(plan)), place_(place) {
    std::vector<std::size_t> last_reader(static_cast<std::size_t>(plan_.slots), plan_.steps.size());
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
      const Step& step = plan_.steps[s];
      const Operator& known = *find_operator(step.op);
      operators_.push_back(&known);
      std::vector<Tensor>& fixed = constants_.emplace_back(step.operands.size());
      for (std::size_t i = 0; i < fixed.size(); ++i) {
        const Step::Operand& operand = step.operands[i];
        if (operand.slot >= 0) last_reader[static_cast<std::size_t>(operand.slot)] = s;
        const Role role = known.role(i);
        if (operand.constant.data != nullptr && (role == Role::data || role == Role::weights))
          fixed[i] = constants.get(place_, operand.constant);
      }
    }
    for (const int slot : plan_.outputs) last_reader[static_cast<std::size_t>(slot)] = plan_.steps.size();
    released_.resize(plan_.steps.size() + 1);
    for (std::size_t slot = 0; slot < last_reader.size(); ++slot)
      released_[last_reader[slot]].push_back(slot);
  }

  void run(std::span<const HostNumbers> inputs, std::span<float* const> outputs,
           std::span<float* const> taps) const override {
    const at::NoGradGuard no_gradients;
    std::vector<Tensor> values = begin(inputs);
    compute(values, inputs[0].shape[0], [&](int slot) {
      for (std::size_t t = 0; t < plan_.taps.size(); ++t)
        if (plan_.taps[t].slot == slot) Place::give(reduced(plan_.taps[t], value(values, slot)), taps[t]);
    });
    for (std::size_t o = 0; o < outputs.size(); ++o) Place::give(value(values, plan_.outputs[o]), outputs[o]);
  }

  void gradients(std::span<const HostNumbers> inputs, const WayBack& way,
                 std::span<const std::vector<float*>> results) const override {
    const at::AutoGradMode with_gradients(true);
    std::vector<Tensor> values = begin(inputs);
    std::vector<Tensor> leaves;
    for (const std::size_t i : way.wanted) {
      Tensor& leaf = value(values, plan_.inputs[i]);
      leaf = leaf.detach().requires_grad_(true);
      leaves.push_back(leaf);
    }
    compute(values, inputs[0].shape[0], [](int) {});
    std::vector<Tensor> read;
    std::vector<HostNumbers> shown;
    for (const std::size_t o : way.read) {
      read.push_back(value(values, plan_.outputs[o]).detach().to(at::kCPU).contiguous());
      shown.push_back({read.back().const_data_ptr(), DType::float32, read.back().sizes().vec()});
    }
    const auto seeds = way.start(shown);
    for (std::size_t n = 0; n < seeds.size(); ++n)
      go_back(values, seeds[n], leaves, n + 1 < seeds.size(), results[n]);
  }

 private:
  static Tensor& value(std::vector<Tensor>& values, int slot) {
    return values[static_cast<std::size_t>(slot)];
  }

  std::vector<Tensor> begin(std::span<const HostNumbers> inputs) const {
    at::set_num_threads(plan_.threads);
    std::vector<Tensor> values(static_cast<std::size_t>(plan_.slots));
    for (std::size_t i = 0; i < inputs.size(); ++i) value(values, plan_.inputs[i]) = place_.take(inputs[i]);
    return values;
  }

  // Calls made(slot) as soon as a value is there. Values are let go after their last reader.
  template <typename Made>
  void compute(std::vector<Tensor>& values, std::int64_t records, const Made& made) const {
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
      const Step& step = plan_.steps[s];
      std::vector<Tensor> operands = constants_[s];
      for (std::size_t i = 0; i < operands.size(); ++i)
        if (step.operands[i].slot >= 0) operands[i] = value(values, step.operands[i].slot);
      const Outputs results = operators_[s]->compute(Call(step, operands, records));
      for (std::size_t r = 0; r < step.results.size(); ++r) {
        const int slot = step.results[r].slot;
        if (slot < 0) continue;
        value(values, slot) = results.at(r).to(at::kFloat);
        made(slot);
      }
      for (const std::size_t slot : released_[s]) values[slot] = Tensor();
    }
  }

  static Tensor reduced(const TappedSlot& tap, const Tensor& all) {
    Tensor x = tap.whole ? all.flatten(1).unsqueeze(1) : all;
    if (x.dim() == 2) return x;
    x = x.movedim(static_cast<std::int64_t>(tap.whole ? 1 : tap.axis), 1).flatten(2);
    return tap.how == TappedSlot::How::mean  ? at::mean(x, 2)
           : tap.how == TappedSlot::How::max ? at::amax(x, 2)
                                             : at::amin(x, 2);
  }

  void go_back(std::vector<Tensor>& values, std::span<const float* const> seeds,
               const std::vector<Tensor>& leaves, bool again, const std::vector<float*>& results) const {
    std::vector<Tensor> from, with;
    for (std::size_t o = 0; o < seeds.size(); ++o) {
      const Tensor& output = value(values, plan_.outputs[o]);
      if (seeds[o] == nullptr || !output.requires_grad()) continue;
      from.push_back(output);
      with.push_back(place_.take({seeds[o], DType::float32, output.sizes().vec()}));
    }
    std::vector<Tensor> found(leaves.size());
    if (!from.empty()) found = torch::autograd::grad(from, leaves, with, again, false, /*allow_unused=*/true);
    for (std::size_t i = 0; i < leaves.size(); ++i)
      Place::give(found[i].defined() ? found[i] : at::zeros_like(leaves[i]), results[i]);
  }

  ModulePlan plan_;
  Place place_;
  std::vector<const Operator*> operators_;          // by step
  std::vector<std::vector<Tensor>> constants_;      // by step and operand
  std::vector<std::vector<std::size_t>> released_;  // by step
};

class TorchDevice : public Device {
 public:
  explicit TorchDevice(const Place& place) : place_(place) {}
  bool knows(std::string_view op) const override { return find_operator(op) != nullptr; }
  Role role(std::string_view op, std::size_t operand) const override {
    return find_operator(op)->role(operand);
  }
  bool takes(const Step& step) const override { return find_operator(step.op)->takes(Form(step)); }
  std::unique_ptr<CompiledPlan> compile(ModulePlan plan) const override {
    return std::make_unique<Compiled>(std::move(plan), place_, constants_);
  }

 private:
  Place place_;
  mutable Constants constants_;
};

// The part of libtorch for CUDA is loaded only where it is asked for.
void load_cuda() {
  if (dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL) == nullptr)
    throw std::runtime_error(std::string("this libtorch has no part for CUDA: ") + dlerror());
  if (!at::hasCUDA() || at::detail::getCUDAHooks().deviceCount() == 0)
    throw std::runtime_error("no GPU is found; is its driver installed (nvidia-smi)?");
}

std::unique_ptr<Device> open(const std::string& device) {
  if (device == "cpu" || device == "torch:cpu")
    return std::make_unique<TorchDevice>(Place{at::kCPU, device == "torch:cpu"});
  load_cuda();
  const at::Device chosen(device);
  if (chosen.has_index() && chosen.index() >= at::detail::getCUDAHooks().deviceCount())
    throw std::runtime_error("there are only " + std::to_string(at::detail::getCUDAHooks().deviceCount()) +
                             " GPUs, counted from 0");
  // Products of float32 as everywhere else, not of 10 bits.
  at::globalContext().setAllowTF32CuBLAS(false);
  at::globalContext().setAllowTF32CuDNN(false);
  return std::make_unique<TorchDevice>(
      Place{at::Device(at::kCUDA, chosen.has_index() ? chosen.index() : 0), false});
}

const Entry entry{{}, open};

}  // namespace
}  // namespace assay::torch_module

extern "C" __attribute__((visibility("default"))) const assay::torch_module::Entry* assay_torch_module() {
  return &assay::torch_module::entry;
}
