// assay importance: which neurons decide.

#include <assay/error.h>
#include <assay/results.h>
#include "apps/assay/commands/catalogue.h"
#include "apps/assay/inputs.h"
#include "assay/results/document.h"
#include "assay/results/networks/pictures.h"
#include "assay/results/warnings.h"
#include "assay/support/ranks/ranks.h"

namespace assay::app {
namespace {

std::string method_help() {
  std::string text = "Methods:\n";
  for (const relevance::AttributionInfo& info : relevance::attributions())
    text += fmt::format("  {:32} {}\n", info.name, info.summary);
  return text;
}

class ImportanceCommand final : public Command {
 public:
  void declare(Flags& flags) override {
    model_.declare(flags, true);
    data_.declare(flags);
    check_.declare(flags);
    flags.add("--layer NAME", layers_,
              "layer by name or number, may be repeated (default: the layer before the last with weights)");
    flags.add("--method", options_.method, "attribution, see below");
    flags.add("--epsilon", options_.attribution.epsilon, "stabiliser of LRP-epsilon", CLI::NonNegativeNumber);
    flags.add("--redistribute-bias", redistribute_,
              "share the relevance of biases among the inputs instead of letting them absorb it");
    flags.add("--rule NODE=RULE", rules_, "NODE=RULE: this rule for this node, may be repeated");
    flags.add("--absolute", options_.absolute, "rank by absolute relevance");
    flags.add("--normalised", options_.normalised, "divide each record's relevance by its decision value");
    flags.add("--class", class_, "only records of this class number", CLI::NonNegativeNumber)
        ->default_str("");
    flags.add("--share", share_, "smallest m: neurons that hold this share of the absolute relevance",
              CLI::Range(0.0, 1.0));
    flags.add("--top", top_, "neurons listed per layer", CLI::Range(1, 100000));
    flags.add("--heatmaps", heatmaps_, "write pictures of the relevance of so many random records",
              CLI::Range(0, 10000));
    flags.add("--out FOLDER", out_, "folder for the pictures");
    flags.describe(method_help());
  }

  std::vector<Output> outputs() const override {
    return {{"--out", heatmaps_ > 0 ? out_ : "", Output::Kind::folder}};
  }

  bool shared() const override { return true; }
  report::Document run(Context& context) override {
    const DatasetPtr data = data_.open();
    const Session session = model_.open(context, data.get());
    prepare(context, *data);
    std::vector<Layer> layers;
    for (const std::string& name : layers_) layers.push_back(session.layer(name));
    if (layers.empty()) layers.push_back(session.penultimate_layer());
    const relevance::Importance importance =
        relevance::analyse_importance(session, data, layers, options_, context.progress);
    ranks().leave_to_first();
    check_.apply(importance.evaluation, session, data);
    report::Document document = results::document_of(importance, session, options_, share_, top_);
    if (heatmaps_ > 0) {
      if (results::is_picture(*data)) {
        document.pictures = results::draw_relevance(session, *data, options_.method, options_.attribution,
                                                    {heatmaps_, context.settings.seed, out_});
      } else {
        document.notices.push_back(
            fmt::format("records of shape {} are no pictures, so there are no heat maps",
                        to_string(data->record_shape())));
      }
    }
    results::add_warnings(document, results::class_warnings(session, *data));
    results::add_provenance(document, session.graph(), {{"data", data}});
    return document;
  }

 private:
  void prepare(Context& context, const Dataset& data) {
    options_.batch = context.settings.batch;
    options_.attribution.bias_absorbs = !redistribute_;
    options_.attribution.range = data.valid_range();
    if (class_ >= 0) options_.only_class = class_;
    for (const std::string& rule : rules_) {
      const std::size_t equals = rule.rfind('=');
      if (equals == std::string::npos)
        fail(Fault::usage, "--rule {}: NODE=RULE is needed, such as conv1=gamma", rule);
      options_.attribution.layer_rules.emplace_back(rule.substr(0, equals), rule.substr(equals + 1));
    }
  }

  ModelInput model_;
  DataInput data_{"data", "training records"};
  AccuracyCheck check_;
  relevance::ImportanceOptions options_;
  std::vector<std::string> layers_, rules_;
  bool redistribute_ = false;
  std::int64_t class_ = -1;
  double share_ = 0.9;
  std::size_t top_ = 12, heatmaps_ = 0;
  std::string out_ = "assay-relevance";
};

}  // namespace

CommandInfo importance_command() {
  return {"importance", "the neurons that decide, by layer-wise relevance propagation and other attributions",
          "  assay importance --model lenet5.onnx --data train-images-idx3-ubyte.gz\n"
          "  assay importance --model net.onnx --data train.npz --layer conv2 --method epsilon-plus --top 5\n"
          "  assay importance --model net.onnx --data test.npz --heatmaps 8 --out pictures\n"
          "There is no --shard: neurons are ranked by sums over all records.",
          make_command<ImportanceCommand>};
}

}  // namespace assay::app
