#include "assay/answers/networks/importance.h"

#include <fmt/format.h>

#include "assay/answers/task.h"
#include "assay/engine/layers/layer_selection.h"
#include "assay/results/document.h"
#include "assay/results/label_warnings.h"
#include "assay/results/networks/pictures.h"
#include "assay/results/networks/text_map.h"
#include "assay/results/warnings.h"
#include "assay/support/ranks/ranks.h"

namespace assay::answers {
namespace {

void add_heat_maps(report::Document& document, const Session& session, const Dataset& data,
                   const ImportanceQuestion& question, const relevance::ImportanceOptions& options,
                   const Setting& setting) {
  if (results::is_picture(data)) {
    document.pictures =
        results::draw_relevance(session, data, options.method, options.attribution,
                                {question.heat_maps, setting.seed, question.folder}, options.task.get());
  } else if (results::is_text(data)) {
    results::add_text_maps(document, session, data, options.method, options.attribution,
                           {question.heat_maps, setting.seed, question.folder}, question.tokenizer,
                           options.task.get());
  } else {
    document.notices.push_back(
        fmt::format("records of shape {} are neither pictures nor texts, so there are no heat maps",
                    to_string(data.record_shape())));
  }
}

}  // namespace

report::Document find_importance(const Session& session, const DatasetPtr& given,
                                 const ImportanceQuestion& question, const Setting& setting,
                                 Progress& progress) {
  const Decided decision = decided(question.task, session, given, question.accuracy, setting.batch);
  const DatasetPtr& data = decision.data;
  relevance::ImportanceOptions options = question.options;
  options.task = decision.task;
  options.batch = setting.batch;
  options.attribution.range = data->valid_range();
  std::vector<Layer> layers;
  for (const std::string& name : layers_for(question.layers, session, decision, setting.batch, progress))
    layers.push_back(session.layer(name));
  if (layers.empty()) layers = subject_layers(session);
  const relevance::Importance importance =
      relevance::analyse_importance(session, data, layers, options, progress);
  ranks().leave_to_first();
  check_accuracy(question.accuracy, session, data, importance.evaluation);
  report::Document document =
      results::document_of(importance, session, options, question.share, question.top);
  add_task(document, decision);
  if (question.heat_maps > 0) add_heat_maps(document, session, *data, question, options, setting);
  results::add_warnings(document, results::evaluation_warnings(session, *data, importance.evaluation,
                                                               decision.task != nullptr));
  results::add_provenance(document, session, {{"data", data}});
  return document;
}

}  // namespace assay::answers
