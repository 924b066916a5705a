// Forward passes: every back end by itself, the best of them together against the plain reference on the same
// threads, and with all layers tapped against untapped. Usage: bench_engine [threads [network...]]

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
#include "benchmarks/networks.h"
#include "benchmarks/records.h"

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

void compare(const Graph& graph, std::int64_t records, int threads) {
  Shape shape = graph.value(graph.inputs()[0]).shape;
  shape[0] = records;
  const Array input = random_records(shape);
  const Session session(graph, {.threads = threads});
  for (const Backend* backend : backends()) {
    const Session named(graph, {.threads = threads, .engine = std::string(backend->name())});
    const Array some = input.slice(0, 0, std::min<std::int64_t>(records, 256));
    const ValueId out = graph.outputs()[0];
    const double time = seconds([&] { named.run({{graph.inputs()[0], some}}, std::span(&out, 1)); }, 5);
    double expected = 0;
    for (const PlannedSegment& part : named.plan()) expected += part.nanoseconds;
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
    forward = std::min(
        forward,
        seconds([&] { in_batches([&](const Tensors& given) { session.run(given, std::span(&output, 1)); }); },
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
  const Session reference(graph, {.threads = threads, .engine = "reference"});
  const double plain = seconds(
      [&] { in_batches([&](const Tensors& given) { reference.run(given, std::span(&output, 1)); }); }, 2);
  fmt::print(
      "{:10} {:6} records  forward {:.4f} s  reference {:.4f} s  forward/reference {:.2f}  {} layers "
      "tapped {:.4f} s  tapped/forward {:.2f}\n",
      graph.name(), records, forward, plain, forward / plain, layers.size(), tapped, tapped / forward);
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
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
      assay::bench::compare(graph, records, threads);
  }
}
