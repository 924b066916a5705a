#include "assay/answers/networks/evaluation.h"

#include <vector>

#include "assay/results/document.h"
#include "assay/results/label_warnings.h"
#include "assay/results/networks/evaluation.h"
#include "assay/results/warnings.h"
#include "assay/support/ranks/ranks.h"

namespace assay::answers {
namespace {

// What conditions can be about.
std::vector<std::string> measured_on(const Dataset& data) {
  if (data.target_width() > 0) return {"mean-squared-error", "mean-absolute-error", "greatest-error"};
  return {"accuracy", "calibration-error", "brier-score"};
}

}  // namespace

report::Document evaluate(const Session& session, const DatasetPtr& data, const EvaluationQuestion& question,
                          const Setting& setting, Progress& progress) {
  report::check(question.conditions, measured_on(*data));
  report::check_baseline(question.conditions, session.graph().hash(), data->hash());
  const WalkOptions walk{.batch = setting.batch, .stage = "evaluating"};
  Predictions predictions;
  Evaluation& evaluation = predictions.evaluation;
  if (question.predictions.empty())
    evaluation = assay::evaluate(session, data, walk, progress);
  else
    predictions = predict(session, data, walk, progress);
  check_accuracy(question.accuracy, session, data, evaluation);
  ranks().leave_to_first();
  if (!question.predictions.empty()) write_predictions(question.predictions, predictions);
  report::Document document = results::document_of(evaluation, session.graph(), *data);
  results::add_warnings(document, results::evaluation_warnings(session, *data, evaluation));
  report::apply(question.conditions, document, results::measurements_of(evaluation, *data));
  results::add_provenance(document, session.graph(), {{"data", data}});
  return document;
}

}  // namespace assay::answers
