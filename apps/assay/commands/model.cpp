// assay model: what a network consists of, as the analyses see it.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "apps/assay/commands/catalogue.h"
#include "apps/assay/inputs.h"
#include "assay/model/model.h"
#include "assay/relevance/attribution.h"
#include "assay/engine/dead_neurons.h"
#include "assay/engine/operators.h"

namespace assay::app {
namespace {

// Operators that hand neurons on to the next layer.
bool hands_on(std::string_view op) {
  static const std::set<std::string_view> movement{"Flatten", "Reshape", "Transpose", "Squeeze", "Unsqueeze", "Concat",
                                                   "Pad", "Slice", "Gather"};
  return movement.contains(op) || is_pooling(op) || is_pass_through(op);
}

// True when the layer's neurons reach a linear operator, where switching one off or disturbing it is felt.
bool feeds_linear(const Graph& graph, const Layer& layer) {
  std::set<ValueId> seen{layer.value};
  std::vector<ValueId> open{layer.value};
  while (!open.empty()) {
    const ValueId id = open.back();
    open.pop_back();
    for (const int reader : graph.consumers(id)) {
      const Node& node = graph.nodes()[static_cast<std::size_t>(reader)];
      if (is_convolution(node.op) || is_dense(node.op) || is_recurrent(node.op)) return true;
      if (!hands_on(node.op)) continue;
      for (const ValueId out : node.outputs) {
        if (out != no_value && seen.insert(out).second) open.push_back(out);
      }
    }
  }
  return false;
}

bool mutable_layer(const Graph& graph, const Layer& layer) { return layer.parameters > 0 || feeds_linear(graph, layer); }

Table layer_table(const Session& session, const std::vector<std::vector<std::size_t>>* dead) {
  Table table{"layers", "Layers",
              {{"index", "#", Column::Kind::count}, {"name", "layer"}, {"operator", "operator"},
               {"output_shape", "output shape"}, {"neurons", "neurons", Column::Kind::count},
               {"parameters", "parameters", Column::Kind::count}, {"carries_relevance", "relevance"}, {"can_mutate", "mutable"}}, {}};
  if (dead) table.columns.push_back({"dead", "dead", Column::Kind::count});
  const std::vector<Layer>& layers = session.layers();
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const Layer& layer = layers[i];
    std::vector<Cell> row{static_cast<std::int64_t>(i), layer.name, layer.op, to_string(layer.shape), layer.neurons,
                          layer.parameters, carries_relevance(session, layer), mutable_layer(session.graph(), layer)};
    if (dead) row.emplace_back(static_cast<std::int64_t>((*dead)[i].size()));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string shapes(const Graph& graph, std::span<const ValueId> ids, const Session& session) {
  std::string text;
  for (const ValueId id : ids) {
    Shape shape = graph.value(id).shape;
    if (shape.empty()) {
      shape = session.shape(id);  // of a batch of one
      if (!shape.empty() && shape[0] == 1) shape[0] = -1;
    }
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", graph.value(id).name, to_string(shape));
  }
  return text;
}

class Model final : public Command {
 public:
  void declare(CLI::App& app) override {
    model_.declare(app, true);
    data_.declare(app);
    app.add_option("--write", write_, "write the network as ONNX, whatever it was read from")->type_name("FILE.onnx");
  }

  Document run(Context& context) override {
    const DatasetPtr data = data_.given() ? data_.open() : nullptr;
    const Session session = model_.open(context, data.get());
    const Graph& graph = session.graph();
    const std::vector<Layer>& layers = session.layers();
    Document document;
    document.headline = fmt::format("{}: {} layers, {} parameters", graph.name(), layers.size(), graph.parameter_count());
    document.facts = {{"nodes", "nodes", static_cast<std::int64_t>(graph.nodes().size()), Column::Kind::count},
                      {"layers", "layers", static_cast<std::int64_t>(layers.size()), Column::Kind::count},
                      {"neurons", "neurons", total_neurons(layers), Column::Kind::count},
                      {"parameters", "parameters", graph.parameter_count(), Column::Kind::count},
                      {"inputs", "inputs", shapes(graph, graph.inputs(), session)},
                      {"outputs", "outputs", shapes(graph, graph.outputs(), session)}};
    std::vector<std::vector<std::size_t>> dead;
    if (data) dead = find_dead_neurons(session, layers, data, walk_options(context, "looking for dead neurons"), context.progress);
    document.tables = {layer_table(session, data ? &dead : nullptr)};
    add_notices(document, session, dead);
    if (!write_.empty()) write_onnx(graph, write_);
    document.provenance.emplace_back("model", graph.name());
    document.provenance.emplace_back("model_hash", graph.hash());
    if (data) document.provenance.emplace_back("data_hash", data->hash());
    return document;
  }

 private:
  static std::int64_t total_neurons(const std::vector<Layer>& layers) {
    std::int64_t total = 0;
    for (const Layer& layer : layers) total += layer.neurons;
    return total;
  }

  static void add_notices(Document& document, const Session& session, const std::vector<std::vector<std::size_t>>& dead) {
    document.notices = session.graph().notices();
    document.notices.insert(document.notices.end(), session.notices().begin(), session.notices().end());
    if (session.ends_in_softmax()) {
      document.notices.push_back(fmt::format("the network ends in a softmax; analyses use '{}', the value before it",
                                             session.graph().value(session.logits()).name));
    }
    for (std::size_t i = 0; i < dead.size(); ++i) {
      const Layer& layer = session.layers()[i];
      if (dead[i].empty()) continue;
      document.notices.push_back(fmt::format("layer '{}': {} of {} neurons are zero on all records (the first is {})",
                                             layer.name, dead[i].size(), layer.neurons, dead[i][0]));
    }
  }

  ModelInput model_;
  DataInput data_{"data", "records on which to look for dead neurons"};
  std::string write_;
};

}  // namespace

CommandInfo model_command() {
  return {"model", "layers, neurons and parameters of a network, with warnings",
          "  assay model --model lenet5.onnx\n"
          "  assay model --model lenet5.onnx --data t10k-images-idx3-ubyte.gz\n"
          "  assay model lenet5.h5 --write lenet5.onnx",
          make_command<Model>};
}

}  // namespace assay::app
