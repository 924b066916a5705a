// Epsilon relevance of a whole network against a forward pass on the same threads
// and batch. Usage: bench_relevance [threads]

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <limits>

#include <assay/relevance.h>
#include "assay/support/threads.h"
#include "benchmarks/networks.h"
#include "benchmarks/records.h"

namespace assay::bench {
namespace {

double seconds(const std::function<void()>& work, int runs = 3) {
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
  const ValueId in = graph.inputs()[0], out = graph.outputs()[0];
  const Session session(graph, {.threads = threads});
  const Array input = random_records(shape);
  for (const std::int64_t batch : {64, 128, 256, 512}) {
    const auto all = [&](const std::function<void(const Tensors&)>& one) {
      for (std::int64_t i = 0; i < records; i += batch)
        one({{in, input.slice(0, i, std::min(records, i + batch))}});
    };
    const double forward =
        seconds([&] { all([&](const Tensors& given) { session.run(given, std::span(&out, 1)); }); });
    for (const char* method : {"epsilon", "epsilon-plus"}) {
      const auto attribution = relevance::make_attribution(method, session);
      const double relevance = seconds(
          [&] { all([&](const Tensors& given) { attribution->attribute(given, {}, std::span(&in, 1)); }); });
      fmt::print("{:10} {:6} records, batches of {:3}: forward {:.3f} s, {:12} {:.3f} s, ratio {:.2f}\n",
                 graph.name(), records, batch, forward, method, relevance, relevance / forward);
    }
  }
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : static_cast<int>(assay::available_threads());
  assay::set_engine_threads(threads);
  assay::keep_freed_memory();
  assay::bench::compare(assay::bench::lenet5(), 10000, threads);
  assay::bench::compare(assay::bench::vgg(), 512, threads);
  assay::bench::compare(assay::bench::resnet(), 1024, threads);
}
