#pragma once

// The small world with an inspector that runs no network: scores follow from names alone.

#include <map>

#include "assay/workbench/query/query.h"
#include "tests/workbench/world.h"

namespace assay::workbench {

// Of a unit and a hypothesis: between -1 and 1, whatever else is inspected.
inline double made_up_score(const std::string& model, const std::string& layer, const std::string& gate,
                            std::size_t unit, const std::string& hypothesis) {
  const std::size_t mixed = std::hash<std::string>()(model + "|" + layer + "|" + gate + "|" +
                                                     std::to_string(unit) + "|" + hypothesis);
  return static_cast<double>(mixed % 2001) / 1000.0 - 1;
}

class AskTest : public testing::Test {
 protected:
  AskTest() : AskTest("") {}
  explicit AskTest(const std::filesystem::path& file) : database(file, database_version) {
    fill(database);
    for (const ModelFacts& model : world_models()) world.models[model.name] = {model.name, nullptr};
    world.datasets["test"] = world_records();
    world.data = "test";
    world.hypotheses = {{"world", std::make_shared<NamedHypotheses>(world_hypotheses())}};
    world.inspect = [this](const auto& models, const auto& groups, const DatasetPtr& records,
                           const auto& hypotheses, const auto& options,
                           Progress&) { return inspect(models, groups, records, hypotheses, options); };
  }

  inspection::Inspection inspect(const std::vector<inspection::InspectedModel>& models,
                                 const std::vector<inspection::UnitGroup>& groups, const DatasetPtr& records,
                                 const std::vector<inspection::AnnotatorChoice>& hypotheses,
                                 const inspection::InspectOptions& options) {
    ++calls;
    last_groups = groups;
    last_records = records->size();
    std::map<std::string, std::map<std::string, std::size_t>> neurons;
    for (const ModelFacts& model : world_models())
      for (const LayerFacts& layer : model.layers)
        neurons[model.name][layer.name] = static_cast<std::size_t>(layer.neurons);
    inspection::Inspection seen;
    seen.records = seen.records_read = records->size();
    for (const inspection::UnitGroup& group : groups) {
      const std::string& model = models.at(group.model).name;
      std::vector<std::size_t> units = group.units;
      for (std::size_t u = 0; units.size() < neurons[model][group.layer] && group.units.empty(); ++u)
        units.push_back(u);
      for (const inspection::MeasureChoice& measure : options.measures) {
        for (const auto& choice : hypotheses) {
          for (const inspection::Hypothesis& hypothesis : choice.object()->hypotheses()) {
            asked.push_back(hypothesis.name);
            for (const std::size_t unit : units) {
              inspection::ScoreRow row{.model = model,
                                       .layer = group.layer,
                                       .group = group.name,
                                       .unit = unit,
                                       .hypothesis = hypothesis.name,
                                       .measure = measure.spec().text(),
                                       .score = {}};
              row.score.value = made_up_score(model, group.layer, group.gate, unit, hypothesis.name);
              row.score.rows = records->size();
              seen.rows.push_back(row);
            }
          }
        }
      }
    }
    return seen;
  }

  report::Document ask(const std::string& sql) { return answer(database, world, sql, silence()); }
  std::string error_of(const std::string& sql) {
    return message_of([&] { ask(sql); });
  }
  // Cells of the first answer, joined by |.
  std::vector<std::string> rows(const std::string& sql) {
    const report::Document document = ask(sql);
    std::vector<std::string> all;
    if (document.tables.empty()) return all;
    for (const auto& row : document.tables[0].rows) {
      std::string text;
      for (std::size_t i = 0; i < row.size(); ++i) {
        const auto* words = std::get_if<std::string>(&row[i]);
        text += (i > 0 ? "|" : "") +
                (words != nullptr ? *words : report::shown(row[i], document.tables[0].columns[i].kind, 3));
      }
      all.push_back(text);
    }
    return all;
  }

  OpenWorld world;
  Database database;
  int calls = 0;
  std::size_t last_records = 0;
  std::vector<inspection::UnitGroup> last_groups;
  std::vector<std::string> asked;
};

}  // namespace assay::workbench
