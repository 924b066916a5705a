#include "assay/retraining/study.h"

#include <assay/error.h>
#include "assay/coverage/request.h"
#include "assay/data/views.h"

namespace assay::retraining {
namespace {

// The given records that raise coverage; where there are too few, fewer records of every kind are added.
void add_raising(const Session& session, const Study& study, Preparation& prepared, Progress& progress) {
  std::size_t& count = prepared.plan.count;
  const DatasetPtr& candidates = study.given.candidates;
  coverage::LearnOptions learn;
  learn.criteria = {*study.raising};
  learn.subjects = study.layers;
  learn.importance.method = study.method;
  learn.batch = study.made.batch;
  const auto profile = coverage::learned_profile(session, prepared.plan.training, learn, progress);
  prepared.raising = coverage_raising(session, profile, *study.raising, study.test, candidates, count,
                                      study.made.batch, progress);
  const std::vector<std::size_t>& records = prepared.raising->records;
  if (records.empty())
    fail(Fault::data, "{} {}: none of {} covers anything that the test set does not",
         About{"to raise coverage by", "{coverage-raising}"}, study.raising->text(), candidates->describe());
  if (records.size() < count) {
    prepared.notices.push_back(
        fmt::format("only {} of the given records raise {}: this number of every kind is added, not {}",
                    records.size(), study.raising->text(), count));
    count = records.size();
  }
  prepared.plan.conditions.push_back({"raising", selected(candidates, records)});
}

}  // namespace

Preparation prepare(const Session& session, const Study& study, RetrainingPlan plan, Progress& progress) {
  Preparation prepared{std::move(plan), {}, {}, {}, {}, study.given.notices};
  std::vector<Condition>& conditions = prepared.plan.conditions;
  if (study.raising) add_raising(session, study, prepared, progress);
  conditions.push_back({"given", study.given.candidates});
  prepared.additions = make_additions(session, prepared.plan.training, study.against, prepared.plan.count,
                                      study.made, progress);
  for (const MadeRecords& records : prepared.additions) conditions.push_back({records.name, records.data});
  conditions.push_back({control_condition, nullptr});
  prepared.plan.sets = {{"test", study.test}, {"held-out", study.given.held}};
  prepared.evaluation_sets =
      make_evaluation_sets(session, study.test, study.evaluate_on, study.made, progress);
  for (const MadeRecords& records : prepared.evaluation_sets)
    prepared.plan.sets.push_back({records.name, records.data});
  if (!study.against.empty()) prepared.reference = attack::names_of(study.against).front();
  return prepared;
}

}  // namespace assay::retraining
