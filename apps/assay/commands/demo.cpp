// assay demo: the whole journey on data that need no download.

#include <fmt/format.h>

#include <assay/coverage.h>
#include <assay/dataset.h>
#include <assay/model.h>
#include <assay/report.h>
#include <assay/training.h>
#include "apps/assay/commands/catalogue.h"
#include "apps/assay/inputs.h"
#include "assay/data/summary.h"
#include "assay/results/networks/pictures.h"
#include "assay/results/testing/coverage.h"
#include "assay/support/files/file.h"

namespace assay::app {
namespace {

namespace fs = std::filesystem;

class Demo final : public Command {
 public:
  void declare(Flags& flags) override {
    flags.add("--records", records_, "training digits; a fifth as many test digits",
              CLI::Range(500, 10'000'000));
    flags.add("--epochs", epochs_, "passes over the training digits", CLI::Range(1, 1000));
    flags.add("--out FOLDER", out_, "folder for network, profile, pictures and result");
  }

  std::vector<Output> outputs() const override { return {{"--out", out_, Output::Kind::folder}}; }

  report::Document run(Context& context) override {
    const fs::path folder = out_;
    const std::uint64_t seed = context.settings.seed;
    const DatasetPtr training = open_dataset(fmt::format("digits:{},seed={}", records_, 2 * seed));
    const DatasetPtr test = open_dataset(fmt::format("digits:{},seed={}", records_ / 5, 2 * seed + 1));
    write_png(folder / "digits.png", contact_sheet(*test, 16, 10, seed));

    training::Recipe recipe;
    recipe.epochs = epochs_;
    recipe.batch = 64;
    recipe.seed = seed;
    const training::TrainingResult trained =
        training::train(training::architectures().find("lenet5").build(), training, test, recipe,
                        session_options(context, training.get()), context.progress);
    write_onnx(trained.graph, folder / "lenet5.onnx");

    const Session session(trained.graph, session_options(context, test.get()));
    coverage::LearnOptions learn;
    for (const char* criterion :
         {"idc[m=6]", "idc[m=8]", "idc[m=10]", "idc[m=12]", "nc", "kmnc", "nbc", "tknc"})
      learn.criteria.push_back(parse_spec("criterion", criterion));
    learn.subjects = {"conv2", session.penultimate_layer().name};
    const coverage::Learned learned = coverage::learn_profile(session, training, learn, context.progress);
    coverage::write_profile(learned.profile, folder / "demo.profile");
    coverage::CoverageState state(std::make_shared<const coverage::Profile>(learned.profile), learn.criteria,
                                  false);
    const coverage::Observations seen = coverage::measure(
        session, state, test, {.growth_points = 25, .remember_records = true}, context.progress);
    report::Document document = results::document_of(state, "", {test.get(), &seen, 3, 0, 12});
    document.headline = headline(state);
    document.notices.push_back(
        fmt::format("next: assay importance --model {0}/lenet5.onnx --data digits:{1},seed=2 (and open "
                    "{0}/report.html in a browser; the network, its profile and result.json lie beside it)",
                    out_, records_));
    document.pictures =
        results::draw_relevance(session, *test, relevance::ImportanceOptions().method, {}, {4, seed, folder});
    document.pictures.insert(document.pictures.begin(),
                             {"test digits, one class a row", folder / "digits.png"});
    document.provenance = {
        {"model_hash", trained.graph.hash()}, {"train", training->describe()}, {"test", test->describe()}};
    document.command = "demo";
    write_file(folder / "result.json", to_json(document));
    write_file(folder / "report.html", report::to_html(document));
    return document;
  }

 private:
  // About the last of the criteria that is IDC, in its last layer.
  std::string headline(const coverage::CoverageState& state) const {
    const report::Table idc = results::idc_table(state);
    const auto& last = idc.rows.back();
    return fmt::format(
        "A LeNet-5 trained on {} procedural digits: its test set covers {} of the {} combinations of its {} "
        "most important neurons in {}",
        records_, report::percent(std::get<double>(last[5])), std::get<std::string>(last[4]),
        std::get<std::int64_t>(last[1]), std::get<std::string>(last[0]));
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
