// assay retrain: does it help to train on these records, too?

#include <assay/error.h>
#include <assay/model.h>
#include "apps/assay/commands/catalogue.h"
#include "apps/assay/inputs.h"
#include "apps/assay/recipe_options.h"
#include "assay/results/document.h"
#include "assay/results/testing/retraining.h"
#include "assay/retraining/study.h"

namespace assay::app {
namespace {

class Retrain final : public Command {
 public:
  void declare(Flags& flags) override {
    model_.declare(flags, true);
    data_.declare(flags);
    test_.declare(flags);
    declare_given(flags);
    declare_made(flags);
    flags.add("--count", count_, "records to add, the same number of every kind", CLI::PositiveNumber);
    flags.add("--coverage-raising SPEC", raising_,
              "as one more kind, of the given records those that cover what the test set does not, by this "
              "criterion (idc, 'kmnc[sections=100]', ...)");
    layer_option_ = flags.add("--layer NAME", layers_,
                              "subject layer of idc and the surprise criteria, for --coverage-raising");
    flags.add("--repeats", repeats_, "times that each kind is drawn and trained, with other seeds",
              CLI::Range(1, 10'000));
    flags.add("--checkpoint FOLDER", checkpoint_,
              "finished runs are kept here; the same command goes on from them");
    flags.add("--out-dir FOLDER", out_, "write the first retrained network of each kind, as ONNX");
    recipe_.declare(flags);
    check_.declare(flags);
    gates_.declare(flags);
  }

  std::vector<Output> outputs() const override {
    std::vector<Output> all{{"--made-dir", folder_, Output::Kind::folder},
                            {"--out-dir", out_, Output::Kind::folder}};
    if (checkpoint_.empty()) return all;
    all.push_back({"--checkpoint", checkpoint_, Output::Kind::folder});
    all.push_back({"the journal of --checkpoint", journal().string(), Output::Kind::journal});
    return all;
  }

  report::Document run(Context& context) override {
    check_given();
    const std::vector<Spec> against = attacks_of(against_), judging = attacks_of(evaluate_on_);
    gates_.check({"retrained"});
    const DatasetPtr training = data_.open(), test = test_.open();
    const Session session = model_.open(context, training.get());
    gates_.check_baseline(session.graph().hash(), test->hash());
    report::Document document;
    check_.run_if_asked(session, test, context, document);
    const retraining::Study study{
        test,
        given_additions(*training, *test, context, document),
        raising_.empty() ? std::nullopt : std::optional(parse_spec("criterion", raising_)),
        layers_,
        against,
        judging,
        {pool_, only_successful_, folder_, context.settings.batch, context.settings.seed}};
    const retraining::Preparation prepared =
        retraining::prepare(session, study, plan(training, context), context.progress);
    describe(document, study, prepared);
    const retraining::Retraining result =
        retraining::retrain(session.graph(), prepared.plan, session.options(), context.progress);
    describe(document, prepared, result);
    results::add_provenance(document, session.graph(),
                            {{"data", training},
                             {"test", test},
                             {"added", study.given.candidates},
                             {"held_out", study.given.held}});
    return document;
  }

 private:
  std::filesystem::path journal() const { return std::filesystem::path(checkpoint_) / "retraining.journal"; }

  retraining::RetrainingPlan plan(const DatasetPtr& training, const Context& context) const {
    retraining::RetrainingPlan plan;
    plan.training = training;
    plan.recipe = recipe_.recipe(false);
    plan.count = count_;
    plan.repeats = repeats_;
    plan.seed = context.settings.seed;
    plan.networks = out_;
    plan.form = model_.form();
    if (!checkpoint_.empty()) plan.journal = journal();
    return plan;
  }

  static void describe(report::Document& document, const retraining::Study& study,
                       const retraining::Preparation& prepared) {
    document.notices.insert(document.notices.end(), prepared.notices.begin(), prepared.notices.end());
    if (prepared.raising) results::append(document, results::document_of(*prepared.raising, *study.raising));
    for (const retraining::MadeRecords& records : prepared.additions)
      document.definitions.push_back(results::definition_of(records, true));
    for (const retraining::MadeRecords& records : prepared.evaluation_sets)
      document.definitions.push_back(results::definition_of(records, false));
  }

  void describe(report::Document& document, const retraining::Preparation& prepared,
                const retraining::Retraining& result) const {
    constexpr const char* control = retraining::control_condition;
    const std::vector<retraining::ConditionScore> scores =
        retraining::compare(prepared.plan, result, control, prepared.reference);
    report::Document found = results::document_of(prepared.plan, result, scores, control, prepared.reference);
    std::swap(document.definitions, found.definitions);  // those of the method before those of this run
    results::append(document, std::move(found));
    gates_.apply(document, results::measurements_of(result, scores));
    if (repeats_ < 2) document.notices.push_back("one repeat gives no interval");
  }

  void declare_given(Flags& flags) {
    flags.add("--add SPEC", specs_,
              "records to add to the training data: findings, attacked records, any labelled data set; may "
              "be repeated");
    flags.add("--held-out SPEC", held_out_,
              "records of the same kind to judge by, instead of holding out a share of --add");
    hold_out_option_ =
        flags.add("--hold-out", share_,
                  "share of --add that is not trained on but judged by; records with one id stay together",
                  CLI::Range(0.0, 1.0));
    flags.add("--labels", labels_,
              "labels of the additions: given in their file, or the majority of --voters",
              CLI::IsMember({"given", "majority"}));
    flags.add("--voters FILE", voters_,
              "at least three networks that vote on labels; records without a majority are dropped");
  }

  void declare_made(Flags& flags) {
    flags.add("--against SPEC,...", against_,
              "attacks on training records whose results are added instead, in as many records; the first is "
              "what 'random' means; none");
    flags.add("--evaluate-on SPEC,...", evaluate_on_,
              "attacks on the test set (against the network as given) on whose results all are judged; none");
    pool_option_ =
        flags.add("--pool", pool_, "training records that each attack changes; additions are drawn from them",
                  CLI::PositiveNumber);
    successful_option_ = flags.add("--only-successful", only_successful_,
                                   "add attacked records only where the attack succeeded");
    flags.add("--made-dir FOLDER", folder_, "folder for the records that attacks make");
  }

  void check_given() const {
    if (specs_.empty())
      fail(Fault::usage, "which records should be added? give --add SPEC (records of `assay attack`, say)");
    const bool majority = labels_ == "majority";
    if (majority && voters_.size() < 3)
      fail(Fault::usage,
           "--labels majority needs --voters with at least three networks: two either agree or tie");
    if (!majority && !voters_.empty()) fail(Fault::usage, "--voters only vote with --labels majority");
    if (!held_out_.empty())
      refuse_without_effect({hold_out_option_}, "beside --held-out, which names the records to judge by");
    if (attacks_of(against_).empty())
      refuse_without_effect({pool_option_, successful_option_},
                            "with --against none: no attack makes additions");
    if (raising_.empty()) refuse_without_effect({layer_option_}, "without --coverage-raising");
    if (held_out_.empty() && (share_ <= 0 || share_ >= 1))
      fail(Fault::usage, "--hold-out {}: a share between 0 and 1, or --held-out SPEC", share_);
  }

  retraining::GivenAdditions given_additions(const Dataset& training, const Dataset& test, Context& context,
                                             report::Document& document) const {
    std::vector<Session> voters;
    for (const std::string& file : voters_)
      voters.emplace_back(read_model(file), session_options(context, &training));
    std::vector<DatasetPtr> given;
    for (const std::string& spec : specs_) given.push_back(open_dataset(spec));
    const DatasetPtr held = held_out_.empty() ? nullptr : open_dataset(held_out_);
    for (const DatasetPtr& added : given) {
      if (held && held->hash() == added->hash())
        document.notices.push_back(
            fmt::format("'{}' is both added and held out: networks are judged by what they were trained on",
                        held->describe()));
      if (test.hash() == added->hash())
        document.notices.push_back(fmt::format(
            "'{}' is both added and the test set: networks are judged by what they were trained on",
            added->describe()));
    }
    return retraining::divide_additions(given, {held, share_, voters, context.settings.seed},
                                        context.progress);
  }

  // Throws Error{usage} for attacks that do not exist, before any work.
  static std::vector<Spec> attacks_of(const std::string& text) {
    return text.empty() || text == "none" ? std::vector<Spec>() : attack::parse_attacks(text);
  }

  ModelInput model_;
  DataInput data_{"train", "training records"}, test_{"test", "clean test records"};
  RecipeOptions recipe_{5};
  AccuracyCheck check_;
  GateOptions gates_;
  std::size_t count_ = 100, repeats_ = 5;
  std::string checkpoint_, out_, raising_;
  std::vector<std::string> layers_, specs_, voters_;
  std::string held_out_, labels_ = "given";
  double share_ = 0.5;
  std::string against_ = "noise,fgsm", evaluate_on_ = "noise", folder_ = "assay-retrain";
  std::size_t pool_ = 1000;
  bool only_successful_ = false;
  const CLI::Option *hold_out_option_ = nullptr, *pool_option_ = nullptr, *successful_option_ = nullptr,
                    *layer_option_ = nullptr;
};

}  // namespace

CommandInfo retrain_command() {
  return {"retrain",
          "does it help to train on these records, too? compared with random and adversarial additions, with "
          "intervals",
          "  assay retrain net.onnx --train train.npz,range=0:1 --test test.npz,range=0:1 --add "
          "attacked/pgd.npz --count 100 --repeats 5\n"
          "  assay retrain net.onnx --train train.npz,range=0:1 --test test.npz,range=0:1 --add findings.npz "
          "--labels majority --voters a.onnx b.onnx c.onnx \\\n"
          "      --against noise,'pgd[eps=0.1]' --checkpoint retraining --out-dir retrained\n"
          "  assay retrain net.onnx --train train.npz,range=0:1 --test test.npz,range=0:1 --add "
          "attacked/pgd.npz --coverage-raising 'idc[m=6]' --evaluate-on noise,removal",
          make_command<Retrain>};
}

}  // namespace assay::app
