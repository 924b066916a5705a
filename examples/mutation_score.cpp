// Which faults would a test set miss? Draws mutants of a network, runs them, and names the survivors.
#include <assay/mutation.h>
#include <assay/training.h>

#include <iostream>

int main() {
  using namespace assay;
  const DatasetPtr digits = open_dataset("digits:200");
  const training::Recipe recipe{.batch = 32, .epochs = 2};
  const Graph fresh = training::architectures().find("lenet1").build();
  const Session network(training::train(fresh, digits, nullptr, recipe, {}, silence()).graph);
  const mutation::Subject subject(network);
  std::vector<mutation::PlannedMutant> planned;
  const auto drawn =
      mutation::draw_mutants(subject, {.operators = {{"gf", {}}, {"ws", {}}}, .per_operator = 5});
  for (const mutation::Mutant& mutant : drawn.mutants) planned.push_back(mutation::planned(subject, mutant));
  mutation::RunFigures figures;
  const mutation::MutationState state =
      mutation::run_mutants(network, planned, digits, {}, nullptr, figures, silence());
  const mutation::MutationScore score = mutation::score(state, {});
  for (std::size_t i = 0; i < score.mutants.size(); ++i)
    std::cout << state.mutants()[i].summary << ": " << to_string(score.mutants[i].status) << "\n";
  std::cout << score.all.mutants << " mutants, " << score.all.survived << " survived\n";
}
