#include "apps/assay/commands/source_mutants.h"

#include <algorithm>
#include <set>

#include <assay/error.h>
#include <assay/model.h>
#include "assay/results/document.h"
#include "assay/results/trained_mutants.h"
#include "assay/support/parse.h"
#include "assay/support/text.h"

namespace assay::app {
void SourceMutants::declare(CLI::App& app) {
  train_.declare(app);
  const auto before = app.get_options().size();
  validation_.declare(app);
  app.add_option(
         "--architecture", architecture_,
         "of mutants that are trained: a published architecture in place of --model (assay train lists them)")
      ->type_name("SPEC");
  app.add_option("--trainer", trainer_,
                 "of mutants that are trained: a command of yours that trains, given the path of a "
                 "description as its last "
                 "argument; if not given, Assay trains")
      ->type_name("COMMAND");
  app.add_option("--trainer-timeout", time_limit_, "seconds after which a training by --trainer is ended")
      ->check(CLI::PositiveNumber);
  app.add_option("--trainer-data", trainer_data_,
                 "how the --trainer gets its data: npz, or images: a folder of pictures for each class")
      ->check(CLI::IsMember({"npz", "images"}));
  app.add_option("--jobs", jobs_, "networks trained at a time (default: one a core)")
      ->check(CLI::Range(1, 10'000));
  app.add_flag("--killable", killable_,
               "mutants that the training data do not kill do not count (DeepCrime)");
  app.add_option(
         "--runs", runs_,
         "train original and each mutant so often and kill by statistics (DeepCrime); of several numbers "
         "the verdict is looked at after each, and what is decided is trained no more: 5,10,20")
      ->type_name("N,...");
  repeated_ = {
      app.add_option("--kill-test", kill_test_, "of --runs: glm, t, quasi-binomial or wilcoxon")
          ->check(CLI::IsMember({"glm", "t", "quasi-binomial", "wilcoxon"})),
      app.add_option("--alpha", design_.alpha, "of --runs: probability of killing by chance")
          ->check(CLI::Range(0.0, 1.0)),
      app.add_option("--effect", design_.effect, "of --runs: Cohen's d from which a mutant is killed")
          ->check(CLI::NonNegativeNumber),
      app.add_option("--spending", spending_,
                     "of --runs: how alpha is spent over several looks: obrien-fleming, pocock, none")
          ->check(CLI::IsMember({"obrien-fleming", "pocock", "none"}))};
  recipe_.declare(app);
  recipe_.declare_run(app);
  app.add_option("--store", store_,
                 "folder where trained networks are kept, so that nothing is trained twice")
      ->type_name("FOLDER");
  const auto all = app.get_options();
  own_.assign(all.begin() + static_cast<std::ptrdiff_t>(before), all.end());
  app.add_option("--prune", prune_,
                 "with the action store: remove the entries that are " +
                     joined(mutation::prunable_entries(), ", ") + " (all: every entry)")
      ->check(CLI::IsMember(mutation::prunable_entries()));
}

std::vector<Output> SourceMutants::outputs() const {
  return {{"--store", store_, Output::Kind::folder, true}};
}

void SourceMutants::refuse_pruning() const {
  if (!prune_.empty()) fail(Fault::usage, "--prune has no effect: it belongs to the action store");
}

void SourceMutants::refuse_without_training(report::Document& document) const {
  refuse_pruning();
  for (const CLI::Option* option : own_) {
    if (option->count() > 0)
      fail(Fault::usage, "{} has no effect: none of the operators changes what a network is trained from",
           option->get_name());
  }
  if (train_.given())
    document.notices.emplace_back(
        "training data are not used: none of the operators changes what a network is trained from");
}

void SourceMutants::leave_out(bool training, EffectiveOptions& effective) const {
  for (const CLI::Option* option : own_) {
    const bool of_trainer = option->get_name().starts_with("--trainer-") && trainer_.empty();
    const bool of_runs = !repeated() && std::ranges::find(repeated_, option) != repeated_.end();
    if (!training || of_trainer || of_runs) effective[option->get_lnames().front()] = {};
  }
}

SourceStudy SourceMutants::open(ModelInput& model, Context& context) const {
  refuse_pruning();
  for (const CLI::Option* option : own_) {
    if (trainer_.empty() && option->get_name().starts_with("--trainer-") && option->count() > 0)
      fail(Fault::usage, "{} has no effect without --trainer", option->get_name());
  }
  if (architecture_.empty() == model.path().empty())
    fail(Fault::usage, "what is trained? give either --model FILE or --architecture SPEC");
  const DatasetPtr training = train_.open(), validation = validation_.given() ? validation_.open() : nullptr;
  Session session = architecture_.empty() ? model.open(context, training.get())
                                          : Session(training::build_architecture(architecture_),
                                                    session_options(context, training.get()));
  mutation::Program program{
      .graph = session.graph(),
      .recipe = recipe_.recipe(validation != nullptr),
      .training = training,
      .validation = validation,
  };
  program.recipe.seed = context.settings.seed;
  return {mutation::in_memory(std::move(program)), std::move(session)};
}

void SourceMutants::take_runs(const std::vector<std::size_t>& runs) {
  design_.test = mutation::kill_test_named(kill_test_);
  design_.spending = mutation::spending_named(spending_);
  design_.looks = runs;
  if (!runs_.empty()) {
    design_.looks.clear();
    for (const std::int64_t number : parse_positive(runs_, ',', "--runs", "6,8,10"))
      design_.looks.push_back(static_cast<std::size_t>(number));
  }
  if (repeated()) {
    mutation::check_design(design_);
    if (killable_)
      fail(Fault::usage, "--killable has no effect with --runs, which judges by the training data anyway");
    return;
  }
  for (const CLI::Option* option : repeated_) {
    if (option->count() > 0) fail(Fault::usage, "{} has no effect without --runs", option->get_name());
  }
}

mutation::KillingStudy SourceMutants::studied(const SourceStudy& study, const std::vector<DatasetPtr>& tests,
                                              const mutation::DrawOptions& draw,
                                              std::pair<std::size_t, std::size_t> part,
                                              Context& context) const {
  return mutation::study_killing(study.program, study.subject, tests,
                                 {.operators = draw.operators,
                                  .places = draw.layers,
                                  .design = design_,
                                  .seed = context.settings.seed,
                                  .batch = context.settings.batch,
                                  .part = part.first,
                                  .parts = part.second},
                                 plan(context), context.progress);
}

mutation::TrainingPlan SourceMutants::plan(Context& context) const {
  if (store_.empty()) fail(Fault::usage, "where are trained networks to be kept? give --store FOLDER");
  mutation::TrainingPlan plan{
      .store = store_, .command = trainer_, .time_limit = time_limit_, .pictures = trainer_data_ == "images"};
  plan.session = session_options(context);
  plan.jobs = jobs_ > 0 ? jobs_ : static_cast<std::size_t>(std::max(context.settings.threads, 0));
  if (context.settings.device != "cpu" && trainer_.empty()) plan.jobs = 1;
  return plan;
}

Session SourceMutants::original(const SourceStudy& study, Context& context) const {
  return Session(mutation::train_original(study.program, plan(context), context.progress),
                 study.session.options());
}

Graph SourceMutants::network(const SourceStudy& study, const mutation::Mutant& mutant,
                             Context& context) const {
  return mutation::train_mutant(study.program, study.subject, mutant, plan(context), context.progress);
}

mutation::TrainedMutants SourceMutants::trained(const SourceStudy& study,
                                                const std::vector<mutation::Mutant>& mutants,
                                                Context& context) const {
  return mutation::train_mutants(study.program, study.subject, mutants, plan(context), context.progress);
}

void SourceMutants::mark_killable(const SourceStudy& study, const Session& original,
                                  std::vector<mutation::PlannedMutant>& mutants, std::optional<double> margin,
                                  Context& context) const {
  if (!killable_) return;
  const std::set<std::string> spared = mutation::not_killed(original, mutants, study.program.training, margin,
                                                            context.settings.batch, context.progress);
  for (mutation::PlannedMutant& mutant : mutants)
    mutant.description.killable = !spared.contains(mutant.description.key());
}

report::Document SourceMutants::store() const {
  if (store_.empty()) fail(Fault::usage, "which store? give --store FOLDER");
  const mutation::PrunedStore pruned = mutation::prune_store(mutation::TrainedStore(store_), prune_);
  report::Document document = results::document_of(store_, pruned.kept);
  if (!prune_.empty()) document.facts.push_back(results::count_fact("removed", "removed", pruned.removed));
  return document;
}

}  // namespace assay::app
