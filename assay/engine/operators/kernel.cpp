#include "assay/engine/operators/kernel.h"

#include <assay/array_math.h>

#include <algorithm>
#include <new>

#include <assay/error.h>

namespace assay::inline engine {
namespace {

std::string describe(std::span<const Array> inputs) {
  std::string text;
  for (const Array& input : inputs) {
    if (!text.empty()) text += ", ";
    text +=
        input.defined() ? fmt::format("{} {}", to_string(input.dtype()), to_string(input.shape())) : "none";
  }
  return text;
}

[[noreturn]] void rethrow(const Node& node, std::span<const Array> inputs, Fault fault,
                          std::string_view cause) {
  cause = cause.substr(0, cause.find('\n'));
  const std::string name = node.describe();
  if (cause.starts_with(name)) cause.remove_prefix(std::min(cause.size(), name.size() + 2));
  fail(fault, "{}: {} (inputs: {})", name, cause, describe(inputs));
}

}  // namespace

Kernel find_kernel(std::string_view op) {
  const auto all = kernels();
  const auto found = std::ranges::lower_bound(all, op, {}, &KernelInfo::op);
  return found != all.end() && found->op == op ? found->run : nullptr;
}

std::vector<Array> run_node(const Node& node, std::span<const Array> inputs, KernelContext& context) {
  const Kernel kernel = find_kernel(node.op);
  if (!kernel) {
    fail(Fault::unsupported, "{}: operator '{}' is not supported; docs/operators.md lists those that are",
         node.describe(), node.op);
  }
  try {
    std::vector<Array> outputs = kernel(node, inputs, context);
    outputs.resize(node.outputs.size());
    return outputs;
  } catch (const Error& error) {
    rethrow(node, inputs, error.fault(), error.what());
  } catch (const std::bad_alloc&) {
    rethrow(node, inputs, Fault::resources, "out of memory");
  } catch (const std::exception& error) {
    rethrow(node, inputs, Fault::model, error.what());
  }
}

}  // namespace assay::inline engine
