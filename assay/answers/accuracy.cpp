#include "assay/answers/accuracy.h"

#include <assay/error.h>
#include "assay/results/label_warnings.h"
#include "assay/results/networks/evaluation.h"
#include "assay/results/warnings.h"

namespace assay::answers {
namespace {

// But for a likely cause of a low accuracy, which the check tells itself.
std::vector<report::Warning> told_beside(const Session& session, const Dataset& data, Evaluation evaluation) {
  evaluation.accuracy.reset();
  return results::evaluation_warnings(session, data, evaluation);
}

}  // namespace

void check_accuracy(const DeclaredAccuracy& declared, const Session& session, const DatasetPtr& data,
                    const Evaluation& evaluation) {
  if (!declared) return;
  try {
    require_accuracy(session, data, evaluation, *declared);
  } catch (const Error& error) {  // what a result would warn of belongs to it, as there will be no result
    Message whole = error.message();
    for (const report::Warning& warning : told_beside(session, *data, evaluation))
      whole = message("{}; {}: {} ({})", whole, warning.id, warning.text, warning.cause);
    throw Error(error.fault(), whole);
  }
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
