// Forward passes: Assay against libtorch's own operators in three layouts and three batch sizes on the same
// threads, and with all layers tapped against untapped. Usage: bench_engine [threads [network...]] [--device
// NAME]

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>

#include <assay/session.h>
#include "assay/engine/backend.h"
#include "assay/support/threads.h"
#include "benchmarks/device.h"
#include "benchmarks/networks.h"

namespace assay::bench {
namespace {

// Best of several runs: the machine's noise only ever adds.
double seconds(const std::function<void()>& work, int runs) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < runs; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

enum class Layout { plain, channels_last, blocked };

// The network as a user of libtorch would write it, one operator call per module.
class Libtorch {
 public:
  Libtorch(const Graph& graph, Layout layout, const c10::Device& device)
      : graph_(graph), layout_(layout), values_(graph.values().size()) {
    for (std::size_t id = 0; id < values_.size(); ++id) {
      if (!graph.is_constant(static_cast<ValueId>(id))) continue;
      Tensor weight = to_tensor(graph.constant(static_cast<ValueId>(id))).clone().to(device);
      if (layout == Layout::channels_last && weight.dim() == 4)
        weight = weight.contiguous(at::MemoryFormat::ChannelsLast);
      if (layout == Layout::blocked &&
          graph.value(static_cast<ValueId>(id)).name.find("norm") == std::string::npos)
        weight = weight.to_mkldnn();
      values_[id] = weight;
    }
  }

  Tensor run(const Tensor& input) {
    Tensor first = input;
    if (layout_ == Layout::channels_last) first = input.contiguous(at::MemoryFormat::ChannelsLast);
    if (layout_ == Layout::blocked) first = input.to_mkldnn();
    values_[static_cast<std::size_t>(graph_.inputs()[0])] = first;
    for (const Node& node : graph_.nodes()) value(node.outputs[0]) = compute(node);
    const Tensor out = value(graph_.outputs()[0]);
    return out.is_mkldnn() ? out.to_dense() : out;
  }

 private:
  Tensor& value(ValueId id) { return values_[static_cast<std::size_t>(id)]; }

  Tensor compute(const Node& node) {
    const Tensor x = value(node.inputs[0]);
    const auto in = [&](std::size_t i) { return value(node.inputs[i]); };
    if (node.op == "Conv") {
      const auto pads = node.integers("pads", {}), strides = node.integers("strides", {});
      if (x.is_mkldnn())
        return at::mkldnn_convolution(x, in(1), in(2), at::IntArrayRef{pads[0], pads[1]}, strides, {1, 1}, 1);
      return at::conv2d(x, in(1), in(2), strides, at::IntArrayRef{pads[0], pads[1]});
    }
    if (node.op == "BatchNormalization")
      return at::batch_norm(x, in(1), in(2), in(3), in(4), false, 0, 1e-5, true);
    if (node.op == "Relu") return at::relu(x);
    if (node.op == "MaxPool") return at::max_pool2d(x, {2, 2}, {2, 2});
    if (node.op == "GlobalAveragePool") return at::adaptive_avg_pool2d(x, {1, 1});
    if (node.op == "Flatten") return x.reshape({x.size(0), -1});
    if (node.op == "Gemm")
      return x.is_mkldnn() ? at::mkldnn_linear(x, in(1), in(2)) : at::linear(x, in(1), in(2));
    return at::add(x, in(1));
  }

