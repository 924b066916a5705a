#include "assay/answers/accuracy.h"

#include "assay/results/networks/evaluation.h"

namespace assay::answers {

void check_accuracy(const DeclaredAccuracy& declared, const Session& session, const DatasetPtr& data,
                    const Evaluation& evaluation) {
  if (declared) require_accuracy(session, data, evaluation, *declared);
}

void add_accuracy(report::Document& document, const DeclaredAccuracy& declared, const Session& session,
                  const DatasetPtr& test, const Setting& setting, Progress& progress) {
  if (!declared) return;
  const Evaluation evaluation =
      assay::evaluate(session, test, {.batch = setting.batch, .stage = "evaluating"}, progress);
  check_accuracy(declared, session, test, evaluation);
  results::add_scores(document, evaluation, "test");
}

}  // namespace assay::answers
