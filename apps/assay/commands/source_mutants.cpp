#include "apps/assay/commands/source_mutants.h"

#include <algorithm>
#include <set>

#include <assay/error.h>
#include <assay/model.h>
#include "assay/results/document.h"
#include "assay/results/testing/trained_mutants.h"
#include "assay/support/text/parse.h"
#include "assay/support/text/text.h"

namespace assay::app {
void SourceMutants::declare(Flags& flags) {
  train_.declare(flags);
  const std::size_t before = flags.all().size();
  validation_.declare(flags);
  flags.add(
      "--architecture SPEC", architecture_,
      "of mutants that are trained: a published architecture in place of --model (assay train lists them)");
  flags.add("--trainer COMMAND", trainer_,
            "of mutants that are trained: a command of yours that trains, given the path of a description as "
            "its last argument; if not given, Assay trains");
  flags.add("--trainer-timeout", time_limit_, "seconds after which a training by --trainer is ended",
            CLI::PositiveNumber);
  flags.add("--trainer-data", trainer_data_,
            "how the --trainer gets its data: npz, or images: a folder of pictures for each class",
            CLI::IsMember({"npz", "images"}));
  flags.add("--jobs", jobs_, "networks trained at a time (default: one a core)", CLI::Range(1, 10'000));
  flags.add("--killable", killable_, "mutants that the training data do not kill do not count (DeepCrime)");
  flags.add("--runs N,...", runs_,
            "train original and each mutant so often and kill by statistics (DeepCrime); of several numbers "
            "the verdict is looked at after each, and what is decided is trained no more: 5,10,20");
  repeated_ = {flags.add("--kill-test", kill_test_, "of --runs: glm, t, quasi-binomial or wilcoxon",
                         CLI::IsMember({"glm", "t", "quasi-binomial", "wilcoxon"})),
               flags.add("--alpha", design_.alpha, "of --runs: probability of killing by chance",
                         CLI::Range(0.0, 1.0)),
               flags.add("--effect", design_.effect, "of --runs: Cohen's d from which a mutant is killed",
                         CLI::NonNegativeNumber),
               flags.add("--spending", spending_,
                         "of --runs: how alpha is spent over several looks: obrien-fleming, pocock, none",
                         CLI::IsMember({"obrien-fleming", "pocock", "none"}))};
  recipe_.declare(flags);
  recipe_.declare_run(flags);
  flags.add("--store FOLDER", store_,
            "folder where trained networks are kept, so that nothing is trained twice");
  own_ = flags.all(before);
  flags.add("--prune", prune_,
            "with the action store: remove the entries that are " +
                joined(mutation::prunable_entries(), ", ") + " (all: every entry)",
            CLI::IsMember(mutation::prunable_entries()));
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
