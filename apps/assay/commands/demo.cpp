// assay demo: the whole journey on data that need no download.

#include <fmt/format.h>

#include "apps/assay/commands/catalogue.h"
#include "apps/assay/coverage_tables.h"
#include "apps/assay/heat_map.h"
#include "apps/assay/inputs.h"
#include "assay/coverage/learn.h"
#include "assay/data/summary.h"
#include "assay/model/model.h"
#include "assay/report/html.h"
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
    LearnOptions learn;
    learn.criteria = {parse_spec("criterion", "idc[m=6]"), parse_spec("criterion", "idc[m=8]"), parse_spec("criterion", "idc[m=10]"), parse_spec("criterion", "idc[m=12]"),
                      parse_spec("criterion", "nc"), parse_spec("criterion", "kmnc"), parse_spec("criterion", "nbc"), parse_spec("criterion", "tknc")};
    learn.subjects = {"conv2", session.penultimate_layer().name};
    const Learned learned = learn_profile(session, training, learn, context.progress);
    write_profile(learned.profile, folder / "demo.profile");
    CoverageState state(std::make_shared<const Profile>(learned.profile), learn.criteria, false);
    const Observations seen = measure(session, state, test, {.growth_points = 25, .remember_records = true}, context.progress);
    describe(document, state, seen, *test);
    document.pictures = draw_relevance(session, *test, ImportanceOptions().method, {}, {4, seed, folder});
    document.pictures.insert(document.pictures.begin(), {"test digits, one class a row", folder / "digits.png"});
    document.provenance = {{"model_hash", trained.graph.hash()}, {"train", training->describe()}, {"test", test->describe()}};
    document.command = "demo";
    write_file(folder / "result.json", to_json(document));
    write_file(folder / "report.html", to_html(document));
    return document;
  }

 private:
  void describe(Document& document, const CoverageState& state, const Observations& seen, const Dataset& test) const {
    const Table idc = idc_table(state);
    const auto& last = idc.rows.back();
    document.headline = fmt::format("A LeNet-5 trained on {} procedural digits: its test set covers {} of the {} combinations of its {} most important neurons in {}", records_,
                                    percent(std::get<double>(last[5])), std::get<std::string>(last[4]), std::get<std::int64_t>(last[1]), std::get<std::string>(last[0]));
    add_facts(document, state);
    document.tables = {criteria_table(state), idc, cluster_table(state.profile()), uncovered_table(state, test, 3), layer_table(state),
                       neuron_table(state, &test), histogram_table(state.profile(), seen), growth_table(state, seen), record_table(state, seen, test, 12)};
    document.definitions = definitions_of(state);
    document.notices.push_back(fmt::format("next: assay importance --model {0}/lenet5.onnx --data digits:{1},seed=2 (and open {0}/report.html in a browser; the network, its profile and result.json lie beside it)", out_, records_));
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
