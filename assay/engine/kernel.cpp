#include "assay/engine/kernel.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <new>

#include <assay/error.h>

namespace assay {
namespace {

std::string describe(std::span<const Tensor> inputs) {
  std::string text;
  for (const Tensor& input : inputs) {
    if (!text.empty()) text += ", ";
    text += input.defined()
                ? fmt::format("{} {}", toString(input.scalar_type()), to_string(input.sizes().vec()))
                : "none";
  }
  return text;
}

[[noreturn]] void rethrow(const Node& node, std::span<const Tensor> inputs, Fault fault,
                          std::string_view cause) {
  cause = cause.substr(0, cause.find('\n'));
  const std::string name = node.describe();
  if (cause.starts_with(name)) cause.remove_prefix(std::min(cause.size(), name.size() + 2));
  fail(fault, "{}: {} (inputs: {})", name, cause, describe(inputs));
}

Fault fault_of(const c10::Error& error) {
  const std::string_view what = error.what_without_backtrace();
  const auto says = [&](std::string_view words) { return what.find(words) != std::string_view::npos; };
  if (dynamic_cast<const c10::OutOfMemoryError*>(&error) || says("allocate memory") ||
      says("not enough memory") || says("Storage size calculation overflowed")) {
    return Fault::resources;
  }
  if (dynamic_cast<const c10::NotImplementedError*>(&error) || says("not implemented for"))
    return Fault::unsupported;
  return Fault::model;
}

}  // namespace

Kernel find_kernel(std::string_view op) {
  const auto all = kernels();
  const auto found = std::ranges::lower_bound(all, op, {}, &KernelInfo::op);
  return found != all.end() && found->op == op ? found->run : nullptr;
}

std::vector<Tensor> run_node(const Node& node, std::span<const Tensor> inputs, KernelContext& context) {
  const Kernel kernel = find_kernel(node.op);
  if (!kernel) {
    fail(Fault::unsupported, "{}: operator '{}' is not supported; docs/operators.md lists those that are",
         node.describe(), node.op);
  }
  try {
    std::vector<Tensor> outputs = kernel(node, inputs, context);
    outputs.resize(node.outputs.size());
    return outputs;
  } catch (const Error& error) {
    rethrow(node, inputs, error.fault(), error.what());
  } catch (const c10::Error& error) {
    rethrow(node, inputs, fault_of(error), error.what_without_backtrace());
  } catch (const std::bad_alloc&) {
    rethrow(node, inputs, Fault::resources, "out of memory");
  } catch (const std::exception& error) {
    rethrow(node, inputs, Fault::model, error.what());
  }
}

}  // namespace assay
