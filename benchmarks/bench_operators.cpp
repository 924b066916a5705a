// Operators by themselves: which back end the plan gives them, microseconds a record and, of those that
// multiply, the share of what the processor could multiply in registers, measured in the same run. A
// convolution that takes fewer products than its definition can show more than 100 %. Usage: bench_operators
// [threads [engine]].

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <utility>
#include <vector>

#include <assay/session.h>
#include "assay/engine/arithmetic.h"
#include "benchmarks/networks.h"

namespace assay::bench {
namespace {

using Step = std::function<void(NetworkMaker&)>;

struct Case {
  std::int64_t channels, side;
  Step step;
};

// Convolutions are followed by a mean over their positions, so that results stay in cache, as they do in a
// network.
std::vector<std::pair<std::string, Case>> cases() {
  const auto conv = [](std::int64_t out, std::int64_t kernel, std::int64_t pad, std::int64_t stride = 1) {
    return [=](NetworkMaker& make) { make.conv(out, kernel, pad, stride).global_pool(); };
  };
  const auto dense = [](std::int64_t out) { return [=](NetworkMaker& make) { make.flatten().dense(out); }; };
  return {{"Conv 1 to 6, 5 x 5, 28 x 28", {1, 28, conv(6, 5, 0)}},
          {"Conv 6 to 16, 5 x 5, 12 x 12", {6, 12, conv(16, 5, 0)}},
          {"Conv 3 to 24, 5 x 5 by 2, 100 x 100", {3, 100, conv(24, 5, 0, 2)}},
          {"Conv 24 to 36, 5 x 5 by 2, 48 x 48", {24, 48, conv(36, 5, 0, 2)}},
          {"Conv 32 to 64, 5 x 5, 14 x 14", {32, 14, conv(64, 5, 2)}},
          {"Conv 16 to 16, 3 x 3, 32 x 32", {16, 32, conv(16, 3, 1)}},
          {"Conv 32 to 32, 3 x 3, 16 x 16", {32, 16, conv(32, 3, 1)}},
          {"Conv 64 to 64, 3 x 3, 32 x 32", {64, 32, conv(64, 3, 1)}},
          {"Conv 128 to 128, 3 x 3, 16 x 16", {128, 16, conv(128, 3, 1)}},
          {"Conv 512 to 512, 3 x 3, 4 x 4", {512, 4, conv(512, 3, 1)}},
          {"Conv 64 to 256, 1 x 1, 16 x 16", {64, 16, conv(256, 1, 0)}},
          {"Gemm 50 to 50", {50, 1, dense(50)}},
          {"Gemm 784 to 120", {1, 28, dense(120)}},
          {"Gemm 3200 to 256", {128, 5, dense(256)}},
          {"Relu, 64 x 32 x 32", {64, 32, [](NetworkMaker& make) { make.relu(); }}},
          {"MaxPool 2 x 2, 64 x 32 x 32", {64, 32, [](NetworkMaker& make) { make.pool(); }}},
          {"GlobalAveragePool, 64 x 32 x 32", {64, 32, [](NetworkMaker& make) { make.global_pool(); }}},
          {"BatchNormalization, 64 x 32 x 32", {64, 32, [](NetworkMaker& make) { make.norm(); }}}};
}

void measure(const std::string& name, const Graph& graph, const SessionOptions& options, double peak) {
  const Session session(graph, options);
  for (const PlannedSegment& part : session.plan(true)) {
    fmt::print("{:36} {:8} {:10.3f} us (expected {:8.3f})", name, part.engine, part.measured / 1e3,
               part.nanoseconds / 1e3);
    if (part.multiply_adds > 0)
      fmt::print("  {:5.1f} % of the peak", 100 * part.multiply_adds / part.measured / peak);
    fmt::print("\n");
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
  using namespace assay;
  keep_freed_memory();
  SessionOptions options;
  options.threads = argc > 1 ? std::atoi(argv[1]) : 1;
  if (argc > 2) options.engine = argv[2];
  set_engine_threads(options.threads);
  const double peak = peak_multiply_adds() * options.threads;
  fmt::print("{} threads, peak {:.1f} multiply-adds a nanosecond\n", options.threads, peak);
  for (const auto& [name, of] : bench::cases()) {
    bench::NetworkMaker make("operator", of.channels, of.side);
    of.step(make);
    bench::measure(name, make.done(), options, peak);
  }
  for (const char* op : {"LSTM", "GRU"})
    bench::measure(fmt::format("{} of 128 units, 28 steps", op), bench::rows_of_digits(op, 128), options,
                   peak);
}
