// Eleven criteria in one pass over all layers of LeNet-1, 4 and 5, with padded convolutions as in
// DeepXplore's and without as in DeepImportance's, against the plain forward pass over the same 10,000
// records, and combining states at the speed of memory. Processor time is beside the time by the clock, since
// it is the steadier of the two where others use the machine. Usage: bench_coverage [threads [together]];
// "together" leaves out each criterion alone.

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <limits>

#include <assay/coverage.h>
#include <assay/dataset.h>
#include <assay/tensor_records.h>
#include <assay/training.h>
#include "assay/support/threads.h"
#include "benchmarks/networks.h"
#include "benchmarks/records.h"

namespace assay::bench {
namespace {

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The least of several turns, by the clock and of processor time.
struct Least {
  double seconds = std::numeric_limits<double>::infinity(), processor = seconds;
  void turn(const std::function<void()>& work) {
    const std::clock_t start = std::clock();
    seconds = std::min(seconds, bench::seconds(work));
    processor = std::min(processor, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
};

// Records in memory, so that reading costs nothing but a copy. With targets, all count for importance.
DatasetPtr records(std::int64_t count) {
  return from_tensors(random_records({count, 1, 28, 28}), {},
                      {.targets = Array::zeros(DType::float32, {count, 10})});
}

void run(const Graph& graph, int threads, bool each) {
  const Session session(graph, {.threads = threads});
  coverage::LearnOptions learn;
  for (const char* text :
       {"nc", "kmnc", "nbc", "snac", "tknc", "bknc", "tknp", "nlc", "ss", "idc[m=6]", "idc[m=12]"})
    learn.criteria.push_back(parse_spec("criterion", text));
  const auto profile = std::make_shared<const coverage::Profile>(
      coverage::learn_profile(session, records(2000), learn, silence()).profile);
  const auto test = records(10000);
  const ValueId output = graph.outputs()[0];
  Least forward, covered, figures;
  std::map<std::string, Least> alone;
  for (int round = 0; round < 5; ++round) {  // in turn, so that a slow spell of the machine meets all
    forward.turn([&] {
      walk(session, test, {}, silence(),
           [&](const Batch&, const Tensors& given) { session.run(given, std::span(&output, 1)); });
    });
    coverage::CoverageState state(profile, learn.criteria, false);
    covered.turn([&] { coverage::measure(session, state, test, {}, silence()); });
    figures.turn([&] { state.figures(); });
    for (const auto& criterion : learn.criteria) {
      if (!each) break;
      coverage::CoverageState one(profile, {criterion}, false);
      alone[criterion.spec().text()].turn([&] { coverage::measure(session, one, test, {}, silence()); });
    }
  }
  const auto line = [&](const std::string& name, const Least& least) {
    fmt::print("  {:12} {:.3f} s, ratio {:.2f}; processor {:.3f} s, ratio {:.2f}\n", name, least.seconds,
               least.seconds / forward.seconds, least.processor, least.processor / forward.processor);
  };
  fmt::print("{}, 10000 records, {} criteria\n", graph.name(), learn.criteria.size());
  line("forward", forward);
  line("all criteria", covered);
  line("figures", figures);
  for (const auto& [name, least] : alone) line(name, least);
}

void merge_states() {
  // Ten thousand neurons with a thousand sections each.
  coverage::Profile wide;
  const std::vector<float> low(10000, 0.0F), high(10000, 1.0F);
  std::vector<std::uint32_t> own(10000);
  for (std::uint32_t i = 0; i < own.size(); ++i) own[i] = i;
  wide.statistics.push_back(
      {"wide", "Gemm", low, high, std::vector<double>(10000), std::vector<double>(10000), own});
  const auto a = coverage::make_criterion(wide, parse_spec("criterion", "kmnc")),
             b = coverage::make_criterion(wide, parse_spec("criterion", "kmnc"));
  double merge = std::numeric_limits<double>::infinity();
  for (int round = 0; round < 20; ++round) merge = std::min(merge, seconds([&] { a->merge(*b); }));
  const std::size_t bytes = a->save()[0].get_binary().size();
  fmt::print("10 million sections: {} bytes, {:.3f} bytes a section, merged in {:.2f} ms ({:.1f} GB/s)\n",
             bytes, static_cast<double>(bytes) / 1e7, merge * 1e3,
             3 * static_cast<double>(bytes) / merge / 1e9);
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : static_cast<int>(assay::available_threads());
  assay::set_engine_threads(threads);
  assay::keep_freed_memory();
  fmt::print("{} threads\n", threads);
  for (const char* name : {"lenet1", "lenet4", "lenet5"})
    assay::bench::run(assay::training::build_architecture(name), threads, false);
  assay::bench::run(assay::bench::lenet5(), threads, argc <= 2);
  assay::bench::merge_states();
}
