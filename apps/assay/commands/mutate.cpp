// assay mutate: which faults a test set would miss.

#include <assay/dataset.h>
#include <assay/error.h>
#include "apps/assay/command.h"
#include "apps/assay/commands/source_mutants.h"
#include "apps/assay/inputs.h"
#include "apps/assay/unit_choice.h"
#include "assay/answers/testing/mutation.h"
#include "assay/mutation/choice.h"
#include "assay/mutation/kept_run.h"
#include "assay/support/ranks/ranks.h"

namespace assay::app {
namespace {

using Action = answers::MutationQuestion::Action;

class Mutate final : public Command {
 public:
  void declare(Flags& flags) override {
    flags.take({Shared::seed});
    flags.by_keyword().add(
        "action ACTION", action_,
        "run: judge mutants by a test set; list: only name them; export: write one as ONNX; store: "
        "list and check what is in --store",
        CLI::IsMember({"run", "list", "export", "store"}));
    flags.skip_other_words();  // anything that is not an action is the network
    model_.declare(flags, true);
    flags.naming(Concept::test_data)
        .add("test,--test SPEC", question_.tests,
             "test records to be judged; of mutants that are trained it may be repeated, and the others are "
             "compared with the first");
    flags.add_list("--operator SPEC,...", operators_,
                   "operator with options, such as gf[sigma=0.5]; may be repeated (default: DeepMutation's; "
                   "`assay operators` lists all)");
    flags.add("--preset NAME", preset_,
              "operators and sites of a paper: deepmutation (the default), deepmutation-source, ...");
    flags.add("--count", count_,
              "mutants per operator, where so many are possible (default: 50, or the preset's)",
              CLI::Range(0, 1'000'000));
    flags.add_list("--layer NAME,...", question_.draw.layers,
                   "layer to mutate, may be repeated (default: all with weights)");
    edits_.push_back(units_.declare(flags));
    edits_.push_back(flags.add("--whole-network", question_.draw.whole_network,
                               "draw a mutant's sites from all layers together instead of from one"));
    flags.add_list(
        "--mutant TEXT,...", mutants_,
        "a mutant by its text, such as gf@conv2#17 (as --list prints it); may be repeated; no others "
        "are drawn");
    flags.add("--list", list_, "the same as the action list");
    flags.add_output("--out FILE.onnx", question_.out, "with export: where the mutant goes",
                     {.when = [this] { return action_ == "export"; }, .product = Product::network});
    flags.add("--quality", question_.score.quality,
              "leave out mutants that misclassify more than this share of T'; 1: none", CLI::Range(0.0, 1.0));
    flags.add("--margin FLOAT", question_.run.margin,
              "regression: a mutant is killed where its output differs by more than this; for records with "
              "many items: where it decides more than this share of them differently (default for these: 0)",
              CLI::NonNegativeNumber);
    edits_.push_back(
        flags.add("--figure NAME", question_.figure,
                  "a mutant is killed where this figure of all records, such as mean-iou or "
                  "f1[class=person], is worse by more than --margin; for records with many items"));
    edits_.push_back(
        flags.add("--divergence SPEC", question_.divergence,
                  "a record also kills where the distributions of answers are further apart than the noise "
                  "floor: js (Jensen-Shannon), kl, js[above=0.01], kl[floor=fp16]; of classifiers"));
    task_ = model_.declare_task(flags, question_.task);
    flags.naming(Concept::state)
        .add_output("--state FILE", question_.state,
                    "keep results in FILE: what is known there for this network is not run again, and an "
                    "interrupted run goes on from FILE.journal",
                    {.journal = mutation::journal_of, .goes_on = [] { return true; }, .guarded = true});
    shard_.declare(flags);
    flags.add_output("--matrix FILE.csv", question_.matrix, "write which record kills which mutant");
    flags.add_output("--killing-subset FILE.txt", question_.subset,
                     "write the ids of the smallest set of records found that keeps the score");
    flags.add("--keep", memory_, "GiB for what the original network computes, which mutants start from",
              CLI::PositiveNumber);
    edits_.push_back(flags.add("--naive", question_.run.naive,
                               "run each mutant whole for each record: slow, the same result"));
    add_pairs(flags, question_.pairs);
    single_ = flags.named({"--count", "--mutant", "--quality", "--margin", "--state", "--matrix",
                           "--killing-subset", "--keep", "--pairs"});
    of_decisions_ = flags.named({"--quality", "--margin", "--figure", "--task"});
    source_.declare(flags);
    check_.declare(flags);
    gates_.declare(flags);
    judging_ = flags.named({"--figure", "--divergence", "--matrix", "--killing-subset", "--fail-under",
                            "--no-worse-than", "--pairs", "--quality", "--margin", "--state", "--keep",
                            "--naive", "--expect-accuracy"});
    of_records_ = flags.named({"--quality", "--state", "--matrix", "--killing-subset", "--keep", "--naive",
                               "--expect-accuracy", "--pairs"});
    drawing_ = flags.named({"--operator", "--preset", "--count", "--layer", "--whole-network"});
    of_mutants_ = flags.all();
    std::erase_if(of_mutants_, [](const CLI::Option* option) {
      const std::string name = frame::name_of(*option);
      return name == "action" || name == "store" || name == "prune";
    });
  }

