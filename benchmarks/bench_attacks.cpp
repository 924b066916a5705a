// Attacks against plain loops in PyTorch on whole batches, with equal settings, on a LeNet-5 trained for a
// moment on procedural digits. Usage: bench_attacks [threads [records [ATTACK]]]; needs
// /usr/bin/python3 with torch, and pytorch_attacks.py beside the source. Storing is not part of it on either
// side.

#include <assay/array_math.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <numeric>

#include <assay/dataset.h>
#include <assay/extend/attack_problem.h>
#include <assay/training.h>
#include "assay/attack/preparation.h"
#include "assay/data/files/numpy.h"
#include "assay/support/threads.h"
#include "benchmarks/pytorch.h"

namespace assay::bench {
namespace {

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

constexpr int runs = 3;  // of which the quickest counts, as of PyTorch's loops

// What PyTorch's loop took at its best batch size.
struct Loop {
  double seconds = 0, success = 0;
  int batch = 0;
};

Loop pytorch_loop(const std::filesystem::path& records, const Spec& spec, const SessionOptions& where) {
  const auto threads = static_cast<std::size_t>(where.threads);
  std::string arguments = fmt::format("{} {} {} cpu", records.string(), spec.name, threads);
  for (const auto& [name, value] : spec.options) arguments += fmt::format(" {}={}", name, value);
  const auto found = pytorch("pytorch_attacks.py", arguments, threads, 3);
  return {.seconds = found[0], .success = found[1], .batch = static_cast<int>(found[2])};
}

class Comparison {
 public:
  Comparison(const Session& session, DatasetPtr data, std::string only)
      : session_(session),
        data_(std::move(data)),
        plain_(session, *data_, {.target = "none"}),
        aimed_(session, *data_, {.target = "next"}),
        only_(std::move(only)),
        file_(std::filesystem::temp_directory_path() / fmt::format("bench_attacks_{}.npz", getpid())) {
    std::vector<std::size_t> indices(data_->size());
    std::iota(indices.begin(), indices.end(), std::size_t{0});
    batch_ = data_->read(indices);
    write_records();
  }
  ~Comparison() { std::filesystem::remove(file_); }

  void compare(const std::string& text) {
    if (!text.starts_with(only_)) return;
    const Spec spec = parse_spec("attack", text);
    const attack::Preparation& preparation = spec.name == "jsma" ? aimed_ : plain_;
    const attack::AttackProblem problem = preparation.problem(batch_);
    const auto attack = attack::make_attack(spec);
    constexpr std::int64_t together = 128;  // as `assay attack` does
    std::vector<attack::AttackProblem> batches;
    const Array every = array::arange(problem.size());
    for (std::int64_t i = 0; i < problem.size(); i += together)
      batches.push_back(problem.at(every.slice(0, i, i + together)));
    attack->perturb(preparation.network(), problem.at(every.slice(0, 0, 2)));  // compiles
    std::vector<Array> parts;
    double ours = std::numeric_limits<double>::infinity();
    for (int run = 0; run < runs; ++run) {
      parts.clear();
      ours = std::min(ours, seconds([&] {
                        for (const attack::AttackProblem& batch : batches)
                          parts.push_back(attack->perturb(preparation.network(), batch));
                      }));
    }
    const Array found = array::cat(parts);
    const Loop loop = pytorch_loop(file_, spec, session_.options());
    const auto count = static_cast<double>(problem.size());
    fmt::print(
        "{:42} {:9.1f} attacks/s, PyTorch {:8.1f} in batches of {:3}: {:.3f} of its time; success {:5.1f} %, "
        "PyTorch {:5.1f} %\n",
        text, count / ours, count / loop.seconds, loop.batch, ours / loop.seconds,
        100 * success(found, problem, spec.name == "jsma"), 100 * loop.success);
    std::fflush(stdout);
  }

 private:
  double success(const Array& points, const attack::AttackProblem& problem, bool aims) const {
    const ValueId input = session_.graph().inputs()[0], output = session_.graph().outputs()[0];
    const Array classes = session_.run({{input, points}}, std::span(&output, 1)).at(output).argmax(1);
    return (aims ? classes.eq(problem.targets) : classes.ne(problem.labels))
        .to(DType::float64)
        .mean()
        .item<double>();
  }

  // What the loop starts from: records, classes, classes aimed at, weights in the order of the layers.
  void write_records() const {
    const attack::AttackProblem problem = aimed_.problem(batch_);
    std::map<std::string, Array> arrays{
        {"x", problem.inputs}, {"y", problem.labels}, {"targets", problem.targets}};
    int next = 0;
    const Graph& graph = session_.graph();
    for (const Node& node : graph.nodes()) {
      for (std::size_t i = 1; i < node.inputs.size() && (node.op == "Conv" || node.op == "Gemm"); ++i)
        arrays.emplace(fmt::format("w{}", next++), graph.constant(node.inputs[i]));
    }
    write_npz(file_, arrays);
  }

  const Session& session_;
  DatasetPtr data_;
  attack::Preparation plain_, aimed_;
  std::string only_;
  std::filesystem::path file_;
  Batch batch_;
};

void run(int threads, std::size_t records, const std::string& only) {
  training::Recipe recipe;
  recipe.epochs = 2;
  recipe.batch = 64;
  const SessionOptions options{.threads = threads};
  const Session session(training::train(training::architectures().find("lenet5").build(),
                                        open_dataset("digits:3000"), nullptr, recipe, options, silence())
                            .graph,
                        options);
  Comparison comparison(session, open_dataset(fmt::format("digits:{},seed=2", records)), only);
  for (const char* attack : {"fgsm[eps=0.1]", "bim[eps=0.1,step=0.02,steps=10]",
                             "pgd[eps=0.1,step=0.01,steps=40]", "cw[search=3,iterations=200]", "jsma"})
    comparison.compare(attack);
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : static_cast<int>(assay::available_threads());
  assay::set_engine_threads(threads);
  assay::keep_freed_memory();
  assay::bench::run(threads, argc > 2 ? static_cast<std::size_t>(std::atoi(argv[2])) : 1000,
                    argc > 3 ? argv[3] : "");
}
