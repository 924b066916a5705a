// Forward passes, forward with input gradient and forward with every layer tapped, in turns with ONNX
// Runtime's forward pass at its best batch size. Usage: bench_forward THREADS RECORDS [MODEL.onnx...]; ONNX
// Runtime is what ASSAY_ONNXRUNTIME names: a command that is given model, records, threads and shape
// (side_by_side.sh sets it).

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <sstream>

#include <assay/model.h>
#include <assay/session.h>
#include <assay/training.h>
#include "benchmarks/networks.h"
#include "benchmarks/records.h"

namespace assay::bench {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

double microseconds(std::int64_t records, const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
  return took.count() / static_cast<double>(records);
}

struct Peer {
  double microseconds = never;
  std::string remark;
};

Peer onnxruntime(const std::string& model, std::int64_t records, int threads, const Shape& shape) {
  const char* command = std::getenv("ASSAY_ONNXRUNTIME");
  if (command == nullptr) return {};
  std::string record;
  for (std::size_t d = 1; d < shape.size(); ++d) record += fmt::format("{}{}", d > 1 ? "x" : "", shape[d]);
  FILE* const pipe =
      popen(fmt::format("{} '{}' {} {} {}", command, model, records, threads, record).c_str(), "r");
  if (pipe == nullptr) return {};
  std::string text;
  for (int c; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  pclose(pipe);
  std::istringstream stream(text);
  Peer peer;
  std::string batch, version;
  if (stream >> peer.microseconds >> batch >> version)
    peer.remark = fmt::format("ONNX Runtime {} in batches of {}", version, batch);
  else
    peer.microseconds = never;
  return peer;
}

void compare(const std::string& path, std::int64_t records, int threads) {
  const Session session(read_model(path), {.threads = threads});
  const ValueId input = session.graph().inputs()[0], output = session.graph().outputs()[0];
  Shape shape = session.shape(input);
  const auto batch = static_cast<std::int64_t>(session.preferred_batch());
  shape[0] = std::max(batch, records / batch * batch);
  const Array all = random_records(shape);
  const auto in_batches = [&](const std::function<void(const Tensors&)>& work) {
    return microseconds(shape[0], [&] {
      for (std::int64_t i = 0; i < shape[0]; i += batch) work({{input, all.slice(0, i, i + batch)}});
    });
  };
  const std::vector<Tap> taps = taps_of(session.layers(), Reduction::mean);
  const RecordObjective total{.read = {output}, .numbers = 1, .gradients = [](auto, auto, auto gradients) {
                                for (float& gradient : gradients) gradient += 1;
                              }};
  double forward = never, gradient = never, tapped = never;
  Peer peer;
  for (int round = 0; round < 3; ++round) {  // in turns, so that a slow spell of the machine meets all
    for (int i = 0; i < 2; ++i) {
      forward = std::min(
          forward, in_batches([&](const Tensors& given) { session.run(given, std::span(&output, 1)); }));
      gradient = std::min(gradient, in_batches([&](const Tensors& given) {
                            session.gradients(given, total, std::span(&input, 1));
                          }));
      tapped = std::min(tapped, in_batches([&](const Tensors& given) {
                          session.observe(given, taps, std::span(&output, 1));
                        }));
    }
    const Peer again = onnxruntime(path, shape[0], threads, shape);
    if (again.microseconds < peer.microseconds) peer = again;
  }
  fmt::print("{:28} forward {:9.2f} us  gradient/forward {:5.2f}  tapped/forward {:5.2f}",
             session.graph().name().substr(0, 28), forward, gradient / forward, tapped / forward);
  if (peer.microseconds < never)
    fmt::print("  {} {:9.2f} us  forward/peer {:5.2f}", peer.remark, peer.microseconds,
               forward / peer.microseconds);
  fmt::print("\n");
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  const std::int64_t records = argc > 2 ? std::atoll(argv[2]) : 4096;
  assay::set_engine_threads(threads);
  assay::keep_freed_memory();
  fmt::print("{} threads\n", threads);
  if (argc > 3) {
    for (int i = 3; i < argc; ++i) assay::bench::compare(argv[i], records, threads);
    return 0;
  }
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / fmt::format("assay-bench-{}", threads);
  std::filesystem::create_directories(folder);
  using assay::training::build_architecture;
  // Large networks run on fewer records.
  const std::pair<assay::Graph, std::int64_t> cases[] = {
      {build_architecture("lenet1"), records},
      {build_architecture("lenet4"), records},
      {build_architecture("lenet5"), records},
      {assay::bench::acas(), 4 * records},
      {assay::bench::resnet(), records / 4},
      {build_architecture("deepmutation-c"), records / 16},
      {build_architecture("dave2"), records / 16},
      {assay::bench::vgg(), records / 16},
      {assay::bench::resnet18(), records / 32},
      {assay::bench::rows_of_digits("LSTM", 128), records},
      {assay::bench::rows_of_digits("GRU", 64), records},
      {assay::bench::transformer_of_rows(32, 4, 2), records / 2},
      {assay::bench::transformer_of_rows(64, 4, 2), records / 4},
      {assay::bench::transformer_of_rows(64, 4, 2, /*steps_first=*/true), records / 4}};
  for (const auto& [graph, some] : cases) {
    const std::filesystem::path path = folder / (graph.name() + ".onnx");
    assay::write_onnx(graph, path.string());
    assay::bench::compare(path.string(), std::max<std::int64_t>(some, 1), threads);
  }
  std::filesystem::remove_all(folder);
}
