// assay train: trains a published architecture or any network file.

#include <assay/adapt.h>
#include <assay/error.h>
#include <assay/model.h>
#include <assay/results.h>
#include "apps/assay/commands/catalogue.h"
#include "apps/assay/inputs.h"
#include "apps/assay/recipe_options.h"
#include "assay/inspection/asked_hypotheses.h"
#include "assay/inspection/units/specialise.h"
#include "assay/results/networks/inspection.h"
#include "assay/support/text/text.h"

namespace assay::app {
namespace {

class Train final : public Command {
 public:
  void declare(Flags& flags) override {
    flags.add("--architecture SPEC", architecture_,
              "published architecture: " + joined(training::architectures().names()));
    flags.add("--model FILE", model_, "network file to train instead (see --initialiser)");
    adaptation_.declare(flags);
    data_.declare(flags);
    validation_.declare(flags);
    flags.add("--out FILE.onnx", out_, "where the trained network goes, as ONNX");
    flags.add("--checkpoint FILE.npz", checkpoint_,
              "written after each epoch; the same command continues from it");
    flags
        .add("--specialise SPEC", specialise_,
             "units that follow a hypothesis of --hypotheses beside the task, by an auxiliary loss: "
             "'depth[layer=lstm,units=0-3,weight=0.5]'; may be repeated")
        ->allow_extra_args(false);
    flags
        .add("--hypotheses SPEC,...", hypotheses_,
             "hypotheses for --specialise, as `assay inspect` takes them; may be repeated")
        ->allow_extra_args(false);
    flags.add("--vocabulary FILE", vocabulary_, "with --hypotheses: what tokens mean, as in `assay inspect`");
    flags.add("--padding SYMBOL", padding_, "symbol or token that fills records up; it is left out");
    options_.declare(flags);
    options_.declare_run(flags);
  }

  std::vector<Output> outputs() const override {
    return {{"--out", out_}, {"--checkpoint", checkpoint_, Output::Kind::file, true}};
  }

  report::Document run(Context& context) override {
    if (architecture_.empty() == model_.empty())
      fail(Fault::usage, "what to train? give either --architecture NAME or --model FILE");
    if (out_.empty()) fail(Fault::usage, "where should the trained network go? give --out FILE.onnx");
    if (model_.empty() && adaptation_.given())
      fail(Fault::usage,
           "--fix, --decision, --precision and --straight-through are for --model; published architectures "
           "have one input, one output and no steps");
    training::Recipe recipe = options_.recipe(validation_.given());
    recipe.seed = context.settings.seed;
    recipe.checkpoint = checkpoint_;
    const DatasetPtr data = data_.open(), validation = validation_.given() ? validation_.open() : nullptr;
    auto [graph, form] = adapted(
        architecture_.empty() ? read_network(model_, context) : training::build_architecture(architecture_),
        adaptation_.options(), data.get(), context.progress);
    const SessionOptions options = session_options(context, data.get());
    const std::vector<inspection::Specialisation> wanted = specialisations();
    training::AuxiliaryLoss auxiliary;
    if (!wanted.empty()) {
      inspection::SpecialisedTraining made =
          inspection::specialised_training(graph, wanted, data, inspection::annotator_choices(hypotheses_),
                                           inspect_options(), options, context.progress);
      graph = std::move(made.graph);
      auxiliary = std::move(made.loss);
    }
    training::TrainingResult result = training::train(
        graph, data, validation, recipe, options, context.progress, wanted.empty() ? nullptr : &auxiliary);
    result.graph = in_form_of_file(result.graph, form);
    write_onnx(result.graph, out_);
    report::Document document = results::document_of(result, recipe, *data, validation.get());
    document.headline += "; written to " + out_;
    if (!wanted.empty()) document.tables.push_back(results::specialised_table(wanted));
    return document;
  }

 private:
  std::vector<inspection::Specialisation> specialisations() const {
    if (specialise_.empty() && !(hypotheses_.empty() && vocabulary_.empty() && padding_.empty()))
      fail(Fault::usage,
           "hypotheses are for specialised units; add --specialise 'NAME[layer=...,units=...]'");
    std::vector<inspection::Specialisation> all;
    for (const std::string& text : specialise_) all.push_back(inspection::parse_specialisation(text));
    return all;
  }

  inspection::InspectOptions inspect_options() const {
    inspection::InspectOptions options;
    if (!vocabulary_.empty()) options.vocabulary = inspection::read_vocabulary(vocabulary_, padding_);
    return options;
  }

  std::string architecture_, model_, out_, checkpoint_, vocabulary_, padding_;
  std::vector<std::string> specialise_, hypotheses_;
  Adaptation adaptation_;
  RecipeOptions options_{10};
  DataInput data_{"data", "training records"},
      validation_{"validation", "records that choose the best epoch"};
};

}  // namespace

CommandInfo train_command() {
  return {
      "train", "train a published architecture or any network on data",
      "  assay train --architecture lenet5 --data digits:12000 --validation digits:2000,seed=2 --epochs 4 "
      "--out lenet5.onnx\n"
      "  assay train --architecture dave2 --data frames.tar,targets=steering.csv --loss mse --out "
      "dave2.onnx\n"
      "  assay train --architecture lenet5 --data digits:12000 --validation-share 0.1 --patience 3 --epochs "
      "50 \\\n"
      "      --optimiser 'sgd[momentum=0.9]' --regularisation 'l2[amount=1e-4]' --out regular.onnx\n"
      "  assay train --architecture 'next-symbol-lstm[units=64]' --data parentheses:10000 --vocabulary "
      "ascii.txt --padding padding \\\n"
      "      --hypotheses 'counter[of=depth]' --specialise 'depth[layer=lstm,units=0-3]' --out planted.onnx\n"
      "  assay train --model net.onnx --initialiser keep --optimiser adam --learning-rate 1e-4 --data "
      "more.npz --out tuned.onnx",
      make_command<Train>};
}

}  // namespace assay::app
