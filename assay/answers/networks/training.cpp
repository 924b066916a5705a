#include "assay/answers/networks/training.h"

#include <utility>

#include <assay/adapt.h>
#include <assay/evaluate.h>
#include <assay/model.h>
#include <assay/results.h>
#include "assay/answers/networks/network.h"
#include "assay/answers/task.h"
#include "assay/inspection/requested_hypotheses.h"
#include "assay/inspection/units/specialise.h"
#include "assay/results/document.h"
#include "assay/results/label_warnings.h"
#include "assay/results/networks/inspection.h"
#include "assay/results/networks/trained_constants.h"
#include "assay/results/warnings.h"
#include "assay/support/files/file.h"
#include "assay/task/threshold.h"
#include "assay/training/trainer.h"

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

// A low accuracy on the training records, classes with other names, a last batch of one record.
std::vector<report::Warning> training_warnings(const training::TrainingResult& result,
                                               const SessionOptions& options, const Dataset& data,
                                               const training::Recipe& recipe, const Dataset* validation) {
  std::vector<report::Warning> warnings;
  if (data.has_labels())
    warnings = results::training_accuracy_warnings(result.epochs.at(result.best_epoch).accuracy,
                                                   class_count(Session(result.graph, options)),
                                                   "too few epochs, a learning rate that is too large or too "
                                                   "small, or labels that do not follow from the "
                                                   "records");
  if (validation != nullptr)
    results::add(warnings, results::class_name_warnings(data.class_names(), *validation));
  const auto records = static_cast<std::size_t>(data.size() * (1.0 - recipe.validation_share));
  results::add(warnings, results::last_batch_warnings(result.graph, records, recipe.batch));
  return warnings;
}

}  // namespace

report::Document train(const TrainingQuestion& question, const Setting& setting, Progress& progress) {
  const DatasetPtr data = task::prepared_for(question.task, question.data),
                   validation = question.validation ? task::prepared_for(question.task, question.validation)
                                                    : question.validation;
  training::Recipe recipe = question.recipe;
  recipe.seed = setting.seed;
  AdaptOptions adaptation = adapt_options_of(question.adaptation, question.model);
  adaptation.threshold = task::threshold_of(question.task);
  AdaptedNetwork network =
      adapted(question.architecture.empty() ? read_network(question.model, progress)
                                            : training::build_architecture(question.architecture),
              adaptation, data.get(), progress);
  const SessionOptions session = setting.session_for(data.get());
  report::Document document;
  results::add_network_notices(document,
                               session_of(network, session, data.get(), progress));  // turns outputs
  Graph& graph = network.graph;
  std::vector<inspection::Specialisation> wanted;
  for (const std::string& text : question.specialised)
    wanted.push_back(inspection::parse_specialisation(text));
  training::AuxiliaryLoss auxiliary;
  if (!wanted.empty()) {
    inspection::SpecialisedTraining made = specialised(graph, wanted, question, session, progress);
    graph = std::move(made.graph);
    auxiliary = std::move(made.loss);
  }
  require_room(question.out, sizeof(float) * static_cast<std::uint64_t>(graph.parameter_count()));
  const Decided decision =
      decided(question.task, Session(graph, session), data, {}, 0, Need::scores, validation);
  training::TrainingResult result =
      training::train_chosen(graph, data, validation, recipe, question.constants, session, progress,
                             wanted.empty() ? nullptr : &auxiliary, decision.task);
  std::vector<report::Warning> warnings = training_warnings(result, session, *data, recipe, validation.get());
  for (report::Warning& warning : results::influence_warnings(Session(graph, session), data.get()))
    warnings.push_back(std::move(warning));
  result.graph = in_form_of_file(result.graph, network.form);
  write_onnx(result.graph, question.out);
  results::append(document, results::document_of(result, recipe, *data, validation.get()));
  document.headline += "; written to " + question.out;
  add_task(document, decision);
  results::add_trained_constants(document, graph, recipe, question.constants);
  if (!wanted.empty()) document.tables.push_back(results::specialised_table(wanted));
  results::add_warnings(document, warnings);
  return document;
}

}  // namespace assay::answers
