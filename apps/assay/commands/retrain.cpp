// assay retrain: does it help to train on these records as well?

#include <assay/error.h>
#include "apps/assay/command.h"
#include "apps/assay/inputs.h"
#include "apps/assay/recipe_options.h"
#include "assay/answers/testing/retraining.h"

namespace assay::app {
namespace {

class Retrain final : public Command {
 public:
  void declare(Flags& flags) override {
    flags.take({Shared::seed});
    model_.declare(flags, true);
    data_.declare(flags, true);
    test_.declare(flags.leading());
    declare_given(flags);
    declare_made(flags);
    flags.add("--count", question_.plan.count, "records to add, the same number for every kind",
              CLI::PositiveNumber);
    flags.add("--coverage-raising SPEC", question_.raising,
              "as one more kind: the given records that cover what the test set does not, by this criterion "
              "(idc, 'kmnc[sections=100]', ...)");
    layer_option_ = flags.add_list("--layer NAME,...", question_.layers,
                                   "subject layer of idc and the surprise criteria, for --coverage-raising");
    method_option_ =
        flags.add("--method", question_.method,
                  "attribution by which idc ranks neurons, for --coverage-raising (assay importance "
                  "--help lists them)");
    flags.add("--repeats", question_.plan.repeats,
              "times that each kind is drawn and trained, with other seeds", CLI::Range(1, 10'000));
    flags.add_output("--checkpoint FOLDER", question_.checkpoint,
                     "finished runs are kept here; the same command goes on from them",
                     {.members = {"retraining.journal"}, .journal = answers::retraining_journal});
    flags.add_output("--out-dir FOLDER", out_, "write the first retrained network of each kind, as ONNX",
                     {.members = {"*.onnx", "*.onnx.data"}, .product = Product::networks});
    recipe_.declare(flags);
    model_.declare_task(flags, question_.task);
    check_.declare(flags);
    gates_.declare(flags);
  }

  report::Document run(Context& context) override {
    check_given();
    question_.conditions = gates_.conditions();
    question_.accuracy = check_.declared();
    question_.training = data_.open();
    question_.test = test_.open();
    const Session session = model_.open(context, question_.training.get());
    question_.plan.recipe = recipe_.recipe(false);
    question_.plan.networks = out_;
    question_.plan.form = model_.form();
    return answers::retrain(session, question_, setting_of(context), context.progress);
  }

 private:
  void declare_given(Flags& flags) {
    flags.naming(Concept::input)
        .leading()
        .add("--add SPEC", question_.added,
             "records to add to the training data: findings, attacked records, any labelled data set; may "
             "be repeated");
    flags.naming(Concept::input)
        .add("--held-out SPEC", question_.held_out,
             "records of the same kind to judge by, instead of holding out a share of --add");
    hold_out_option_ =
        flags.add("--hold-out", question_.share,
                  "share of --add that is not trained on but judged by; records with one id stay together",
                  CLI::Range(0.0, 1.0));
    flags.add("--labels", labels_,
              "labels of the additions: given in their file, or the majority of --voters",
              CLI::IsMember({"given", "majority"}));
    flags.naming(Concept::other_network)
        .add("--voters FILE", question_.voters,
             "at least three networks that vote on labels; records without a majority are dropped");
  }

  void declare_made(Flags& flags) {
    flags.add_list(
        "--against SPEC,...", question_.against,
        "attacks on training records whose results are added instead, in as many records; the first is "
        "what 'random' means; none");
    flags.add_list("--evaluate-on SPEC,...", question_.evaluate_on,
                   "attacks on the test set (against the network as given); all networks are judged on their "
                   "results; none");
    pool_option_ = flags.add("--pool", question_.pool,
                             "training records that each attack changes; additions are drawn from them",
                             CLI::PositiveNumber);
    successful_option_ = flags.add("--only-successful", question_.only_successful,
                                   "add attacked records only where the attack succeeded");
    made_option_ =
        flags.add_output("--made-dir FOLDER", question_.made, "folder for the records that attacks make",
                         {.members = {"training-*.npz", "test-*.npz"}});
  }

  void check_given() const {
    if (question_.added.empty())
      refuse("which records should be added? give --add SPEC (records of `assay attack`, say)");
    const bool majority = labels_ == "majority";
    if (majority && question_.voters.size() < 3)
      refuse("--labels majority needs --voters with at least three networks: two either agree or tie");
    if (!majority && !question_.voters.empty()) refuse("--voters only vote with --labels majority");
    if (!question_.held_out.empty())
      refuse_without_effect({hold_out_option_},
                            of_flags("with --held-out, which names the records to judge by"));
    if (question_.against.empty() || question_.against == "none")
      refuse_without_effect({pool_option_, successful_option_},
                            of_flags("with --against none: no attack makes additions"));
    const auto none = [](const std::string& attacks) { return attacks.empty() || attacks == "none"; };
    if (none(question_.against) && none(question_.evaluate_on))
      refuse_without_effect({made_option_}, "where no attack makes records");
    if (question_.raising.empty())
      refuse_without_effect({layer_option_, method_option_}, of_flags("without --coverage-raising"));
    if (question_.held_out.empty() && (question_.share <= 0 || question_.share >= 1))
      refuse("--hold-out {}: a share between 0 and 1, or --held-out SPEC", question_.share);
  }

  ModelInput model_;
  DataInput data_{"train", "training records", Concept::training_data},
      test_{"test", "clean test records", Concept::test_data};
  RecipeOptions recipe_{5};
  AccuracyCheck check_;
  GateOptions gates_;
  std::string out_, labels_ = "given";
  const CLI::Option *hold_out_option_ = nullptr, *pool_option_ = nullptr, *successful_option_ = nullptr,
                    *layer_option_ = nullptr, *method_option_ = nullptr, *made_option_ = nullptr;
  answers::RetrainingQuestion question_{.made = "assay-retrain"};
};

}  // namespace

CommandInfo retrain_command() {
  return {"retrain",
          "whether it helps to train on these records as well: compared with random and adversarial "
          "additions, with intervals",
          "  assay retrain net.onnx --train train.npz,range=0:1 --test test.npz,range=0:1 --add "
          "attacked/pgd.npz --count 100 --repeats 5\n"
          "  assay retrain net.onnx --train train.npz,range=0:1 --test test.npz,range=0:1 --add findings.npz "
          "--labels majority --voters a.onnx b.onnx c.onnx \\\n"
          "      --against noise,'pgd[eps=0.1]' --checkpoint retraining --out-dir retrained\n"
          "  assay retrain net.onnx --train train.npz,range=0:1 --test test.npz,range=0:1 --add "
          "attacked/pgd.npz --coverage-raising 'idc[m=6]' --evaluate-on noise,removal",
          make_command<Retrain>, break_group};
}

}  // namespace assay::app