  bool shared() const override { return true; }
  report::Document run(Context& context) override {
    question_.action = action_ == "export"          ? Action::write
                       : action_ == "list" || list_ ? Action::list
                                                    : Action::judge;
    if (action_ == "store" || !judges()) ranks().leave_to_first();
    if (action_ == "store") {
      refuse_without_effect(of_mutants_,
                            "with the action store, which only lists and checks what is in --store");
      return source_.store();
    }
    refuse_contradictions();
    question_.accuracy = check_.declared();
    question_.run.memory = memory_ * 1024 * 1024 * 1024;
    answers::choose_mutants(question_, mutants_, preset_, operators_, count_);
    std::tie(question_.part, question_.parts) = shard_.part(context);
    report::Document document =
        mutation::need_training(question_.draw.operators) ? run_source(context) : run_edits(context);
    if (question_.action == Action::list) document.headline += "; --mutant TEXT names one";
    return document;
  }

 private:
  bool judges() const { return question_.action == Action::judge; }

  void refuse_of_records() const {
    if (!question_.figure.empty())
      refuse_given(of_records_, "with --figure: a mutant is judged by all records together");
    if (!question_.divergence.empty())
      refuse_given(of_decisions_, "with --divergence, by which kills are not wrong answers of a classifier");
  }

  void refuse_contradictions() {
    refuse_of_records();
    question_.conditions = gates_.conditions();
    report::check(question_.conditions, {"mutation", "killed-mutants", "kills-per-record"});
    if (!judges()) refuse_without_effect(judging_, "unless mutants are judged");
    if (!mutants_.empty()) refuse_given(drawing_, "on mutants that are named");
    if (action_ != "export" && !question_.out.empty())
      refuse("--out is where one mutant goes: `assay mutate export --mutant TEXT --out FILE.onnx`");
  }

  // Mutants are edits of a trained network.
  report::Document run_edits(Context& context) {
    source_.refuse_without_training();
    source_.leave_out(false, context.effective);
    if (!judges()) refuse_given({task_}, "unless mutants are judged");
    if (question_.tests.size() > 1)
      refuse("--test is repeated: only mutants that are trained are judged by several test sets");
    const DatasetPtr test = question_.tests.empty() ? nullptr : open_dataset(question_.tests[0]);
    const auto session = std::make_shared<const Session>(model_.open(context, test.get()));
    question_.form = model_.form();
    if (!mutants_.empty() && units_.given()) refuse("named mutants say what they change; leave out --units");
    question_.draw.units = units_.of(session);
    report::Document document =
        answers::mutate(*session, test, question_, setting_of(context), context.progress);
    if (source_.has_records())
      document.notices.insert(document.notices.begin(),
                              "training data are not used: none of the operators changes what a network is "
                              "trained from");
    return document;
  }

  // Mutants are networks trained with a fault.
  report::Document run_source(Context& context) {
    refuse_given(edits_, "on mutants that are trained");
    if (question_.action == Action::list) refuse_given({task_}, "on mutants that are only listed");
    source_.settle(mutants_.empty() && !preset_.empty() ? mutation::presets().find(preset_).runs
                                                        : std::vector<std::size_t>());
    frame::leave_out(edits_, context.effective);
    if (source_.repeated()) frame::leave_out(single_, context.effective);
    source_.leave_out(true, context.effective);
    const answers::SourceStudy study = source_.open(model_, question_.task, context);
    question_.form = model_.form();
    if (!source_.repeated())
      return answers::mutate_training(study, source_.question(), question_, setting_of(context),
                                      context.progress);
    if (!judges())
      refuse("trained several times (--runs, or a preset that has runs), mutants are only judged");
    refuse_given(single_, "on mutants that are trained several times");
    return answers::study_training(study, source_.question(), question_, setting_of(context),
                                   context.progress);
  }

  ModelInput model_;
  UnitsInput units_{"units whose neurons or weights are mutated, instead of all"};
  SourceMutants source_;
  ShardInput shard_{
      "run only this part of the mutants: 2/8 is the second of eight, auto the one that the scheduler names"};
  std::vector<const CLI::Option*> edits_;              // that matter to edits of a trained network only
  std::vector<const CLI::Option*> single_;             // that matter to mutants that are trained once only
  std::vector<const CLI::Option*> judging_, drawing_;  // that matter where mutants are judged, and drawn
  std::vector<const CLI::Option*> of_mutants_;         // that do not matter to what is stored
  std::vector<const CLI::Option*> of_records_;         // that matter where records kill
  std::vector<const CLI::Option*> of_decisions_;       // that matter where decisions alone kill
  const CLI::Option* task_ = nullptr;
  AccuracyCheck check_;
  GateOptions gates_;
  std::string action_ = "run", preset_;
  std::vector<std::string> operators_, mutants_;
  std::optional<std::size_t> count_;
  double memory_ = 1;
  bool list_ = false;
  answers::MutationQuestion question_;
};

}  // namespace

CommandInfo mutate_command() {
  return {
      "mutate",
      "which faults the test set would notice, in the network or its training: mutation score and error rate",
      "  assay mutate lenet5.onnx t10k-images-idx3-ubyte.gz --state lenet5.mut\n"
      "  assay mutate net.onnx test.npz --operator 'gf[sigma=0.5]' --operator neb --count 20 --fail-under "
      "mutation=0.7\n"
      "  assay mutate net.onnx test.npz --operator neb --operator gf --units "
      "from=seen.json,hypothesis=label:7,top=5\n"
      "  assay mutate net.onnx test.npz --train train.npz --operator 'le[ratio=0.1]' --count 5 --store "
      "trained\n"
      "  assay mutate list net.onnx --operator ns --layer conv2\n"
      "  assay mutate export net.onnx --mutant 'gf@conv2#17' --out mutant.onnx",
      make_command<Mutate>,
      test_group,
      true};
}

}  // namespace assay::app
