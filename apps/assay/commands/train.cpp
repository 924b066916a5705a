// assay train: trains a published architecture or any network file.

#include <fmt/format.h>

#include "apps/assay/commands/catalogue.h"
#include "apps/assay/inputs.h"
#include "apps/assay/recipe_options.h"
#include "assay/model/model.h"
#include "assay/support/error.h"
#include "assay/support/text.h"
#include "assay/training/architectures.h"
#include "assay/training/trainer.h"

namespace assay::app {
namespace {

Table epoch_table(const TrainingResult& result, bool classification) {
  using Kind = Column::Kind;
  Table table{"epochs", "Epochs", {{"epoch", "epoch", Kind::count}, {"loss", "loss", Kind::number, 5}}, {}};
  if (classification) table.columns.insert(table.columns.end(), {{"accuracy", "accuracy", Kind::percent}, {"validation_accuracy", "validation accuracy", Kind::percent}});
  else table.columns.push_back({"validation_loss", "validation mse", Kind::number, 5});
  for (std::size_t e = 0; e < result.epochs.size(); ++e) {
    const EpochResult& epoch = result.epochs[e];
    const auto cell = [](const std::optional<double>& v) { return v ? Cell{*v} : Cell{}; };
    std::vector<Cell> row{static_cast<std::int64_t>(e + 1), epoch.loss};
    if (classification) row.insert(row.end(), {Cell{epoch.accuracy}, cell(epoch.validation_accuracy)});
    else row.push_back(cell(epoch.validation_loss));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string architecture_help() {
  std::vector<std::string> names;
  for (const ArchitectureInfo& info : architectures()) names.push_back(info.name);
  return joined(names);
}

class Train final : public Command {
 public:
  void declare(CLI::App& app) override {
    app.add_option("--architecture", architecture_, "published architecture: " + architecture_help())->type_name("NAME");
    app.add_option("--model", model_, "network file to train instead (see --initialiser)")->type_name("FILE");
    data_.declare(app);
    validation_.declare(app);
    app.add_option("--out", out_, "where the trained network goes, as ONNX")->type_name("FILE.onnx");
    app.add_option("--checkpoint", checkpoint_, "written after each epoch; the same command continues from it")->type_name("FILE.npz");
    options_.declare(app);
    app.add_option("--initialiser", initialiser_, "keras, pytorch, or keep the weights of --model")->capture_default_str();
    app.add_flag("--last-epoch", last_epoch_, "keep the last epoch even if an earlier one validates better");
  }

  Document run(Context& context) override {
    if (architecture_.empty() == model_.empty()) fail(Fault::usage, "what to train? give either --architecture NAME or --model FILE");
    if (out_.empty()) fail(Fault::usage, "where should the trained network go? give --out FILE.onnx");
    const Graph graph = architecture_.empty() ? read_model(model_) : build_architecture(architecture_);
    const DatasetPtr data = data_.open(), validation = validation_.given() ? validation_.open() : nullptr;
    Recipe recipe = options_.recipe();
    recipe.initialiser = initialiser_;
    recipe.seed = context.settings.seed;
    recipe.checkpoint = checkpoint_;
    recipe.best_epoch = !last_epoch_;
    const TrainingResult result = train(graph, data, validation, recipe, session_options(context, data.get()), context.progress);
    write_onnx(result.graph, out_);
    return describe(result, data, validation);
  }

 private:
  Document describe(const TrainingResult& result, const DatasetPtr& data, const DatasetPtr& validation) const {
    const EpochResult& best = result.epochs.at(result.best_epoch);
    Document document;
    const std::string score = best.validation_accuracy ? fmt::format("validation accuracy {:.2f} %", 100 * *best.validation_accuracy)
                              : best.validation_loss   ? fmt::format("validation mean squared error {:.5f}", *best.validation_loss)
                                                       : fmt::format("training loss {:.5f}", best.loss);
    document.headline = fmt::format("trained {} on {}: epoch {}, {}; written to {}", result.graph.name(), data->describe(), result.best_epoch + 1, score, out_);
    document.facts = {{"parameters", "parameters", result.graph.parameter_count(), Column::Kind::count},
                      {"best_epoch", "epoch kept", static_cast<std::int64_t>(result.best_epoch + 1), Column::Kind::count}};
    document.tables.push_back(epoch_table(result, options_.recipe().loss == "cross-entropy"));
    document.provenance = {{"model_hash", result.graph.hash()}, {"data", data->describe()}, {"data_hash", data->hash()}};
    if (validation) document.provenance.emplace_back("validation_hash", validation->hash());
    return document;
  }

  std::string architecture_, model_, out_, checkpoint_, initialiser_ = "keras";
  bool last_epoch_ = false;
  RecipeOptions options_{10};
  DataInput data_{"data", "training records"}, validation_{"validation", "records that choose the best epoch"};
};

}  // namespace

CommandInfo train_command() {
  return {"train", "train a published architecture or any network on data",
          "  assay train --architecture lenet5 --data digits:12000 --validation digits:2000,seed=2 --epochs 4 --out lenet5.onnx\n"
          "  assay train --architecture dave2 --data frames.tar,targets=steering.csv --loss mse --out dave2.onnx\n"
          "  assay train --model net.onnx --initialiser keep --optimiser adam --learning-rate 1e-4 --data more.npz --out tuned.onnx",
          make_command<Train>};
}

}  // namespace assay::app
