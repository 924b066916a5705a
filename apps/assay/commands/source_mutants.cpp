#include "apps/assay/commands/source_mutants.h"

#include <algorithm>

#include <assay/error.h>
#include <assay/task.h>
#include "assay/mutation/source/trained_mutants.h"
#include "assay/support/text/parse.h"
#include "assay/support/text/text.h"
#include "assay/task/threshold.h"
#include "assay/training/recipe_parts.h"

namespace assay::app {
namespace {

// Fresh weights take the shift of the threshold away.
void require_own_weights(const std::string& task, const training::Recipe& recipe) {
  const std::vector<training::InitialiserPart> parts = training::initialiser_parts(recipe.initialiser);
  const bool kept = std::ranges::any_of(parts, [](const auto& part) { return part.name == "keep"; });
  if (!kept && task::threshold_of(task))
    refuse(
        "--task {}: a threshold has no effect where networks are trained from fresh weights; add "
        "--initialiser "
        "keep, or leave it out",
        task);
}

}  // namespace

void SourceMutants::declare(Flags& flags) {
  train_.declare(flags);
  const std::size_t before = flags.all().size();
  validation_.declare(flags);
  flags.add(
      "--architecture SPEC", architecture_,
      "for mutants that are trained: a published architecture instead of --model (assay train lists them)");
  flags.add_code("--trainer COMMAND", question_.plan.command,
                 "for mutants that are trained: your own training command, which gets the path of a "
                 "description as its last argument; if not given, Assay trains");
  of_trainer_ = {
      flags.acting().add("--trainer-timeout", question_.plan.time_limit,
                         "seconds after which a training by --trainer is ended", CLI::PositiveNumber),
      flags.acting().add(
          "--trainer-data", trainer_data_,
          "how the --trainer gets its data: npz, or images: a folder of pictures for each class",
          CLI::IsMember({"npz", "images"}))};
  flags.add("--jobs", question_.plan.jobs, "networks trained at a time (default: one a core)",
            CLI::Range(1, 10'000));
  flags.add("--killable", question_.killable,
            "do not count mutants that the training data do not kill (DeepCrime)");
  flags.add_list("--runs N,...", runs_,
                 "train original and each mutant this many times and decide killing by statistics "
                 "(DeepCrime); with several numbers, such as 5,10,20, there is a verdict after each, and "
                 "decided mutants are not trained further");
  repeated_ = {flags.add("--kill-test", kill_test_, "of --runs: glm, t, quasi-binomial or wilcoxon",
                         CLI::IsMember({"glm", "t", "quasi-binomial", "wilcoxon"})),
               flags.add("--alpha", question_.design.alpha, "of --runs: probability of killing by chance",
                         CLI::Range(0.0, 1.0)),
               flags.add("--effect", question_.design.effect,
                         "of --runs: Cohen's d from which a mutant is killed", CLI::NonNegativeNumber),
               flags.add("--spending", spending_,
                         "of --runs: how alpha is spent over several looks: obrien-fleming, pocock, none",
                         CLI::IsMember({"obrien-fleming", "pocock", "none"}))};
  recipe_.declare(flags);
  recipe_.declare_run(flags);
  flags.add_output("--store FOLDER", store_,
                   "folder where trained networks are kept, so that nothing is trained twice",
                   {.members = {"[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]*.*"}});
  own_ = flags.all(before);
  flags.acting().add("--prune", prune_,
                     "with the action store: remove the entries that are " +
                         joined(mutation::prunable_entries(), ", ") + " (all: every entry)",
                     CLI::IsMember(mutation::prunable_entries()));
}

void SourceMutants::refuse_pruning() const {
  if (!prune_.empty())
    refuse(
        "--prune has no effect: it belongs to the action store; leave it out, or write assay mutate store");
}

void SourceMutants::refuse_without_training() const {
  refuse_pruning();
  for (const CLI::Option* option : own_) {
    if (option->count() > 0)
      fail(Fault::usage,
           "{} has no effect: none of the operators changes what a network is trained from; leave it out",
           option->get_name());
  }
}

void SourceMutants::leave_out(bool training, EffectiveOptions& effective) const {
  std::vector<const CLI::Option*> idle = training ? std::vector<const CLI::Option*>() : own_;
  if (question_.plan.command.empty()) idle.insert(idle.end(), of_trainer_.begin(), of_trainer_.end());
  if (!repeated()) idle.insert(idle.end(), repeated_.begin(), repeated_.end());
  frame::leave_out(idle, effective);
}

answers::SourceStudy SourceMutants::open(ModelInput& model, const std::string& task, Context& context) const {
  refuse_pruning();
  if (question_.plan.command.empty()) refuse_given(of_trainer_, of_flags("without --trainer"));
  if (architecture_.empty() == model.path().empty())
    refuse("what is trained? give either --model FILE or --architecture SPEC");
  if (task::threshold_of(task) && !(architecture_.empty() && question_.plan.command.empty()))
    refuse(
        "--task {}: a threshold shifts the score of --model, and not those of networks that are made by {}; "
        "leave it out",
        task, architecture_.empty() ? "--trainer" : "--architecture");
  const DatasetPtr training = task::prepared_for(task, train_.open()),
                   validation = validation_.given() ? task::prepared_for(task, validation_.open()) : nullptr;
  Session session = architecture_.empty() ? model.open(context, training.get())
                                          : Session(training::build_architecture(architecture_),
                                                    setting_of(context).session_for(training.get()));
  mutation::Program program{
      .graph = session.graph(),
      .recipe = recipe_.recipe(validation != nullptr),
      .training = training,
      .validation = validation,
  };
  require_own_weights(task, program.recipe);
  program.recipe.seed = context.settings.seed;
  return {mutation::with_data_in_memory(std::move(program)), std::move(session)};
}

void SourceMutants::settle(const std::vector<std::size_t>& runs) {
  question_.plan.store = store_;
  question_.plan.pictures = trainer_data_ == "images";
  question_.design.test = mutation::kill_test_named(kill_test_);
  question_.design.spending = mutation::spending_named(spending_);
  question_.design.looks = runs_.empty() ? runs : parse_counts(runs_, of_flags("--runs"), "6,8,10");
  if (!repeated()) return refuse_given(repeated_, of_flags("without --runs"));
  mutation::check_design(question_.design);
  if (question_.killable)
    refuse("--killable has no effect with --runs, which judges by the training data anyway; leave it out");
}

report::Document SourceMutants::store() const {
  if (store_.empty()) refuse("which store? give --store FOLDER");
  return answers::store_of_networks(store_, prune_);
}

}  // namespace assay::app
