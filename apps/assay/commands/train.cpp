// assay train: trains a published architecture or any network file.

#include <assay/error.h>
#include <assay/model.h>
#include <assay/results.h>
#include "apps/assay/commands/catalogue.h"
#include "apps/assay/inputs.h"
#include "apps/assay/recipe_options.h"
#include "assay/support/text.h"

namespace assay::app {
namespace {

std::string architecture_help() {
  std::vector<std::string> names;
  for (const training::ArchitectureInfo& info : training::architectures()) names.push_back(info.name);
  return joined(names);
}

class Train final : public Command {
 public:
  void declare(CLI::App& app) override {
    app.add_option("--architecture", architecture_, "published architecture: " + architecture_help())
        ->type_name("SPEC");
    app.add_option("--model", model_, "network file to train instead (see --initialiser)")->type_name("FILE");
    data_.declare(app);
    validation_.declare(app);
    app.add_option("--out", out_, "where the trained network goes, as ONNX")->type_name("FILE.onnx");
    app.add_option("--checkpoint", checkpoint_,
                   "written after each epoch; the same command continues from it")
        ->type_name("FILE.npz");
    options_.declare(app);
    options_.declare_run(app);
  }

  std::vector<Output> outputs() const override {
    return {{"--out", out_}, {"--checkpoint", checkpoint_, Output::Kind::file, true}};
  }

  report::Document run(Context& context) override {
    if (architecture_.empty() == model_.empty())
      fail(Fault::usage, "what to train? give either --architecture NAME or --model FILE");
    if (out_.empty()) fail(Fault::usage, "where should the trained network go? give --out FILE.onnx");
    training::Recipe recipe = options_.recipe(validation_.given());
    recipe.seed = context.settings.seed;
    recipe.checkpoint = checkpoint_;
    const Graph graph =
        architecture_.empty() ? read_model(model_) : training::build_architecture(architecture_);
    const DatasetPtr data = data_.open(), validation = validation_.given() ? validation_.open() : nullptr;
    const training::TrainingResult result = training::train(
        graph, data, validation, recipe, session_options(context, data.get()), context.progress);
    write_onnx(result.graph, out_);
    report::Document document = results::document_of(result, recipe, *data, validation.get());
    document.headline += "; written to " + out_;
    return document;
  }

 private:
  std::string architecture_, model_, out_, checkpoint_;
  RecipeOptions options_{10};
  DataInput data_{"data", "training records"},
      validation_{"validation", "records that choose the best epoch"};
};

}  // namespace

CommandInfo train_command() {
  return {
      "train", "train a published architecture or any network on data",
      "  assay train --architecture lenet5 --data digits:12000 --validation digits:2000,seed=2 --epochs "
      "4 --out lenet5.onnx\n"
      "  assay train --architecture dave2 --data frames.tar,targets=steering.csv --loss mse --out "
      "dave2.onnx\n"
      "  assay train --architecture lenet5 --data digits:12000 --validation-share 0.1 --patience 3 --epochs "
      "50 \\\n"
      "      --optimiser 'sgd[momentum=0.9]' --regularisation 'l2[amount=1e-4]' --out regular.onnx\n"
      "  assay train --model net.onnx --initialiser keep --optimiser adam --learning-rate 1e-4 --data "
      "more.npz --out tuned.onnx",
      make_command<Train>};
}

}  // namespace assay::app
