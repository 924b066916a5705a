#include "assay/answers/demonstration.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include <assay/coverage.h>
#include <assay/dataset.h>
#include <assay/model.h>
#include <assay/training.h>
#include "assay/data/summary.h"
#include "assay/results/networks/pictures.h"
#include "assay/results/testing/coverage.h"
#include "assay/support/files/file.h"

namespace assay::answers {
namespace {

constexpr std::size_t sheet_columns = 16, sheet_rows = 10, heat_maps = 4, growth_points = 25;

training::TrainingResult trained(const Demonstration& demonstration, const DatasetPtr& training,
                                 const DatasetPtr& test, const Setting& setting, Progress& progress) {
  training::Recipe recipe;
  recipe.epochs = demonstration.epochs;
  recipe.batch = 64;
  recipe.seed = setting.seed;
  return training::train(training::architectures().find("lenet5").build(), training, test, recipe,
                         setting.session_for(training.get()), progress);
}

coverage::LearnOptions learning(const Session& session, const std::string& method) {
  coverage::LearnOptions learn;
  learn.importance.method = method;
  for (const char* criterion : {"idc[m=6]", "idc[m=8]", "nc", "kmnc", "nbc", "tknc"})
    learn.criteria.push_back(parse_spec("criterion", criterion));
  learn.subjects = {"conv2", session.penultimate_layer().name};
  return learn;
}

// About the first of the criteria that is IDC, of few enough neurons for any test set, in its last layer.
std::string headline_of(const report::Document& document, const report::Table& idc) {
  const std::vector<report::Cell>* row = &idc.rows.front();
  for (const std::vector<report::Cell>& other : idc.rows) {
    if (other[1] == row->at(1)) row = &other;
  }
  const auto accuracy = std::ranges::find(document.facts, "test_accuracy", &report::Fact::id);
  return fmt::format(
      "A LeNet-5 recognises {} of the digits drawn to test it; they reach {} of the {} combinations ({}) of "
      "its {} most important neurons in {}",
      report::percent(std::get<double>(accuracy->value)), std::get<std::string>(row->at(3)),
      std::get<std::string>(row->at(4)), report::percent(std::get<double>(row->at(5))),
      std::get<std::int64_t>(row->at(1)), std::get<std::string>(row->at(0)));
}

}  // namespace

report::Document demonstrate(const Demonstration& demonstration, const Setting& setting, Progress& progress) {
  const std::filesystem::path& folder = demonstration.folder;
  const std::size_t records = demonstration.records;
  const std::uint64_t seed = setting.seed;
  const DatasetPtr training = open_dataset(fmt::format("digits:{},seed={}", records, 2 * seed));
  const DatasetPtr test = open_dataset(fmt::format("digits:{},seed={}", records / 3, 2 * seed + 1));
  write_png(folder / "digits.png", contact_sheet(*test, sheet_columns, sheet_rows, seed));
  const Graph network = trained(demonstration, training, test, setting, progress).graph;
  write_onnx(network, folder / "lenet5.onnx");

  const Session session(network, setting.session_for(test.get()));
  const coverage::LearnOptions learn = learning(session, demonstration.method);
  const coverage::Learned learned = coverage::learn_profile(session, training, learn, progress);
  coverage::write_profile(learned.profile, folder / "demo.profile");
  coverage::CoverageState state(std::make_shared<const coverage::Profile>(learned.profile), learn.criteria,
                                false);
  const coverage::Observations seen = coverage::measure(
      session, state, test, {.growth_points = growth_points, .remember_records = true}, progress);
  report::Document document = results::document_of(state, "", {test.get(), &seen, 3, 0, 12});
  document.headline = headline_of(document, results::idc_table(state));
  document.notices.push_back(demonstration.next);
  document.pictures =
      results::draw_relevance(session, *test, demonstration.method, {}, {heat_maps, seed, folder});
  document.pictures.insert(document.pictures.begin(),
                           {"test digits, one class a row", folder / "digits.png"});
  document.provenance = {
      {"model_hash", network.hash()}, {"train", training->describe()}, {"test", test->describe()}};
  document.command = "demo";
  write_file(folder / "result.json", to_json(document));
  write_file(folder / "report.html", report::to_html(document));
  return document;
}

}  // namespace assay::answers
