// assay select: which tests to keep, or to look at first.

#include <assay/error.h>
#include "apps/assay/command.h"
#include "apps/assay/inputs.h"
#include "assay/answers/testing/selection.h"
#include "assay/coverage/request.h"

namespace assay::app {
namespace {

class Select final : public Command {
 public:
  void declare(Flags& flags) override {
    flags.take({Shared::seed});
    model_.declare(flags, true);
    model_.declare_views(flags);
    train_.declare(flags);
    test_.declare(flags, true);
    flags.add("--by", question_.options.by,
              "minimise: the fewest that keep all coverage, without --size; budget: --size records that "
              "cover most; additional: all, by coverage they add; deepgini, entropy, margin, max-softmax: "
              "most doubtful first; lsa, dsa, mdsa: most surprising first; random",
              CLI::IsMember(coverage::selection_ways()));
    model_.declare_task(flags, question_.task);
    items_ =
        flags.add("--items N|all", question_.items,
                  "look at items (pixels, tokens, boxes, labels) in place of records: N of each, drawn at "
                  "random, or all; a record is as surprising as its most surprising item");
    criterion_option_ = flags.add("--criterion SPEC", criterion_,
                                  "criterion whose coverage counts for minimise, budget and additional");
    flags.add("--beyond STATE", question_.beyond,
              "count only what this coverage state (cover --state) does not cover yet, by its profile and, "
              "unless --criterion is given, its first criterion");
    profile_option_ = flags.naming(Concept::profile)
                          .add("--profile FILE", question_.profile,
                               "profile of an earlier `assay cover`, instead of --train");
    layer_option_ = flags.add_list("--layer NAME,...", question_.layers,
                                   "subject layer of idc and the surprise criteria");
    method_option_ = flags.add("--method", question_.method,
                               "attribution by which idc ranks neurons (assay importance --help lists them)");
    flags.add("--size", question_.options.size, "records to keep; 0: all of the order",
              CLI::NonNegativeNumber);
    flags.add_output("--out FILE.txt", question_.ids,
                     "write the ids of the chosen records, one a line, in their order",
                     {.product = Product::ids});
    flags.add_output("--write FILE.npz", question_.records, "write the chosen records as x and y");
  }

  bool shared() const override { return true; }
  report::Document run(Context& context) override {
    question_.test = test_.open();
    coverage::check_choice(question_.options, !question_.beyond.empty());
    const Session session = model_.open(context, question_.test.get());
    model_.refuse_idle_views(session, question_.layers);
    question_.options.criterion = parse_spec("criterion", criterion_);
    question_.any_criterion = criterion_option_->count() == 0;
    refuse_idle();
    if (coverage::criterion_of(question_.options)) set_training();
    return answers::select(session, question_, setting_of(context), context.progress);
  }

 private:
  // Flags about a criterion that the order does not ask, or about layers that it does not look at.
  void refuse_idle() const {
    const std::string by = "on a choice by " + question_.options.by;
    if (!coverage::selects_by_coverage(question_.options.by)) refuse_without_effect({criterion_option_}, by);
    const std::optional<Spec> criterion = coverage::criterion_of(question_.options);
    if (!criterion)
      refuse_without_effect({train_.option(), profile_option_, layer_option_, items_, model_.views()}, by);
    if (criterion && question_.beyond.empty() && !coverage::heeded_by({*criterion}).subjects)
      refuse_without_effect({layer_option_}, "on " + criterion->name + ", which counts all layers");
    if (!train_.given())
      refuse_without_effect({method_option_},
                            of_flags("without --train: a profile keeps the method it was learned with"));
    if (!criterion || !coverage::heeded_by({*criterion}).clusters)
      refuse_without_effect({method_option_}, "where no neurons are ranked by importance");
  }

  void set_training() {
    const std::string& profile = question_.profile;
    if (train_.given() && !profile.empty())
      refuse("--train learns what --profile {} would hold; give one of them", profile);
    if (train_.given() && !question_.beyond.empty())
      refuse("--train learns what --beyond {} holds; leave it out", question_.beyond);
    if (!train_.given() && profile.empty() && question_.beyond.empty())
      refuse("--by {} compares with training data: give --train SPEC, or --profile FILE",
             question_.options.by);
    question_.training = train_.open_if_given();
  }

  ModelInput model_;
  DataInput train_{"train", "training records, where the choice compares with them", Concept::training_data},
      test_{"test", "test records to choose from", Concept::test_data};
  std::string criterion_ = "kmnc[sections=100]";
  const CLI::Option *criterion_option_ = nullptr, *profile_option_ = nullptr, *layer_option_ = nullptr,
                    *method_option_ = nullptr, *items_ = nullptr;
  answers::SelectionQuestion question_;
};

}  // namespace

CommandInfo select_command() {
  return {
      "select",
      "the smallest test set with the same coverage, or the tests to look at first",
      "  assay select net.onnx test.npz --by deepgini --out order.txt\n"
      "  assay select net.onnx test.npz --train train.npz --by minimise --criterion nc --write small.npz\n"
      "  assay select net.onnx pool.npz --by budget --size 100 --beyond tested.cov --out add-these.txt\n"
      "  assay select net.onnx unlabelled.tar --profile net.profile --by dsa --size 500 --out "
      "label-these.txt\n"
      "There is no --shard: records are chosen among all of them.",
      make_command<Select>,
      test_group,
      true};
}

}  // namespace assay::app
