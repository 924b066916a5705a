// assay demo: the whole journey on data that need no download.

#include <fmt/format.h>

#include "apps/assay/commands/catalogue.h"
#include "apps/assay/heat_map.h"
#include "apps/assay/idc_tables.h"
#include "apps/assay/inputs.h"
#include "assay/data/summary.h"
#include "assay/model/model.h"
#include "assay/support/file.h"
#include "assay/training/architectures.h"
#include "assay/training/trainer.h"

namespace assay::app {
namespace {

namespace fs = std::filesystem;

class Demo final : public Command {
 public:
  void declare(CLI::App& app) override {
    app.add_option("--records", records_, "training digits; a fifth as many test digits")->check(CLI::Range(500, 10'000'000))->capture_default_str();
    app.add_option("--epochs", epochs_, "passes over the training digits")->check(CLI::Range(1, 1000))->capture_default_str();
    app.add_option("--out", out_, "folder for network, profile, pictures and result")->type_name("FOLDER")->capture_default_str();
  }

  Document run(Context& context) override {
    const fs::path folder = out_;
    const std::uint64_t seed = context.settings.seed;
    const DatasetPtr training = open_dataset(fmt::format("digits:{},seed={}", records_, 2 * seed));
    const DatasetPtr test = open_dataset(fmt::format("digits:{},seed={}", records_ / 5, 2 * seed + 1));
    write_png(folder / "digits.png", contact_sheet(*test, 16, 10, seed));

    Recipe recipe;
    recipe.epochs = epochs_;
    recipe.batch = 64;
    recipe.seed = seed;
    const TrainingResult trained = train(build_architecture("lenet5"), training, test, recipe, session_options(context, training.get()), context.progress);
    write_onnx(trained.graph, folder / "lenet5.onnx");

    const Session session(trained.graph, session_options(context, test.get()));
    Document document;
    AccuracyCheck().run(session, test, context, document);
    const std::vector<Layer> layers{session.layer("conv2"), session.penultimate_layer()};
    const Learned learned = learn_profile(session, training, layers, {}, context.progress);
    write_profile(learned.profile, folder / "profile.json");
    const std::vector<IdcResult> results = measure_idc(session, learned.profile, test, walk_options(context, "measuring coverage"), context.progress);
    describe(document, learned, results, *test);
    document.pictures = draw_relevance(session, *test, ImportanceOptions().method, {}, {4, seed, folder});
    document.pictures.insert(document.pictures.begin(), {"test digits, one class a row", folder / "digits.png"});
    document.provenance = {{"model_hash", trained.graph.hash()}, {"train", training->describe()}, {"test", test->describe()}};
    document.command = "demo";
    write_file(folder / "result.json", to_json(document));
    return document;
  }

 private:
  void describe(Document& document, const Learned& learned, const std::vector<IdcResult>& results, const Dataset& test) const {
    const IdcResult& shown = results.back();
    const Coverage coverage = shown.idc.result();
    document.headline = fmt::format("A LeNet-5 trained on {} procedural digits: its test set covers {} of the {} combinations of its {} most important neurons in {}",
                                    records_, percent(coverage.fraction), coverage.coverable, shown.m, shown.layer);
    document.tables = {coverage_table(results), cluster_table(learned.profile), uncovered_table(results, test, 3)};
    document.definitions = idc_definitions(learned.profile);
    document.facts.insert(document.facts.begin(), {{"train_records", "training digits", static_cast<std::int64_t>(records_), Column::Kind::count},
                                                   {"test_records", "test digits", static_cast<std::int64_t>(test.size()), Column::Kind::count}});
    document.notices.push_back(fmt::format("next: assay importance --model {0}/lenet5.onnx --data digits:{1},seed=2 (and see {0}/ for the network, its profile and result.json)", out_, records_));
  }

  std::size_t records_ = 20000, epochs_ = 3;
  std::string out_ = "assay-demo";
};

}  // namespace

CommandInfo demo_command() {
  return {"demo", "train, analyse and cover a LeNet-5 on digits drawn on the spot; no download",
          "  assay demo\n"
          "  assay demo --records 5000 --epochs 1 --out quick",
          make_command<Demo>};
}

}  // namespace assay::app
