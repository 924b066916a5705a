// What sharing work among ranks costs. The program by 1, 2, 4, 8 ranks of mpirun with one thread each,
// against itself without a launcher. Efficiency is processor time: of one process, as a share of that of all
// ranks, both less what starting takes. Time by the clock is beside it; on a machine of few cores it tells
// nothing about many machines. Then states of ImageNet's size, 50,000 neurons by 1,000 sections and 1.3
// million records: their bytes, and the time of merging two; in a tree each rank sends its own once. Last,
// from both, what a run costs by up to 1,000 ranks. Usage: bench_cluster PROGRAM [records [neurons
// [sections]]]

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include <assay/coverage_state.h>
#include <assay/extend/random.h>
#include "assay/support/files/binary.h"
#include "assay/support/ranks/local_transport.h"
#include "assay/support/ranks/ranks.h"
#include "assay/support/threads.h"

namespace assay::bench {
namespace {

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Processor time of all processes that have been waited for.
double processor_of_children() {
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  const auto of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

void run_or_die(const std::string& command) {
  if (std::system(command.c_str()) == 0) return;
  fmt::print(stderr, "failed: {}\n", command);
  std::exit(1);
}

// Processor time by number of ranks; 0: without a launcher.
using Times = std::map<int, double>;

// `start`: what starting alone takes, which is left out of the efficiency.
Times time_ranks(const std::string& name, const std::string& command, const Times& start = {}) {
  Times times;
  for (const int ranks : {0, 1, 2, 4, 8}) {
    const std::string launcher =
        ranks == 0 ? ""
                   : fmt::format("mpirun --allow-run-as-root --oversubscribe --bind-to none -n {} ", ranks);
    const double before = processor_of_children();
    const double taken = seconds([&] { run_or_die(launcher + command + " --threads 1 --quiet >/dev/null"); });
    times[ranks] = processor_of_children() - before;
    fmt::print("  {:10} {:11} processor {:6.2f} s, by the clock {:6.2f} s", name,
               ranks == 0 ? "no launcher" : fmt::format("{} ranks", ranks), times[ranks], taken);
    if (!start.empty())
      fmt::print(", efficiency {:.2f}", (times[0] - start.at(0)) / (times[ranks] - start.at(ranks)));
    fmt::print("\n");
    std::fflush(stdout);
  }
  return times;
}

void time_program(const std::string& program, std::size_t records) {
  const auto folder =
      std::filesystem::temp_directory_path() / fmt::format("assay-bench-cluster-{}", ::getpid());
  std::filesystem::create_directories(folder);
  std::filesystem::current_path(folder);
  run_or_die(program +
             " train --architecture lenet5 --data digits:1000 --epochs 1 --out net.onnx --quiet >/dev/null");
  run_or_die(fmt::format("{} data digits:{} --write data.npz >/dev/null", program, records));
  fmt::print("LeNet-5, {} records, one thread a rank, {} cores\n", records, available_threads());
  const Times start = time_ranks("start", program + " evaluate --model net.onnx --data 'data.npz[:100]'");
  time_ranks("importance", program + " importance --model net.onnx --data data.npz", start);
  time_ranks("cover",
             program + " cover --model net.onnx --train 'data.npz[:2000]' --test data.npz --criterion kmnc",
             start);
  time_ranks(
      "mutate",
      fmt::format("{} mutate --model net.onnx --test 'data.npz[:{}]' --count 100", program, records / 8),
      start);
  std::filesystem::current_path("/");
  std::filesystem::remove_all(folder);
}

std::shared_ptr<const coverage::Profile> wide_profile(std::size_t neurons) {
  auto profile = std::make_shared<coverage::Profile>();
  profile->model_hash = profile->data_hash = std::string(32, '0');
  profile->records = 1;
  coverage::LayerStatistics layer;
  layer.layer = "wide";
  layer.low.assign(neurons, 0.0F);
  layer.high.assign(neurons, 1.0F);
  layer.mean.assign(neurons, 0.5);
  layer.deviation.assign(neurons, 0.3);
  for (std::size_t n = 0; n < neurons; ++n) layer.same_as.push_back(static_cast<std::uint32_t>(n));
  profile->statistics.push_back(std::move(layer));
  return profile;
}

// A rank's state after `records` records, those from `first` on.
coverage::CoverageState state_of(const std::shared_ptr<const coverage::Profile>& profile,
                                 std::size_t sections, std::size_t first, std::size_t records) {
  coverage::CoverageState state(profile, {fmt::format("kmnc[sections={}]", sections)}, false);
  coverage::CoveragePart& part = state.part("", "data", "data", 1'300'000);
  auto& criteria = state.criteria(part, coverage::every_class);
  const std::size_t neurons = profile->statistics[0].neurons();
  Rng rng(1, {first});
  for (std::size_t r = 0; r < records; ++r) {
    std::vector<Activations> layers{{1, neurons, std::vector<float>(neurons)}};
    for (float& value : layers[0].values) value = static_cast<float>(rng.uniform());
    const std::size_t index = first + r;
    criteria[0]->observe({.indices = {&index, 1}, .layers = layers});
  }
  part.walked.add(first, first + records);
  part.records = records;
  return state;
}

struct MergeCost {
  double bytes = 0, seconds = 0;  // of one state; of taking in another one
};

MergeCost time_merging(std::size_t neurons, std::size_t sections) {
  const auto profile = wide_profile(neurons);
  const coverage::CoverageState other = state_of(profile, sections, 1000, 200);
  coverage::CoverageState mine = state_of(profile, sections, 0, 200),
                          scratch = state_of(profile, sections, 0, 0);
  std::string bytes;
  const double saving = seconds([&] { bytes = to_bytes(other.save()); });
  const double loading = seconds([&] { scratch.load(from_bytes(bytes)); });
  const double merging = seconds([&] { mine.merge(scratch); });
  fmt::print(
      "state of {} neurons by {} sections: {:.1f} MB; written in {:.2f} s, read in {:.2f} s, merged in "
      "{:.2f} s\n",
      neurons, sections, 1e-6 * static_cast<double>(bytes.size()), saving, loading, merging);
  return {static_cast<double>(bytes.size()), saving + loading + merging};
}

// Bytes that each of 8 ranks sends for so many pieces and one state.
void count_bytes(std::size_t pieces, double state) {
  constexpr std::size_t size = 8;
  const auto network = std::make_shared<LocalNetwork>(size);
  {
    std::vector<std::jthread> threads;
    for (std::size_t r = 0; r < size; ++r) {
      threads.emplace_back([&, r] {
        Ranks all(make_local_transport(network, r));
        const RanksScope scope(all);
        SharedLoop loop(
            all, pieces, [](std::size_t, std::string_view) {}, SharedLoop::Order::as_they_come);
        while (const auto piece = loop.next()) {
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
          loop.give(*piece, {});
        }
        loop.finish();
        all.gather([](std::string_view) {},
                   [&] { return std::string(static_cast<std::size_t>(state), 'x'); });
        all.close();
      });
    }
  }
  fmt::print("{} pieces and such a state by {} ranks: bytes sent by rank 0 {}", pieces, size,
             network->sent(0));
  for (std::size_t r = 1; r < size; ++r) fmt::print(", {} {}", r, network->sent(r));
  fmt::print("\n");
}

// Coverage of 1.3 million records. Each rank reads them all once, for the hash that names them, before it
// runs its part; learning a profile sends every activation to the first rank.
void model(const MergeCost& cost, std::size_t neurons) {
  constexpr double records = 1.3e6, rate = 20, reading = 2000, bandwidth = 1e9;
  fmt::print("model: {:.1f} million records, a rank reads {} a second and runs {}; 1 GB/s\n", 1e-6 * records,
             reading, rate);
  const double activations = 4 * static_cast<double>(neurons) * records / bandwidth;
  for (const int ranks : {1, 2, 4, 8, 16, 64, 256, 1000}) {
    const double work = records / rate / ranks;
    const double tree = std::ceil(std::log2(ranks)) * (cost.bytes / bandwidth + cost.seconds);
    fmt::print("  {:5} ranks: hash {:4.0f} s, measuring {:7.0f} s, merging {:4.1f} s; learning {:7.0f} s\n",
               ranks, records / reading, work, tree, ranks == 1 ? work : std::max(work, activations));
  }
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
  using namespace assay::bench;
  if (argc < 2) {
    fmt::print(stderr, "usage: bench_cluster PROGRAM [records [neurons [sections]]]\n");
    return 1;
  }
  const auto argument = [&](int i, std::size_t otherwise) {
    return argc > i ? std::strtoull(argv[i], nullptr, 10) : otherwise;
  };
  const std::size_t records = argument(2, 80'000), neurons = argument(3, 50'000),
                    sections = argument(4, 1'000);
  const MergeCost cost = time_merging(neurons, sections);
  count_bytes(1000, cost.bytes);
  model(cost, neurons);
  time_program(std::filesystem::absolute(argv[1]).string(), records);
}
