// assay train: trains a published architecture or any network file.

#include <algorithm>
#include <array>

#include <assay/error.h>
#include "apps/assay/command.h"
#include "apps/assay/inputs.h"
#include "apps/assay/recipe_options.h"
#include "assay/answers/networks/training.h"
#include "assay/support/text/text.h"

namespace assay::app {
namespace {

class Train final : public Command {
 public:
  void declare(Flags& flags) override {
    flags.take({Shared::seed, Shared::threads, Shared::device, Shared::engine, Shared::memory});
    flags.add("--architecture SPEC", question_.architecture,
              "published architecture: " + joined(training::architectures().names()));
    model_ =
        flags.naming(Concept::network)
            .by_keyword()
            .add("model,--model FILE", question_.model, "network file to train instead (see --initialiser)");
    adaptation_.declare(flags);
    records_ = data_.declare(flags, true);
    validation_.declare(flags);
    flags.add_output("--out FILE.onnx", question_.out, "where the trained network goes, as ONNX",
                     {.product = Product::network});
    flags.add_output("--checkpoint FILE.npz", checkpoint_,
                     "written after each epoch; the same command continues from it",
                     {.goes_on = [] { return true; }});
    flags
        .add_list("--specialise SPEC,...", question_.specialised,
                  "units that also follow a hypothesis of --hypotheses, by an auxiliary loss: "
                  "'depth[layer=lstm,units=0-3,weight=0.5]'; may be repeated")
        ->allow_extra_args(false);
    flags.naming(Concept::input)
        .add_list("--hypotheses SPEC,...", question_.hypotheses,
                  "hypotheses for --specialise, as `assay inspect` takes them; may be repeated")
        ->allow_extra_args(false);
    flags.naming(Concept::input)
        .add("--vocabulary FILE", question_.vocabulary,
             "with --hypotheses: what tokens mean, as in `assay inspect`");
    flags.add("--padding SYMBOL", question_.padding, "symbol or token that fills records up; it is left out");
    options_.declare(flags);
    options_.declare_run(flags);
    add_task(flags, question_.task);
    flags
        .add_list("--also-train NAME,...", question_.constants.also,
                  "float constant to train although it looks like a setting (a single number, a mask), or "
                  "'all'; may be repeated")
        ->allow_extra_args(false);
    flags
        .add_list("--freeze NAME,...", question_.constants.frozen,
                  "weight, or layer with its weights, that is not trained; may be repeated")
        ->allow_extra_args(false);
  }

  // With an architecture there is no network: the first word is the data.
  void typed() override {
    const bool bare = model_->count() == 1 && records_->count() == 0;
    if (question_.architecture.empty() || !bare || is_network_file(question_.model)) return;
    frame::move_typed(*model_, *records_);
    question_.model.clear();
  }

  report::Document run(Context& context) override {
    refuse_contradictions();
    question_.recipe = options_.recipe(validation_.given());
    question_.recipe.checkpoint = checkpoint_;
    question_.data = data_.open();
    question_.validation = validation_.open_if_given();
    question_.adaptation = adaptation_.options();
    return answers::train(question_, setting_of(context), context.progress);
  }

 private:
  void refuse_contradictions() const {
    if (question_.architecture.empty() == question_.model.empty())
      refuse("what to train? give either --architecture NAME or --model FILE");
    if (question_.out.empty()) refuse("where should the trained network go? give --out FILE.onnx");
    if (question_.model.empty() && adaptation_.given())
      refuse(
          "--fix, --decision, --precision and --straight-through are for --model; published architectures "
          "have one input, one output and no steps");
    const bool hypotheses =
        !question_.hypotheses.empty() || !question_.vocabulary.empty() || !question_.padding.empty();
    if (question_.specialised.empty() && hypotheses)
      refuse("hypotheses are for specialised units; add --specialise 'NAME[layer=...,units=...]'");
  }

  static bool is_network_file(const std::string& name) {
    constexpr std::array<std::string_view, 4> endings{".onnx", ".keras", ".h5", ".json"};
    return std::ranges::any_of(endings, [&](std::string_view ending) { return name.ends_with(ending); });
  }

  CLI::Option *model_ = nullptr, *records_ = nullptr;
  Adaptation adaptation_;
  RecipeOptions options_{10};
  DataInput data_{"data", "training records", Concept::training_data},
      validation_{"validation", "records that choose the best epoch"};
  std::string checkpoint_;
  answers::TrainingQuestion question_;
};

}  // namespace

CommandInfo train_command() {
  return {
      "train", "train a published architecture or any network on data",
      "  assay train digits:12000 --architecture lenet5 --validation digits:2000,seed=2 --epochs 4 --out "
      "lenet5.onnx\n"
      "  assay train frames.tar,targets=steering.csv --architecture dave2 --loss mse --out dave2.onnx\n"
      "  assay train digits:12000 --architecture lenet5 --validation-share 0.1 --patience 3 --epochs 50 \\\n"
      "      --optimiser 'sgd[momentum=0.9]' --regularisation 'l2[amount=1e-4]' --out regular.onnx\n"
      "  assay train parentheses:10000 --architecture 'next-symbol-lstm[units=64]' --vocabulary ascii.txt "
      "--padding padding \\\n"
      "      --hypotheses 'counter[of=depth]' --specialise 'depth[layer=lstm,units=0-3]' --out planted.onnx\n"
      "  assay train net.onnx more.npz --initialiser keep --optimiser adam --learning-rate 1e-4 --out "
      "tuned.onnx",
      make_command<Train>, begin_group};
}

}  // namespace assay::app
