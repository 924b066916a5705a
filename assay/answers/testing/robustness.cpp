#include "assay/answers/testing/robustness.h"

#include <algorithm>

#include <assay/error.h>
#include "assay/answers/task.h"
#include "assay/results/document.h"
#include "assay/results/testing/robustness.h"
#include "assay/support/files/journal.h"
#include "assay/support/ranks/ranks.h"

namespace assay::answers {
namespace {

std::vector<attack::Along> requested(const RobustnessQuestion& question) {
  std::vector<attack::Along> all;
  for (const std::string& text : question.along) all.push_back(attack::parse_along(text));
  for (const attack::Along& along : all) {
    for (std::size_t i = 0; i < along.size(); ++i)
      if (!along.changes_nothing(i)) attack::make_attack(along.at(i));  // wrong options show before any work
  }
  if (question.options.independent && std::ranges::none_of(all, &attack::Along::nested))
    fail(Fault::usage,
         "{} has no effect: no curve goes along the radius of an attack (eps), and all others are attacked "
         "anew at each severity; leave it out",
         About{"attacking broken records again", "{independent}"});
  return all;
}

// Figures that there will be, of no records yet, for conditions.
std::vector<attack::DropCurve> expected(const std::vector<attack::Along>& along) {
  std::vector<Spec> attacks;
  for (const attack::Along& one : along) attacks.push_back(one.attack);
  const std::vector<std::string> names = attack::names_of(attacks);
  std::vector<attack::DropCurve> curves;
  for (std::size_t i = 0; i < along.size(); ++i)
    curves.push_back({.name = names[i],
                      .along = along[i],
                      .records = 1,
                      .clean = 1,
                      .right = std::vector<std::size_t>(along[i].size(), 1)});
  return curves;
}

}  // namespace

report::Document robustness(const Session& session, const DatasetPtr& given,
                            const RobustnessQuestion& question, const Setting& setting, Progress& progress) {
  const std::vector<attack::Along> along = requested(question);
  report::check(question.conditions, results::measurements_of(expected(along)));
  const Decided decision = decided(question.task, session, given, question.accuracy, setting.batch);
  const DatasetPtr& data = decision.data;
  report::check_baseline(question.conditions, session.graph().hash(), data->hash());
  attack::CurveOptions options = question.options;
  options.batch = setting.batch;
  options.seed = setting.seed;
  options.task = decision.task;
  require_share(options.margin, decision);
  report::Document document;
  add_accuracy(document, question.accuracy, session, data, setting, progress);
  const std::vector<attack::DropCurve> curves = attack::drop_curves(session, data, along, options, progress);
  ranks().leave_to_first();
  if (!options.journal.empty()) Journal::remove(options.journal);
  results::append(document, results::document_of(curves, options, session.graph(), *data));
  add_task(document, decision, options.margin);
  report::apply(question.conditions, document, results::measurements_of(curves));
  results::add_provenance(document, session, {{"data", data}});
  return document;
}

}  // namespace assay::answers
