// assay importance: which neurons decide.

#include "assay/answers/networks/importance.h"
#include <assay/error.h>
#include "apps/assay/command.h"
#include "apps/assay/inputs.h"
#include "assay/answers/tokenizer.h"

namespace assay::app {
namespace {

std::string method_help() {
  std::string text = "Methods:\n";
  const auto add_options = [&text](const relevance::AttributionInfo& info) {
    for (const SpecOption& option : info.options)
      text +=
          fmt::format("    {:30} {}\n", fmt::format("[{}={}]", option.name, option.fallback), option.summary);
  };
  for (const relevance::AttributionInfo& info : relevance::attributions()) {
    text += fmt::format("  {:32} {}\n", info.name, info.summary);
    if (!info.has_rules) add_options(info);
  }
  text += "  of those from epsilon to attn-lrp-gamma:\n";
  add_options(relevance::attribution_named("epsilon"));
  return text;
}

class ImportanceCommand final : public Command {
 public:
  void declare(Flags& flags) override {
    flags.take({Shared::seed});
    model_.declare(flags, true);
    model_.declare_views(flags);
    data_.declare(flags, true);
    check_.declare(flags);
    model_.declare_task(flags, question_.task);
    flags.add_list(
        "--layer NAME,...", question_.layers,
        "layer by name or number, may be repeated (default: the layer before the last with weights)");
    flags.add("--method", question_.options.method, "attribution, see below; its options in brackets");
    of_rules_.push_back(flags.add("--epsilon", question_.options.attribution.epsilon,
                                  "stabiliser of LRP-epsilon", CLI::NonNegativeNumber));
    of_rules_.push_back(
        flags.add("--redistribute-bias", redistribute_,
                  "share the relevance of biases among the inputs instead of letting them absorb it"));
    of_rules_.push_back(flags.add_list("--rule NODE=RULE,...", rules_,
                                       "NODE=RULE: this rule for this node, may be repeated"));
    flags.add("--absolute", question_.options.absolute, "rank by absolute relevance");
    flags.add("--normalised", question_.options.normalised,
              "divide each record's relevance by its decision value");
    flags
        .add("--class", class_, "only records (of tasks of items: only items) of this class number",
             CLI::NonNegativeNumber)
        ->default_str("");
    flags.add("--share", question_.share,
              "smallest m: neurons that hold this share of the absolute relevance", CLI::Range(0.0, 1.0));
    flags.add("--top", question_.top, "neurons listed per layer", CLI::Range(1, 100000));
    flags.of_the_run().add(
        "--heatmaps", question_.heat_maps,
        "write pictures of the relevance of this many random records; of texts also tables of their words",
        CLI::Range(0, 10000));
    folder_ = flags.add_output("--out FOLDER", question_.folder, "folder for the pictures",
                               {.members = {"relevance-[0-9]*.png", "relevance-[0-9]*.svg"},
                                .when = [this] { return question_.heat_maps > 0; }});
    flags.describe(method_help());
  }

  bool shared() const override { return true; }
  report::Document run(Context& context) override {
    const std::string& method = question_.options.method;
    if (!relevance::attribution_named(method).has_rules)
      refuse_without_effect(of_rules_, "on method " + method + ": it is for rules of LRP");
    if (question_.heat_maps == 0) refuse_without_effect({folder_}, of_flags("without --heatmaps"));
    const DatasetPtr data = data_.open();
    const Session session = model_.open(context, data.get());
    model_.refuse_idle_views(session, question_.layers);
    question_.options.attribution.bias_absorbs = !redistribute_;
    if (class_ >= 0) question_.options.only_class = class_;
    for (const std::string& rule : rules_) {
      const std::size_t equals = rule.rfind('=');
      if (equals == std::string::npos) refuse("--rule {}: NODE=RULE is needed, such as conv1=gamma", rule);
      question_.options.attribution.layer_rules.emplace_back(rule.substr(0, equals), rule.substr(equals + 1));
    }
    question_.accuracy = check_.declared();
    question_.tokenizer = answers::tokenizer_for(data_.spec(), model_.path());
    return answers::find_importance(session, data, question_, setting_of(context), context.progress);
  }

 private:
  ModelInput model_;
  DataInput data_{"data", "training records", Concept::training_data};
  AccuracyCheck check_;
  std::vector<std::string> rules_;
  bool redistribute_ = false;
  std::int64_t class_ = -1;
  std::vector<const CLI::Option*> of_rules_;  // that matter to LRP only
  const CLI::Option* folder_ = nullptr;
  answers::ImportanceQuestion question_{.folder = "assay-relevance"};
};

}  // namespace

CommandInfo importance_command() {
  return {"importance",
          "the neurons that decide, by layer-wise relevance propagation and other attributions",
          "  assay importance lenet5.onnx train-images-idx3-ubyte.gz\n"
          "  assay importance net.onnx train.npz --layer conv2 --method epsilon-plus --top 5\n"
          "  assay importance net.onnx test.npz --heatmaps 8 --out pictures\n"
          "There is no --shard: neurons are ranked by sums over all records.",
          make_command<ImportanceCommand>,
          explain_group,
          true};
}

}  // namespace assay::app
