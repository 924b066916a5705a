// The full killing matrix of DeepMutation's eight operators: mutants a second by replay against re-running
// the whole network for each mutant, both in one run, and the same verdicts. Usage: bench_mutation
// [MODEL.onnx DATA [mutants per operator [every n-th mutant is run naively [whole]]]]; with
// "whole" the sites of a mutant are drawn over all layers together. Without a model: LeNet-5 trained for two
// epochs on drawn digits with 10,000 of them as records, and DeepMutation's network C with fresh weights on
// 1,000 random pictures, compared with whole networks in PyTorch: one pass over the records for every mutant,
// on as many threads and at its best batch size (needs /usr/bin/python3 with torch, and pytorch_forward.py
// next to the source).

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>

#include <assay/dataset.h>
#include <assay/model.h>
#include <assay/mutation.h>
#include <assay/tensor_records.h>
#include <assay/training.h>
#include "assay/support/threads.h"
#include "benchmarks/pytorch.h"
#include "benchmarks/records.h"

namespace assay::bench {
namespace {

DatasetPtr pictures(std::int64_t count) { return from_tensors(random_records({count, 3, 32, 32})); }

struct Turn {
  double seconds = 0;
  mutation::RunFigures figures;
  std::vector<mutation::MutationState> states;
};

// A first run with no mutants tells what reading the data and running the original cost, which is
// left out.
Turn timed(const Session& session, const DatasetPtr& data,
           const std::vector<mutation::PlannedMutant>& mutants, bool naive) {
  const auto run = [&](const std::vector<mutation::PlannedMutant>& some, Turn& turn) {
    const auto start = std::chrono::steady_clock::now();
    turn.states.push_back(mutation::run_mutants(session, some, data,
                                                {.quality = 2, .naive = naive, .memory = 2e9}, nullptr,
                                                turn.figures, silence()));
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  Turn survey, turn;
  const double before = run({}, survey);
  turn.seconds = run(mutants, turn) - before;
  return turn;
}

// `twin`: the network's name among PyTorch's, if it is there.
void measure(const Graph& graph, const DatasetPtr& data, std::size_t per_operator, std::size_t every,
             bool each, bool whole_network = false, const std::string& twin = "") {
  const Session session(graph);
  const mutation::Subject subject(session);
  mutation::DrawOptions draw;
  draw.per_operator = per_operator;
  draw.seed = 1;
  draw.whole_network = whole_network;
  for (const std::string& text : mutation::presets().find("deepmutation").specs)
    draw.operators.push_back(parse_spec("operator", text));
  const mutation::Drawn drawn = mutation::draw_mutants(subject, draw);
  std::vector<mutation::PlannedMutant> all, some;
  std::map<std::string, std::vector<mutation::PlannedMutant>> by_operator;
  for (std::size_t i = 0; i < drawn.mutants.size(); ++i) {
    const mutation::Mutant& mutant = drawn.mutants[i];
    mutation::MutantOutcome who;
    who.id = mutant.id();
    who.op = mutant.op.text();
    who.operator_name = mutant.op.name;
    who.layer = mutant.layer;
    who.seed = mutant.seed;
    all.push_back({who, [&subject, mutant] { return mutation::apply(subject, mutant).graph; }});
    if (i % every == 0) some.push_back(all.back());
    by_operator[who.operator_name].push_back(all.back());
  }
  const Turn fast = timed(session, data, all, false), naive = timed(session, data, some, true);
  const double fast_rate = static_cast<double>(all.size()) / fast.seconds,
               naive_rate = static_cast<double>(some.size()) / naive.seconds;
  std::size_t different = 0;
  for (const mutation::MutantOutcome& slow : naive.states[0].mutants()) {
    for (const mutation::MutantOutcome& quick : fast.states[0].mutants())
      different += slow.key() == quick.key() && !(slow.killed == quick.killed);
  }
  fmt::print(
      "{}, {} records: {} mutants, {:.1f} a second; naive {:.2f} a second ({} of them); ratio {:.2f}; {} "
      "verdicts, {} untouched, {} settled whole; {} mutants differ\n",
      graph.name(), data->size(), all.size(), fast_rate, naive_rate, some.size(), fast_rate / naive_rate,
      fast.figures.ran, fast.figures.untouched, fast.figures.settled, different);
  if (!twin.empty()) {
    const std::size_t threads = available_threads();
    const double pass = pytorch("pytorch_forward.py",
                                fmt::format("{} {} {} cpu", twin, data->size(), threads), threads, 1)[0];
    fmt::print("  {:.1f} times as fast as whole networks in PyTorch\n", fast_rate * pass);
  }
  for (const auto& [name, list] : by_operator) {
    if (!each) break;
    const Turn turn = timed(session, data, list, false);
    fmt::print("  {:5} {:3} mutants, ratio {:.2f}\n", name, list.size(),
               static_cast<double>(list.size()) / turn.seconds / naive_rate);
  }
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
  using namespace assay;
  keep_freed_memory();
  const auto number = [&](int i, std::size_t fallback) {
    return argc > i ? static_cast<std::size_t>(std::atoi(argv[i])) : fallback;
  };
  if (argc > 2) {
    bench::measure(read_model(argv[1]), open_dataset(argv[2]), number(3, 50), number(4, 1), true,
                   argc > 5 && std::string(argv[5]) == "whole");
    return 0;
  }
  training::Recipe recipe;
  recipe.optimiser = "adam";
  recipe.learning_rate = 1e-3;
  recipe.epochs = 2;
  bench::measure(training::train(training::architectures().find("lenet5").build(),
                                 open_dataset("digits:12000"), nullptr, recipe, {}, silence())
                     .graph,
                 open_dataset("digits:10000,seed=3"), 50, 4, false, false, "lenet5");
  bench::measure(training::initialise(training::architectures().find("deepmutation-c").build(), "keras", 1),
                 bench::pictures(1000), 50, 20, false, false, "deepmutation-c");
}
