// Training against PyTorch's own loop on the same machine, libraries and threads: LeNet-5, DeepMutation's
// networks B and C and a small ResNet at batches of 32, 128 and 256. Usage: bench_training [THREADS [PAIRS
// [RECORDS [NETWORK]]]]; needs /usr/bin/python3 with torch, and pytorch_training.py beside the source. Runs
// come in pairs, one of each, and the median of the pairs' ratios counts: seconds and processor seconds.
// Below 1 Assay is faster.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include <assay/records.h>
#include <assay/tensor.h>
#include <assay/training.h>
#include "benchmarks/networks.h"
#include "benchmarks/pytorch.h"
#include "benchmarks/records.h"

namespace assay::bench {
namespace {

struct Seconds {
  double wall = 0, processor = 0;
};

Seconds now() {
  timespec cpu{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
  const auto wall = std::chrono::steady_clock::now().time_since_epoch();
  return {std::chrono::duration<double>(wall).count(),
          static_cast<double>(cpu.tv_sec) + 1e-9 * static_cast<double>(cpu.tv_nsec)};
}

struct Case {
  std::string name;
  Graph graph;
  Shape shape;
};

struct Setting {
  int threads = 2;
  std::int64_t records = 4096;
  std::size_t batch = 32, epochs = 1;
};

Seconds assay_epochs(const Case& of, const Setting& setting) {
  Shape shape{setting.records};
  shape.insert(shape.end(), of.shape.begin(), of.shape.end());
  std::vector<std::int64_t> labels(static_cast<std::size_t>(setting.records));
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int64_t>(i * 7 % 10);
  const DatasetPtr data = from_arrays(random_records(shape), labels);
  const training::Recipe recipe{
      .optimiser = "adam", .batch = setting.batch, .epochs = setting.epochs, .initialiser = "pytorch"};
  const Seconds start = now();
  training::train(of.graph, data, nullptr, recipe, {.threads = setting.threads}, silence());
  const Seconds end = now();
  return {end.wall - start.wall, end.processor - start.processor};
}

Seconds pytorch_epochs(const Case& of, const Setting& setting) {
  const auto found = pytorch(
      "pytorch_training.py",
      fmt::format("{} {} {} {} {}", of.name, setting.batch, setting.records, setting.epochs, setting.threads),
      static_cast<std::size_t>(setting.threads), 2);
  return {found[0], found[1]};
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

void measure(const Case& of, const Setting& setting, int pairs) {
  std::vector<double> wall, processor, epochs;
  for (int pair = 0; pair < pairs; ++pair) {
    const Seconds ours = assay_epochs(of, setting), theirs = pytorch_epochs(of, setting);
    wall.push_back(ours.wall / theirs.wall);
    processor.push_back(ours.processor / theirs.processor);
    epochs.push_back(ours.wall / static_cast<double>(setting.epochs));
  }
  fmt::print(
      "{:15} batch {:3}: {:6.2f} epochs/s of {} records; {:.2f} times PyTorch's seconds, {:.2f} times its "
      "processor seconds\n",
      of.name, setting.batch, 1 / median(epochs), setting.records, median(wall), median(processor));
  std::fflush(stdout);
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
  using namespace assay;
  using namespace assay::bench;
  keep_freed_memory();
  Setting setting;
  if (argc > 1) setting.threads = std::atoi(argv[1]);
  const int pairs = argc > 2 ? std::atoi(argv[2]) : 5;
  if (argc > 3) setting.records = std::atoll(argv[3]);
  const std::string only = argc > 4 ? argv[4] : "";
  const Case cases[] = {{"lenet5", training::build_architecture("lenet5"), {1, 28, 28}},
                        {"deepmutation-b", training::build_architecture("deepmutation-b"), {1, 28, 28}},
                        {"deepmutation-c", training::build_architecture("deepmutation-c"), {3, 32, 32}},
                        {"resnet", resnet(), {3, 32, 32}}};
  for (const Case& of : cases) {
    if (!only.empty() && only != of.name) continue;
    setting.epochs = of.name == "lenet5" ? 3 : 1;
    for (const std::size_t batch : {32, 128, 256}) {
      setting.batch = batch;
      measure(of, setting, pairs);
    }
  }
}