  const Graph& graph_;
  Layout layout_;
  std::vector<Tensor> values_;
};

struct Baseline {
  double seconds = std::numeric_limits<double>::infinity();
  std::string name;
};

Baseline best_of_libtorch(const Graph& graph, const Tensor& records) {
  Baseline best;
  for (const auto& [layout, name] : {std::pair{Layout::plain, "plain"},
                                     {Layout::channels_last, "channels-last"},
                                     {Layout::blocked, "blocked"}}) {
    for (const std::int64_t batch : {64, 256, 1024}) {
      try {
        Libtorch network(graph, layout, records.device());
        const double time = seconds(
            [&] {
              Tensor last;
              for (std::int64_t i = 0; i < records.size(0); i += batch)
                last = network.run(records.slice(0, i, std::min(records.size(0), i + batch)));
              wait_for(last);
            },
            3);
        if (time < best.seconds) best = {time, fmt::format("{}, batches of {}", name, batch)};
      } catch (const c10::Error&) {
        break;  // libtorch has no such operator in this layout
      }
    }
  }
  return best;
}

void compare(const Graph& graph, std::int64_t records, int threads, const std::string& device) {
  at::NoGradGuard guard;
  Shape shape = graph.value(graph.inputs()[0]).shape;
  shape[0] = records;
  const Tensor input = at::rand(shape).to(c10::Device(device));
  const Session session(graph, {.threads = threads, .device = device});
  for (const Backend* backend : backends()) {
    if (!input.device().is_cpu()) break;  // they are the processor's
    const Session named(graph, {.threads = threads, .engine = std::string(backend->name())});
    const Tensor some = input.slice(0, 0, std::min<std::int64_t>(records, 256));
    const ValueId out = graph.outputs()[0];
    const double time = seconds([&] { named.run({{graph.inputs()[0], some}}, std::span(&out, 1)); }, 5);
    double expected = 0;
    for (const PlannedStretch& part : named.plan()) expected += part.nanoseconds;
    fmt::print("{:10} {:>9}: {:.2f} us a record, {:.2f} expected on one thread\n", graph.name(),
               backend->name(), 1e6 * time / static_cast<double>(some.size(0)), 1e-3 * expected);
  }
  const ValueId output = graph.outputs()[0];
  const std::vector<Layer> layers = session.layers();
  // As analyses do it: in batches of the engine's own choice.
  const auto in_batches = [&](const std::function<void(const Tensors&)>& work) {
    const auto batch = static_cast<std::int64_t>(session.preferred_batch());
    for (std::int64_t i = 0; i < records; i += batch)
      work({{graph.inputs()[0], input.slice(0, i, std::min(records, i + batch))}});
  };
  double forward = std::numeric_limits<double>::infinity(), tapped = forward;
  for (int round = 0; round < 5; ++round) {  // in turn, so that a slow spell of the machine meets both
    forward = std::min(forward, seconds(
                                    [&] {
                                      Tensor last;
                                      in_batches([&](const Tensors& given) {
                                        last = session.run(given, std::span(&output, 1)).at(output);
                                      });
                                      wait_for(last);
                                    },
                                    2));
    tapped = std::min(tapped, seconds(
                                  [&] {
                                    in_batches([&](const Tensors& given) {
                                      session.observe(given, taps_of(layers, Reduction::mean),
                                                      std::span(&output, 1));
                                    });
                                  },
                                  2));
  }
  const Baseline libtorch = best_of_libtorch(graph, input);
  fmt::print(
      "{:10} {:6} records  forward {:.4f} s  libtorch {:.4f} s ({})  forward/libtorch {:.2f}  {} layers "
      "tapped {:.4f} s  tapped/forward {:.2f}\n",
      graph.name(), records, forward, libtorch.seconds, libtorch.name, forward / libtorch.seconds,
      layers.size(), tapped, tapped / forward);
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
  const std::string device = assay::bench::take_device(argc, argv);
  const int threads = argc > 1 ? std::atoi(argv[1]) : static_cast<int>(assay::available_threads());
  assay::set_engine_threads(threads);
  assay::keep_freed_memory();
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  fmt::print("{} threads\n", threads);
  const std::vector<std::string> only(argv + std::min(argc, 2), argv + argc);
  for (const auto& [graph, records] :
       {std::pair{assay::bench::lenet5(), 10000}, std::pair{assay::bench::vgg(), 1024},
        std::pair{assay::bench::resnet(), 4096}}) {
    if (only.empty() || std::ranges::find(only, graph.name()) != only.end())
      assay::bench::compare(graph, records, threads, device);
  }
}
