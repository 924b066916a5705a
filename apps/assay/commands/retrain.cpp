// assay retrain: does it help to train on these records, too?

#include <fmt/format.h>

#include "apps/assay/additions.h"
#include "apps/assay/commands/catalogue.h"
#include "apps/assay/gate_options.h"
#include "apps/assay/inputs.h"
#include "apps/assay/recipe_options.h"
#include "apps/assay/retraining_tables.h"
#include "assay/coverage/learn.h"
#include "assay/data/views.h"
#include "assay/retraining/raising.h"
#include "assay/support/error.h"

namespace assay::app {
namespace {

using Kind = Column::Kind;

class Retrain final : public Command {
 public:
  void declare(CLI::App& app) override {
    model_.declare(app, true);
    data_.declare(app);
    test_.declare(app);
    given_.declare(app);
    made_.declare(app);
    app.add_option("--count", count_, "records to add, the same number of every kind")->check(CLI::PositiveNumber)->capture_default_str();
    app.add_option("--coverage-raising", raising_, "as one more kind, of the given records those that cover what the test set does not, by this criterion (idc, 'kmnc[sections=100]', ...)")->type_name("SPEC");
    app.add_option("--layer", layers_, "subject layer of idc and the surprise criteria, for --coverage-raising")->type_name("NAME");
    app.add_option("--repeats", repeats_, "times that each kind is drawn and trained, with other seeds")->check(CLI::Range(1, 10'000))->capture_default_str();
    app.add_option("--checkpoint", checkpoint_, "finished runs are kept here; the same command goes on from them")->type_name("FOLDER");
    app.add_option("--out-dir", out_, "write the first retrained network of each kind, as ONNX")->type_name("FOLDER");
    recipe_.declare(app);
    check_.declare(app);
    gates_.declare(app);
  }

  Document run(Context& context) override {
    given_.check();
    made_.check();
    gates_.check();
    const DatasetPtr training = data_.open(), test = test_.open();
    const Session session = model_.open(context, training.get());
    Document document;
    if (check_.expects()) check_.run(session, test, context, document);
    const GivenAdditions::Sides given = given_.open(context, training, document);
    RetrainingPlan plan;
    plan.training = training;
    plan.recipe = recipe_.recipe();
    plan.count = count_;
    plan.repeats = repeats_;
    plan.seed = context.settings.seed;
    plan.networks = out_;
    plan.conditions = {{"given", given.candidates}};
    if (!raising_.empty()) plan.conditions.insert(plan.conditions.begin(), raising(session, training, test, given.candidates, plan.count, context, document));
    for (Condition& condition : made_.conditions(session, training, plan.count, context, document)) plan.conditions.push_back(std::move(condition));
    plan.conditions.push_back({control, nullptr});
    plan.sets = {{"test", test}, {"held-out", given.held}};
    for (EvaluationSet& set : made_.sets(session, test, context, document)) plan.sets.push_back(std::move(set));
    if (!checkpoint_.empty()) plan.journal = std::filesystem::path(checkpoint_) / "retraining.journal";
    const Retraining result = retrain(session.graph(), plan, session.options(), context.progress);
    describe(document, plan, result, given.candidates->size());
    add_provenance(document, session, {{"data", training}, {"test", test}, {"added", given.candidates}, {"held_out", given.held}});
    return document;
  }

 private:
  static constexpr const char* control = "none";

  // The candidates that raise coverage; where there are too few, fewer records of every kind are added.
  Condition raising(const Session& session, const DatasetPtr& training, const DatasetPtr& test, const DatasetPtr& candidates, std::size_t& count, Context& context,
                    Document& document) const {
    const Spec criterion = parse_spec("criterion", raising_);
    LearnOptions learn;
    learn.criteria = {criterion};
    learn.subjects = layers_;
    learn.batch = context.settings.batch;
    const auto profile = std::make_shared<const Profile>(learn_profile(session, training, learn, context.progress).profile);
    const Raising raising = coverage_raising(session, profile, criterion, test, candidates, count, context.settings.batch, context.progress);
    if (raising.records.empty()) fail(Fault::data, "--coverage-raising {}: none of {} covers anything that the test set does not", raising_, candidates->describe());
    if (raising.records.size() < count) {
      document.notices.push_back(fmt::format("only {} of the given records raise {}: so many of every kind are added, not {}", raising.records.size(), criterion.text(), count));
      count = raising.records.size();
    }
    std::uint64_t gained = 0;
    for (const std::uint64_t gain : raising.gain) gained += gain;
    document.facts.push_back({"covered", "items that the test set covers", static_cast<std::int64_t>(raising.before), Kind::count});
    document.facts.push_back({"raised", "more items that the coverage-raising records cover", static_cast<std::int64_t>(gained), Kind::count});
    document.facts.push_back({"available", "more items that all given records cover", static_cast<std::int64_t>(raising.available), Kind::count});
    document.definitions.push_back({"raising", fmt::format("given records chosen greedily, each the one that adds most items of {} to the test set and those before", criterion.text()),
                                    "Gerasimou et al., ICSE 2020 (RQ6); docs/algorithms/retraining.md"});
    return {"raising", selected(candidates, raising.records)};
  }

  void describe(Document& document, const RetrainingPlan& plan, const Retraining& result, std::size_t candidates) const {
    const std::vector<ConditionScore> scores = compare(plan, result, control, made_.reference());
    const auto score = [&](double value) { return result.higher_is_better ? percent(value) : fmt::format("{:.5f}", value); };
    std::string parts;
    for (const ConditionScore& row : scores) {
      if (row.condition != plan.conditions[0].name) continue;
      const std::size_t set = static_cast<std::size_t>(&row - scores.data()) / plan.conditions.size();
      parts += fmt::format("{} {}: {} to {}", parts.empty() ? "" : ",", row.set, score(result.before[set]), score(row.score.mean));
    }
    document.headline = fmt::format("{} additions ({}) to {}, {} of {}:{}", plan.count, plan.conditions[0].name, plan.training->describe(), repeats_ == 1 ? "one run" : fmt::format("means of {} runs", repeats_),
                                    result.higher_is_better ? "accuracy" : "the mean squared error", parts);
    document.facts.push_back({"additions", "additions of each kind", static_cast<std::int64_t>(plan.count), Kind::count});
    document.facts.push_back({"candidates", "given records to draw them from", static_cast<std::int64_t>(candidates), Kind::count});
    document.facts.push_back({"held_out", "given records held out", static_cast<std::int64_t>(plan.sets[1].data->size()), Kind::count});
    document.facts.push_back({"epochs", "epochs of fine-tuning", static_cast<std::int64_t>(plan.recipe.epochs), Kind::count});
    document.tables = {retraining_table(plan, result, scores), difference_table(result, scores, control, made_.reference()), run_table(plan, result)};
    const std::vector<Measurement> measurements = measurements_of(result, scores);
    gates_.apply(document, measurements);
    document.tables.push_back(criteria_table(measurements));
    document.tables.back().detail = true;
    document.definitions.insert(document.definitions.begin(),
                                {{"none", "the network trained for as many epochs without additions: the control", "docs/algorithms/retraining.md"},
                                 {"from, to", "95 % confidence interval of the mean over the repeats (Student's t); differences are taken repeat by repeat, with the same seed",
                                  "docs/algorithms/retraining.md"}});
    if (result.reused > 0) document.notices.push_back(fmt::format("{} of {} runs were known from {}", result.reused, result.runs.size(), checkpoint_));
    if (repeats_ < 2) document.notices.push_back("one repeat gives no interval; use --repeats");
  }

  ModelInput model_;
  DataInput data_{"data", "training records"}, test_{"test", "clean test records"};
  GivenAdditions given_;
  MadeAdditions made_;
  RecipeOptions recipe_{5};
  AccuracyCheck check_;
  GateOptions gates_;
  std::size_t count_ = 100, repeats_ = 5;
  std::string checkpoint_, out_, raising_;
  std::vector<std::string> layers_;
};

}  // namespace

CommandInfo retrain_command() {
  return {"retrain", "does it help to train on these records, too? compared with random and adversarial additions, with intervals",
          "  assay retrain net.onnx --data train.npz,range=0:1 --test test.npz,range=0:1 --add attacked/pgd.npz --count 100 --repeats 5\n"
          "  assay retrain net.onnx --data train.npz,range=0:1 --test test.npz,range=0:1 --add findings.npz --labels majority --voters a.onnx b.onnx c.onnx \\\n"
          "      --against noise,'pgd[eps=0.1]' --checkpoint retraining --out-dir retrained\n"
          "  assay retrain net.onnx --data train.npz,range=0:1 --test test.npz,range=0:1 --add attacked/pgd.npz --coverage-raising 'idc[m=6]' --evaluate-on noise,removal",
          make_command<Retrain>};
}

}  // namespace assay::app
