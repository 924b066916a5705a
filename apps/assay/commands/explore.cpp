// assay explore: records on which networks disagree.

#include <algorithm>

#include <assay/error.h>
#include "apps/assay/command.h"
#include "apps/assay/inputs.h"
#include "apps/assay/networks.h"
#include "assay/answers/task.h"
#include "assay/answers/testing/exploration.h"
#include "assay/coverage/request.h"

namespace assay::app {
namespace {

class Explore final : public Command {
 public:
  void declare(Flags& flags) override {
    flags.take({Shared::seed});
    networks_.declare(flags);
    data_.declare(flags.leading());
    flags.add_list("--constraint SPEC,...", question_.constraints,
                   "what may be done to a record, such as occl[size=10x10]; several apply together (default: "
                   "light; none: anything; `assay constraints` lists all)");
    flags.add("--criterion SPEC", question_.criterion,
              "criterion whose uncovered items are the second objective (`assay criteria` lists all)");
    networks_.declare_units(flags);
    choice_ = flags.add("--choice NAME", question_.options.choice,
                        "which neuron to lift: random, rarest, nearest, relevant");
    choose_once_ =
        flags.add("--choose-once", question_.options.search.choose_once,
                  "choose neurons once per seed, as the released code does, not in each iteration");
    method_ = flags.add("--method", question_.options.search.method,
                        "attribution by which idc ranks neurons, and of --choice relevant (assay importance "
                        "--help lists them)");
    flags.add("--lambda1", question_.options.search.lambda1,
              "weight of the network that is pushed away from the others", CLI::NonNegativeNumber);
    flags.add("--lambda2", question_.options.search.lambda2, "weight of the coverage term; 0: none",
              CLI::NonNegativeNumber);
    flags.add("--step", question_.options.search.step,
              "step size, as a share of the valid range; gradients are divided by their root mean square",
              CLI::PositiveNumber);
    flags.add("--iterations", question_.options.search.iterations, "steps per seed at most",
              CLI::Range(1, 1'000'000));
    flags.add("--patience", question_.options.search.patience,
              "give up a seed after this many steps without progress towards a disagreement; 0: never");
    flags.add("--target N", question_.options.search.target,
              "the network pushed away, counted from 0 (default: drawn for each seed)",
              CLI::NonNegativeNumber);
    probability_ = flags.add("--probability", question_.options.search.probability,
                             "climb probabilities after the softmax, not the scores before it");
    margin_ = flags.add(
        "--margin", question_.options.search.disagreement.margin,
        "regression: outputs further apart than this disagree; of records with many items: networks "
        "that decide more than this share of them differently",
        CLI::NonNegativeNumber);
    add_task(flags, question_.task);
    opposite_signs_ = flags.add("--opposite-signs", question_.options.search.disagreement.opposite_signs,
                                "regression: in addition, the outputs must not all have the same sign");
    only_correct_ = flags.add("--only-correct", question_.options.only_correct,
                              "leave out seeds that the first network misclassifies");
    flags.add("--passes", question_.options.passes, "times that all seeds are searched from",
              CLI::Range(1, 1'000'000));
    flags.add("--round", question_.options.round,
              "seeds that see the same coverage, part of the definition of the result",
              CLI::Range(1, 1'000'000));
    flags
        .add("--goal SHARE", question_.options.goal,
             "end when the coverage of all networks together reaches this share", CLI::Range(0.0, 1.0))
        ->default_str("");
    flags
        .add("--findings N", question_.options.findings, "end after the round that brings this many findings",
             CLI::NonNegativeNumber)
        ->default_str("");
    flags
        .add("--time SECONDS", question_.options.seconds,
             "end after the round in which this many seconds have passed", CLI::NonNegativeNumber)
        ->default_str("");
    baseline_.declare(flags);
    flags.add("--storage FORM", question_.storage,
              "levels: 8-bit levels of the valid range, as pictures have them; float: float32 (default: "
              "levels for pictures)",
              CLI::IsMember({"levels", "float"}));
    flags.add("--no-shrink", no_shrink_, "keep findings as the search left them");
    flags.add("--near-duplicate SHARE", question_.near_duplicate,
              "root mean square difference, as a share of the range, up to which two findings with the same "
              "answers are one (default: 0.01 for pictures, 0 for others)",
              CLI::Range(0.0, 1.0));
    flags.add("--plausibility MEASURE", question_.plausibility,
              "judge findings by dsa or lsa against the training records, or not: none (default: dsa, for "
              "regression lsa, with --train)",
              CLI::IsMember({"dsa", "lsa", "none"}));
    flags.add_output("--out FOLDER", question_.folder,
                     "folder for findings.npz, voted.npz, manifest.json, pictures and the journal",
                     {.members = {"findings*.npz", "voted*.npz", "manifest.json", "*.png"},
                      .journal = answers::exploration_journal,
                      .product = Product::records});
    flags.add("--pictures", question_.pictures, "findings drawn as before, after and difference",
              CLI::Range(0, 100'000));
  }

  bool shared() const override { return true; }
  report::Document run(Context& context) override {
    const DatasetPtr seeds = data_.open();
    refuse_without_effect(*seeds);
    question_.networks = networks_.asked();
    question_.options.search.shrink = !no_shrink_;
    question_.options.baseline = baseline_.open_if_given();
    return told_alone(answers::explore(seeds, question_, setting_of(context), context.progress), context);
  }

 private:
  void refuse_without_effect(const Dataset& seeds) const {
    if (seeds.target_width() > 0) {
      frame::refuse_without_effect({only_correct_, probability_}, "for regression: it is for classes");
    } else if (!answers::may_have_items(question_.task)) {
      frame::refuse_without_effect(
          {margin_, opposite_signs_},
          of_flags("on classes: it is for regression and tasks of many items (targets= of --data)"));
      if (!seeds.has_labels())
        frame::refuse_without_effect(
            {only_correct_},
            of_flags("without labels: --data has no classes that the first network could name"));
    }
    if (question_.options.search.lambda2 == 0)
      frame::refuse_without_effect({choice_, choose_once_},
                                   of_flags("with --lambda2 0: no neuron is lifted"));
    refuse_idle_method();
    if (question_.constraints.size() > 1 && std::ranges::count(question_.constraints, "none") > 0)
      refuse("--constraint none has no effect with other constraints; leave out either it or them");
  }

  void refuse_idle_method() const {
    const bool lifted = question_.options.search.lambda2 != 0 && question_.options.choice == "relevant";
    const bool ranked = coverage::heeded_by({parse_spec("criterion", question_.criterion)}).clusters;
    if (lifted) return;
    if (!ranked) frame::refuse_without_effect({method_}, "where no neurons are ranked by importance");
    if (networks_.profiles_given())
      frame::refuse_without_effect(
          {method_}, of_flags("with --profile: a profile keeps the method it was learned with"));
  }

  NetworksInput networks_;
  DataInput data_{"data",
                  "seeds; their valid range must be known (8-bit images have one, for others add range=0:1)",
                  Concept::test_data};
  DataInput baseline_{"baseline",
                      "records whose coverage counts as reached before the first seed (default: none)",
                      Concept::input};
  const CLI::Option *choice_ = nullptr, *choose_once_ = nullptr, *probability_ = nullptr, *margin_ = nullptr,
                    *opposite_signs_ = nullptr, *only_correct_ = nullptr, *method_ = nullptr;
  bool no_shrink_ = false;
  answers::ExplorationQuestion question_{.folder = "assay-explore"};
};

}  // namespace

CommandInfo explore_command() {
  return {"explore",
          "records on which networks disagree, found by gradient ascent under constraints of the domain, "
          "with coverage as a second goal",
          "  assay explore lenet1.onnx lenet4.onnx lenet5.onnx --data t10k-images-idx3-ubyte.gz --constraint "
          "'occl[size=10x10]'\n"
          "  assay explore net.onnx --mutant int8@all --data test.npz,range=0:1 --constraint 'linf[eps=0.1]' "
          "--criterion 'idc[m=6]' --train train.npz,range=0:1\n"
          "  assay explore a.onnx b.onnx c.onnx --data frames.tar,targets=steering.csv --constraint light "
          "--margin 0.2",
          make_command<Explore>, break_group};
}

}  // namespace assay::app
