// assay importance: which neurons decide.

#include <fmt/format.h>

#include <algorithm>

#include "apps/assay/commands/catalogue.h"
#include "apps/assay/heat_map.h"
#include "apps/assay/inputs.h"
#include "assay/relevance/importance.h"
#include "assay/support/error.h"

namespace assay::app {
namespace {

using Kind = Column::Kind;

Table ranking_table(const Importance& importance, std::size_t top) {
  Table table{"neurons", "Neurons by relevance",
              {{"layer", "layer"}, {"rank", "rank", Kind::count}, {"neuron", "neuron", Kind::count}, {"relevance", "relevance", Kind::number, 2},
               {"share", "share of the absolute sum", Kind::percent}}, {}};
  for (const LayerImportance& layer : importance.layers) {
    double total = 0;
    for (const double a : layer.absolute) total += a;
    const std::vector<std::size_t> ranking = layer.ranking();
    for (std::size_t i = 0; i < std::min(top, ranking.size()); ++i) {
      const std::size_t n = ranking[i];
      table.rows.push_back({layer.layer.name, static_cast<std::int64_t>(i + 1), static_cast<std::int64_t>(n), layer.relevance[n],
                            total > 0 ? Cell{layer.absolute[n] / total} : Cell{}});
    }
  }
  return table;
}

Table conservation_table(const Importance& importance, double share, std::size_t cap) {
  Table table{"layers", "Layers",
              {{"layer", "layer"}, {"neurons", "neurons", Kind::count}, {"relevance_in", "relevance put in", Kind::number, 1},
               {"relevance_here", "arriving here", Kind::number, 1}, {"conserved", "conserved", Kind::percent}, {"m", "smallest m", Kind::count}}, {}};
  for (const LayerImportance& layer : importance.layers) {
    table.rows.push_back({layer.layer.name, layer.layer.neurons, layer.total_in, layer.total_here,
                          layer.total_in != 0 ? Cell{layer.total_here / layer.total_in} : Cell{}, static_cast<std::int64_t>(layer.smallest_m(share, cap))});
  }
  return table;
}

std::string method_help() {
  std::string text = "Methods:\n";
  for (const AttributionInfo& info : attributions()) text += fmt::format("  {:32} {}\n", info.name, info.summary);
  return text;
}

class ImportanceCommand final : public Command {
 public:
  void declare(CLI::App& app) override {
    model_.declare(app);
    data_.declare(app);
    check_.declare(app);
    app.add_option("--layer", layers_, "layer by name or number, may be repeated (default: the layer before the last with weights)")->type_name("NAME");
    app.add_option("--method", options_.method, "attribution, see below")->capture_default_str();
    app.add_option("--epsilon", options_.attribution.epsilon, "stabiliser of LRP-epsilon")->check(CLI::NonNegativeNumber)->capture_default_str();
    app.add_flag("--redistribute-bias", redistribute_, "share the relevance of biases among the inputs instead of letting them absorb it");
    app.add_option("--rule", rules_, "NODE=RULE: this rule for this node, may be repeated")->type_name("NODE=RULE");
    app.add_flag("--absolute", options_.absolute, "rank by absolute relevance");
    app.add_flag("--normalised", options_.normalised, "divide each record's relevance by its decision value");
    app.add_option("--class", class_, "only records of this class number")->check(CLI::NonNegativeNumber);
    app.add_option("--share", share_, "smallest m: neurons that hold this share of the absolute relevance")->check(CLI::Range(0.0, 1.0))->capture_default_str();
    app.add_option("--top", top_, "neurons listed per layer")->check(CLI::Range(1, 100000))->capture_default_str();
    app.add_option("--heatmaps", heatmaps_, "write pictures of the relevance of so many random records")->check(CLI::Range(0, 10000))->capture_default_str();
    app.add_option("--out", out_, "folder for the pictures")->type_name("FOLDER")->capture_default_str();
    app.description(app.get_description() + "\n\n" + method_help());
  }

  Document run(Context& context) override {
    const DatasetPtr data = data_.open();
    const Session session = model_.open(context, data.get());
    prepare(context, *data);
    std::vector<Layer> layers;
    for (const std::string& name : layers_) layers.push_back(session.layer(name));
    if (layers.empty()) layers.push_back(session.penultimate_layer());
    const Importance importance = analyse_importance(session, data, layers, options_, context.progress);
    Document document;
    check_.apply(importance.evaluation, session, data, document, "data");
    document.facts.push_back({"records", "records", static_cast<std::int64_t>(importance.records), Kind::count});
    document.facts.push_back({"used", "of them used (correct and finite)", static_cast<std::int64_t>(importance.used), Kind::count});
    document.tables = {conservation_table(importance, share_, 50), ranking_table(importance, top_)};
    const LayerImportance& first = importance.layers.front();
    document.headline = fmt::format("{}: neuron {} of {} carries most relevance; {} neurons hold {} of it", session.graph().name(),
                                    first.ranking().front(), first.layer.name, first.smallest_m(share_, first.relevance.size()), percent(share_));
    AttributionOptions described = options_.attribution;
    for (const Layer& layer : layers) described.wanted.push_back(layer.value);
    const auto attribution = make_attribution(options_.method, session, described);
    document.definitions = {{"relevance", attribution->describe(), "docs/algorithms/relevance.md"},
                            {"importance", "relevance of a neuron (over all positions of a channel) summed over the correctly classified records",
                             "Gerasimou et al., Importance-Driven Deep Learning System Testing, ICSE 2020, section 3.1"}};
    if (heatmaps_ > 0) {
      if (is_picture(*data)) {
        document.pictures = draw_relevance(session, *data, options_.method, options_.attribution, {heatmaps_, context.settings.seed, out_});
      } else {
        document.notices.push_back(fmt::format("records of shape {} are no pictures, so there are no heat maps", to_string(data->record_shape())));
      }
    }
    add_provenance(document, session, {{"data", data}});
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
      if (equals == std::string::npos) fail(Fault::usage, "--rule {}: NODE=RULE is needed, such as conv1=gamma", rule);
      options_.attribution.layer_rules.emplace_back(rule.substr(0, equals), rule.substr(equals + 1));
    }
  }

  ModelInput model_;
  DataInput data_{"data", "training records"};
  AccuracyCheck check_;
  ImportanceOptions options_;
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
