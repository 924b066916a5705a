// Confirmed findings a second: many seeds at once against the published loop, one seed at a time, in the same
// run on the same threads. Occlusion by one rectangle with the paper's settings (lambda1 1, lambda2 0.1, step
// 10, 50 iterations). Usage: bench_explore [DATA MODEL MODEL MODEL] Without models: LeNet-1, LeNet-4 and
// LeNet-5 trained for two epochs on drawn digits, which are also the seeds.

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include <assay/coverage.h>
#include <assay/dataset.h>
#include <assay/explore.h>
#include <assay/model.h>
#include <assay/training.h>

namespace assay::bench {
namespace {

std::vector<Graph> networks(int argc, char** argv) {
  std::vector<Graph> graphs;
  for (int i = 2; i < argc; ++i) graphs.push_back(read_model(argv[i]));
  if (!graphs.empty()) return graphs;
  training::Recipe recipe;
  recipe.epochs = 2;
  const DatasetPtr digits = open_dataset("digits:6000");
  for (const char* name : {"lenet1", "lenet4", "lenet5"})
    graphs.push_back(
        training::train(training::architectures().find(name).build(), digits, nullptr, recipe, {}, silence())
            .graph);
  return graphs;
}

struct Turn {
  std::size_t findings = 0, iterations = 0;
  double seconds = 0;
};

Turn turn(const std::vector<explore::ExploredNetwork>& nets, const DatasetPtr& seeds,
          explore::ExploreOptions options) {
  const explore::Exploration result = explore::explore(nets, seeds, options, silence());
  const Turn seen{result.findings.size(), result.iterations, result.seconds};
  return seen;
}

void print(const char* name, const Turn& seen, const Turn& baseline) {
  const auto rate = [](const Turn& of) { return static_cast<double>(of.findings) / of.seconds; };
  fmt::print("{:<52} {:6} findings {:7} iterations {:8.2f} s {:8.1f} findings/s  ratio {:.1f}\n", name,
             seen.findings, seen.iterations, seen.seconds, rate(seen), rate(seen) / rate(baseline));
  std::fflush(stdout);
}

int main(int argc, char** argv) {
  keep_freed_memory();
  const std::string data = argc > 1 ? argv[1] : "digits:2000,seed=2";
  const DatasetPtr seeds = open_dataset(data), few = open_dataset(data + "[:60]");
  explore::ExploreOptions options;
  options.constraints = {parse_spec("constraint", "occl[size=10x10,at=0x0]")};
  coverage::LearnOptions learn;
  learn.criteria = {options.criterion};
  std::vector<std::unique_ptr<Session>> sessions;
  std::vector<explore::ExploredNetwork> nets;
  for (Graph& graph : networks(argc, argv)) {
    sessions.push_back(std::make_unique<Session>(std::move(graph)));
    nets.push_back({fmt::format("net{}", nets.size()), sessions.back().get(),
                    std::make_shared<const coverage::Profile>(
                        coverage::learn_profile(*sessions.back(), few, learn, silence()).profile)});
  }
  // One seed after the other, nothing made smaller, neurons chosen once: the loop as released.
  explore::ExploreOptions one = options;
  one.search.width = 1;
  one.round = 1;
  one.search.shrink = false;
  one.search.choose_once = true;
  const Turn baseline = turn(nets, few, one);
  print("baseline: one seed at a time (60 seeds)", baseline, baseline);
  print("many seeds at a time", turn(nets, seeds, options), baseline);
  options.search.patience = 5;
  print("the same, --patience 5", turn(nets, seeds, options), baseline);
  options.search.patience = 3;
  print("the same, --patience 3", turn(nets, seeds, options), baseline);
  options.round = 1024;
  print("the same, --patience 3 --round 1024", turn(nets, seeds, options), baseline);
  options.search.shrink = false;
  print("the same, --patience 3 --round 1024 --no-shrink", turn(nets, seeds, options), baseline);
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) { return assay::bench::main(argc, argv); }
