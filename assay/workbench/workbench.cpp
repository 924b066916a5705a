#include <assay/workbench.h>

#include <assay/error.h>
#include "assay/workbench/behaviours.h"
#include "assay/workbench/documents.h"
#include "assay/workbench/query/query.h"
#include "assay/workbench/query/relations.h"

namespace assay::workbench {

struct Workbench::State {
  explicit State(const std::filesystem::path& file) : database(file, database_version) {}

  OpenWorld world;  // outlives the database, which reads behaviours from it
  Database database;
};

Workbench::Workbench(const std::filesystem::path& file, Inspector inspector)
    : state_(std::make_unique<State>(file)) {
  state_->world.inspect = std::move(inspector);
  make_relations(state_->database);
  offer_behaviours(state_->database, state_->world);
}

Workbench::~Workbench() = default;

void Workbench::add_model(const WorkbenchModel& model) {
  put_model(state_->database, {.name = model.name,
                               .path = model.path,
                               .hash = model.session->graph().hash(),
                               .attributes = model.attributes,
                               .layers = layers_of(model.session)});
  state_->world.models[model.name] = {model.name, model.session};
}

void Workbench::add_records(const std::string& name, const DatasetPtr& records) {
  put_records(state_->database, name, *records, state_->world.options.vocabulary);
  state_->world.datasets[name] = records;
  state_->world.data = name;
}

void Workbench::add_hypotheses(const std::vector<inspection::AnnotatorChoice>& hypotheses) {
  OpenWorld& world = state_->world;
  if (hypotheses.empty()) return;
  if (world.data.empty())
    fail(Fault::usage, "which records? hypotheses are functions of records: name a data set");
  const SessionOptions session =
      world.models.empty() ? SessionOptions() : world.models.begin()->second.session->options();
  for (const inspection::AnnotatorChoice& choice : hypotheses) {
    auto annotator = inspection::make_annotator(choice, world.datasets.at(world.data), session);
    put_hypotheses(state_->database, choice.spec().text(), *annotator);
    world.hypotheses.emplace_back(choice.spec().text(), std::move(annotator));
  }
}

void Workbench::set_options(inspection::InspectOptions options, inspection::UnitBehaviour behaviour) {
  state_->world.options = std::move(options);
  state_->world.behaviour = behaviour;
}

std::vector<std::string> Workbench::add_document(const std::string& name, const report::Document& document) {
  std::vector<std::string> relations = put_document(state_->database, name, document);
  make_relations(state_->database);
  return relations;
}

void Workbench::keep(const inspection::Inspection& seen, const std::vector<inspection::UnitGroup>& groups,
                     const std::string& key) {
  keep_inspection(state_->database, state_->world.data, seen, groups, key);
}

report::Document Workbench::ask(const std::string& sql, Progress& progress, double seconds) {
  state_->world.seconds = seconds;
  return answer(state_->database, state_->world, sql, progress);
}

}  // namespace assay::workbench
