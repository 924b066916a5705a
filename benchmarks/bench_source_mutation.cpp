// Training the mutants of a study: 40 data mutants of LeNet-5 on 5,000 drawn digits for 3 epochs, several at
// a time into a store, against training them one after another with the plain trainer on the same threads,
// both in one run; and the same weights as the plain trainer gives on one thread. Usage:
// bench_source_mutation [MUTANTS [RECORDS [EPOCHS [BATCH]]]]

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include <assay/error.h>
#include <assay/source_mutation.h>
#include "assay/support/threads.h"

namespace assay::bench {
namespace {

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void measure(std::size_t count, std::size_t records, std::size_t epochs, std::size_t batch) {
  mutation::Program program;
  program.graph = training::build_architecture("lenet5");
  program.training = open_dataset(fmt::format("digits:{}", records));
  program.training->hash();
  program.recipe.epochs = epochs;
  program.recipe.batch = batch;
  const Session session(program.graph);
  const mutation::Subject subject(session);
  const mutation::Drawn drawn = mutation::draw_mutants(
      program, subject,
      {.operators = {"dr", "le", "dm", "np"}, .per_operator = (count + 3) / 4, .layers = {}, .seed = 1});
  // `from`: the program that reads its data anew, or that which holds them.
  const auto jobs_of = [&](const mutation::Program& from) {
    std::vector<mutation::TrainingJob> jobs;
    for (const mutation::Mutant& mutant : drawn.mutants)
      jobs.push_back({.what = mutant.text(), .mutant = mutant, .make = [&, mutant] {
                        return mutation::apply(from, subject, mutant).program;
                      }});
    return jobs;
  };
  const mutation::Program held = mutation::with_data_in_memory(program);
  const auto train = [&](const mutation::TrainingJob& job, int threads) {
    const mutation::Program one = job.make();
    return training::train(one.graph, one.training, one.validation, one.recipe, {.threads = threads},
                           silence())
        .graph;
  };
  const std::vector<mutation::TrainingJob> jobs = jobs_of(program), shared = jobs_of(held);
  train(jobs[0], 0);  // warm
  const auto one_after_another = [&](const std::vector<mutation::TrainingJob>& all) {
    return seconds_of([&] {
      for (const mutation::TrainingJob& job : all) train(job, 0);
    });
  };
  const double plain = one_after_another(jobs), from_memory = one_after_another(shared);
  const auto folder =
      std::filesystem::temp_directory_path() / fmt::format("bench_source_mutation_{}", getpid());
  std::vector<mutation::Trained> trained;
  const double together =
      seconds_of([&] { trained = mutation::train_programs(shared, {.store = folder}, silence()); });
  const double again = seconds_of([&] { mutation::train_programs(shared, {.store = folder}, silence()); });
  const bool same = mutation::TrainedStore(folder).find(trained[0].key)->hash() == train(jobs[0], 1).hash();
  std::filesystem::remove_all(folder);
  fmt::print(
      "{} data mutants of LeNet-5, {} records, {} epochs, batch {}, {} cores: one after another {:.1f} s "
      "(with data from memory {:.1f} s), by the study {:.1f} s; ratio {:.2f} ({:.2f}); from the store {:.2f} "
      "s; weights {}\n",
      jobs.size(), records, epochs, batch, available_threads(), plain, from_memory, together,
      plain / together, from_memory / together, again, same ? "agree" : "DIFFER");
}

}  // namespace
}  // namespace assay::bench

int main(int argc, char** argv) {
  assay::keep_freed_memory();
  const auto number = [&](int i, std::size_t fallback) {
    return argc > i ? static_cast<std::size_t>(std::atoi(argv[i])) : fallback;
  };
  assay::bench::measure(number(1, 40), number(2, 5000), number(3, 3), number(4, 256));
}
