// The full killing matrix of DeepMutation's eight operators: mutants a second by replay against re-running the whole network
// for each mutant, both in one run, and the same verdicts.
// Usage: bench_mutation [MODEL.onnx DATA [mutants per operator [every n-th mutant is run naively [whole]]]]; with "whole" the
// sites of a mutant are drawn over all layers together.
// Without a model: LeNet-5 trained for two epochs on drawn digits with 10,000 of them as records, and DeepMutation's network
// C with fresh weights on 1,000 random pictures.

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>

#include "assay/model/model.h"
#include "assay/mutation/draw.h"
#include "assay/mutation/run.h"
#include "assay/training/architectures.h"
#include "assay/training/trainer.h"

namespace assay::bench {
namespace {

class Pictures final : public Dataset {
 public:
  explicit Pictures(std::int64_t count) : values_(at::rand({count, 3 * 32 * 32})) {}
  std::size_t size() const override { return static_cast<std::size_t>(values_.size(0)); }
  Shape record_shape() const override { return {3, 32, 32}; }
  DType dtype() const override { return DType::float32; }
  std::string id(std::size_t i) const override { return std::to_string(i); }
  bool has_labels() const override { return false; }
  std::int64_t label(std::size_t) const override { return 0; }
  std::size_t class_count() const override { return 0; }
  std::vector<std::string> class_names() const override { return {}; }
  std::size_t target_width() const override { return 0; }
  std::optional<ValidRange> valid_range() const override { return std::nullopt; }
  Batch read(std::span<const std::size_t> indices) const override {
    std::vector<float> rows;
    const std::int64_t width = values_.size(1);
    for (const std::size_t i : indices) rows.insert(rows.end(), values_.data_ptr<float>() + static_cast<std::int64_t>(i) * width, values_.data_ptr<float>() + static_cast<std::int64_t>(i + 1) * width);
    Batch batch;
    batch.indices.assign(indices.begin(), indices.end());
    batch.inputs = Array::of<float>({static_cast<std::int64_t>(indices.size()), 3, 32, 32}, rows);
    return batch;
  }
  std::string hash() const override { return "random"; }
  std::string describe() const override { return "random pictures"; }

 private:
  at::Tensor values_;
};

struct Turn {
  double seconds = 0;
  RunFigures figures;
  std::vector<MutationState> states;
};

// `known`: a first run with no mutants tells what reading the data and running the original cost, which is left out.
Turn timed(const Session& session, const DatasetPtr& data, const std::vector<PlannedMutant>& mutants, bool naive) {
  const auto run = [&](const std::vector<PlannedMutant>& some, Turn& turn) {
    const auto start = std::chrono::steady_clock::now();
    turn.states.push_back(run_mutants(session, some, data, {.quality = 2, .naive = naive, .memory = 2e9}, nullptr, turn.figures, silence()));
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  Turn survey, turn;
  const double before = run({}, survey);
  turn.seconds = run(mutants, turn) - before;
  return turn;
}

void measure(const Graph& graph, const DatasetPtr& data, std::size_t per_operator, std::size_t every, bool each, bool whole_network = false) {
  const Session session(graph);
  const Subject subject(session);
  DrawOptions draw;
  draw.per_operator = per_operator;
  draw.seed = 1;
  draw.whole_network = whole_network;
  for (const std::string& text : find_mutation_preset("deepmutation").operators) draw.operators.push_back(parse_spec("operator", text));
  const Drawn drawn = draw_mutants(subject, draw);
  std::vector<PlannedMutant> all, some;
  std::map<std::string, std::vector<PlannedMutant>> by_operator;
  for (std::size_t i = 0; i < drawn.mutants.size(); ++i) {
    const Mutant& mutant = drawn.mutants[i];
    MutantOutcome who;
    who.id = mutant.id();
    who.op = mutant.op.text();
    who.operator_name = mutant.op.name;
    who.layer = mutant.layer;
    who.seed = mutant.seed;
    all.push_back({who, [&subject, mutant] { return apply(subject, mutant).graph; }});
    if (i % every == 0) some.push_back(all.back());
    by_operator[who.operator_name].push_back(all.back());
  }
  const Turn fast = timed(session, data, all, false), naive = timed(session, data, some, true);
  const double fast_rate = static_cast<double>(all.size()) / fast.seconds, naive_rate = static_cast<double>(some.size()) / naive.seconds;
  std::size_t different = 0;
  for (const MutantOutcome& slow : naive.states[0].mutants()) {
    for (const MutantOutcome& quick : fast.states[0].mutants()) different += slow.key() == quick.key() && !(slow.killed == quick.killed);
  }
  fmt::print("{}, {} records: {} mutants, {:.1f} a second; naive {:.2f} a second ({} of them); ratio {:.2f}; {} verdicts, {} untouched, {} settled whole; {} mutants differ\n",
             graph.name(), data->size(), all.size(), fast_rate, naive_rate, some.size(), fast_rate / naive_rate, fast.figures.ran, fast.figures.untouched, fast.figures.settled, different);
  for (const auto& [name, list] : by_operator) {
    if (!each) break;
    const Turn turn = timed(session, data, list, false);
    fmt::print("  {:5} {:3} mutants, ratio {:.2f}\n", name, list.size(), static_cast<double>(list.size()) / turn.seconds / naive_rate);
  }
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
  using namespace assay;
  keep_freed_memory();
  const auto number = [&](int i, std::size_t fallback) { return argc > i ? static_cast<std::size_t>(std::atoi(argv[i])) : fallback; };
  if (argc > 2) {
    bench::measure(read_model(argv[1]), open_dataset(argv[2]), number(3, 50), number(4, 1), true, argc > 5 && std::string(argv[5]) == "whole");
    return 0;
  }
  Recipe recipe;
  recipe.optimiser = "adam";
  recipe.learning_rate = 1e-3;
  recipe.epochs = 2;
  bench::measure(train(build_architecture("lenet5"), open_dataset("digits:12000"), nullptr, recipe, {}, silence()).graph, open_dataset("digits:10000,seed=3"), 50, 4, false);
  bench::measure(initialise(build_architecture("deepmutation-c"), "keras", 1), std::make_shared<bench::Pictures>(1000), 50, 20, false);
}
