#include "assay/answers/networks/training.h"

#include <utility>

#include <assay/adapt.h>
#include <assay/model.h>
#include <assay/results.h>
#include "assay/answers/networks/network.h"
#include "assay/inspection/asked_hypotheses.h"
#include "assay/inspection/units/specialise.h"
#include "assay/results/networks/inspection.h"

namespace assay::answers {
namespace {

inspection::SpecialisedTraining specialised(const Graph& graph,
                                            const std::vector<inspection::Specialisation>& wanted,
                                            const TrainingQuestion& question, const SessionOptions& session,
                                            Progress& progress) {
  inspection::InspectOptions options;
  if (!question.vocabulary.empty())
    options.vocabulary = inspection::read_vocabulary(question.vocabulary, question.padding);
  return inspection::specialised_training(graph, wanted, question.data,
                                          inspection::annotator_choices(question.hypotheses), options,
                                          session, progress);
}

}  // namespace

report::Document train(const TrainingQuestion& question, const Setting& setting, Progress& progress) {
  const DatasetPtr &data = question.data, &validation = question.validation;
  training::Recipe recipe = question.recipe;
  recipe.seed = setting.seed;
  auto [graph, form] =
      adapted(question.architecture.empty() ? read_network(question.model, progress)
                                            : training::build_architecture(question.architecture),
              question.adaptation, data.get(), progress);
  const SessionOptions session = setting.session_for(data.get());
  std::vector<inspection::Specialisation> wanted;
  for (const std::string& text : question.specialised)
    wanted.push_back(inspection::parse_specialisation(text));
  training::AuxiliaryLoss auxiliary;
  if (!wanted.empty()) {
    inspection::SpecialisedTraining made = specialised(graph, wanted, question, session, progress);
    graph = std::move(made.graph);
    auxiliary = std::move(made.loss);
  }
  training::TrainingResult result = training::train(graph, data, validation, recipe, session, progress,
                                                    wanted.empty() ? nullptr : &auxiliary);
  result.graph = in_form_of_file(result.graph, form);
  write_onnx(result.graph, question.out);
  report::Document document = results::document_of(result, recipe, *data, validation.get());
  document.headline += "; written to " + question.out;
  if (!wanted.empty()) document.tables.push_back(results::specialised_table(wanted));
  return document;
}

}  // namespace assay::answers
