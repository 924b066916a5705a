#include "assay/answers/testing/reliability.h"

#include <algorithm>
#include <map>

#include <assay/error.h>
#include <assay/evaluate.h>
#include <assay/groups.h>
#include <assay/model.h>
#include <assay/reliability.h>
#include "assay/results/document.h"
#include "assay/results/testing/reliability.h"

namespace assay::answers {
namespace {

using results::ReliabilityFindings;

std::vector<std::string> measured_by(const ReliabilityQuestion& question) {
  std::vector<std::string> names{"failure-probability"};
  if (question.calibration) names.insert(names.end(), {"calibration-error", "brier-score"});
  if (!question.twins.empty())
    names.insert(names.end(), {"seed-deviation", "seed-disagreement", "seed-accuracy"});
  if (question.training) names.emplace_back("leaked-records");
  return names;
}

std::vector<std::int64_t> labels_of(const Dataset& data) {
  std::vector<std::int64_t> labels;
  for (std::size_t i = 0; i < data.size(); ++i) labels.push_back(data.label(i));
  return labels;
}

std::size_t failures_of(const Evaluation& evaluation, const Dataset& data) {
  std::size_t failures = 0;
  for (std::size_t i = 0; i < data.size(); ++i) failures += evaluation.predictions[i] != data.label(i);
  return failures;
}

// Characteristics of which every value has a declared share.
std::vector<groups::DomainAxis> declared_shares(const std::string& file) {
  std::vector<groups::DomainAxis> axes = groups::read_domain(file).axes;
  std::erase_if(axes, [](const groups::DomainAxis& axis) {
    return std::ranges::any_of(axis.values, [](const groups::DomainValue& value) { return !value.share; });
  });
  if (axes.empty())
    fail(Fault::usage,
         "{} declares no characteristic with a share of each value, by which failures would be weighted",
         file);
  return axes;
}

ReliabilityFindings::Profile profile_of(const groups::DomainAxis& axis, const Evaluation& evaluation,
                                        const Dataset& data, double miss) {
  const auto& names = data.characteristics();
  const auto named = std::ranges::find(names, axis.characteristic);
  if (named == names.end())
    fail(Fault::mismatch,
         "{} has no characteristic '{}', which the domain declares; name it with meta=", data.describe(),
         axis.characteristic);
  ReliabilityFindings::Profile profile{.characteristic = axis.characteristic, .strata = {}, .bound = {}};
  double sum = 0;
  for (const groups::DomainValue& value : axis.values) sum += *value.share;
  for (const groups::DomainValue& value : axis.values)
    profile.strata.push_back({.name = value.value, .weight = *value.share / sum});
  for (std::size_t i = 0; i < data.size(); ++i) {
    const auto stratum = std::ranges::find(profile.strata, data.characteristic(named - names.begin(), i),
                                           &reliability::Stratum::name);
    if (stratum == profile.strata.end()) {
      ++profile.outside;
      continue;
    }
    ++stratum->records;
    stratum->failures += evaluation.predictions[i] != data.label(i);
  }
  profile.bound = reliability::weighted_bound(profile.strata, miss);
  return profile;
}

ReliabilityFindings::Calibrated calibrated(const Session& session, const DatasetPtr& test,
                                           const Calibration& before, const ReliabilityQuestion& question,
                                           const Setting& setting, Progress& progress) {
  const reliability::Scores scores =
      reliability::scores_of_records(session, question.calibration, setting.batch, progress);
  const double temperature = reliability::fitted_temperature(scores);
  const Graph changed = reliability::with_temperature(session.graph(), scores.value, temperature);
  const Session scaled(changed, session.options());
  const Evaluation after =
      evaluate(scaled, test, {.batch = setting.batch, .stage = "evaluating with it"}, progress);
  if (!question.out.empty()) write_onnx(in_form_of_file(changed, question.form), question.out);
  return {.temperature = temperature,
          .records = scores.labels.size(),
          .file = question.out,
          .before = before,
          .after = *after.calibration};
}

void add_stability(ReliabilityFindings& found, const Session& session, const DatasetPtr& test,
                   const Evaluation& evaluation, const ReliabilityQuestion& question, const Setting& setting,
                   Progress& progress) {
  std::vector<std::vector<std::int64_t>> classes{evaluation.predictions};
  found.networks.push_back(session.graph().name());
  for (const std::string& file : question.twins) {
    const Session twin = open_network(file, question.reading, setting, test.get(), progress);
    classes.push_back(
        evaluate(twin, test, {.batch = setting.batch, .stage = "evaluating " + file}, progress).predictions);
    found.networks.push_back(file);
  }
  found.stability = reliability::stability_of(classes, labels_of(*test));
}

Evaluation evaluated(const Session& session, const DatasetPtr& data, const Setting& setting,
                     Progress& progress, const char* stage) {
  if (!data->has_labels() || data->target_width() > 0)
    fail(Fault::usage,
         "{}: there is no class for each record, by which records fail or not; give one label a record "
         "(labels=), and judge items and numbers by the figures of an evaluation",
         data->describe());
  return evaluate(session, data, {.batch = setting.batch, .stage = stage}, progress);
}

}  // namespace

report::Document reliability(const Session& session, const DatasetPtr& test,
                             const ReliabilityQuestion& question, const Setting& setting,
                             Progress& progress) {
  report::check(question.conditions, measured_by(question));
  report::check_baseline(question.conditions, session.graph().hash(), test->hash());
  const std::vector<groups::DomainAxis> axes =
      question.domain.empty() ? std::vector<groups::DomainAxis>() : declared_shares(question.domain);
  const Evaluation evaluation = evaluated(session, test, setting, progress, "evaluating");
  const double miss = 1 - question.confidence;
  ReliabilityFindings found{
      .confidence = question.confidence, .failures = failures_of(evaluation, *test), .records = test->size()};
  found.interval = reliability::clopper_pearson(found.failures, found.records, miss / 2);
  found.upper = reliability::clopper_pearson(found.failures, found.records, miss).second;
  for (const groups::DomainAxis& axis : axes)
    found.profiles.push_back(profile_of(axis, evaluation, *test, miss));
  reliability::BoundInputs inputs{
      .failures = found.failures, .records = found.records, .miss = miss, .candidates = question.candidates};
  if (question.training) {
    const Evaluation of_training =
        evaluated(session, question.training, setting, progress, "evaluating training records");
    inputs.training = {failures_of(of_training, *question.training), question.training->size()};
    inputs.bits = 32.0 * session.graph().parameter_count();
    found.near = question.near;
    found.leakage = reliability::find_leakage(test, question.training, question.near, progress);
  }
  found.bounds = reliability::generalisation_bounds(inputs);
  if (question.calibration)
    found.calibrated = calibrated(session, test, *evaluation.calibration, question, setting, progress);
  if (!question.twins.empty()) add_stability(found, session, test, evaluation, question, setting, progress);
  report::Document document = results::document_of(found, session.graph(), *test, question.training.get());
  report::apply(question.conditions, document, results::measurements_of(found));
  std::vector<std::pair<std::string, DatasetPtr>> data{{"test", test}};
  if (question.calibration) data.emplace_back("calibration", question.calibration);
  if (question.training) data.emplace_back("train", question.training);
  results::add_provenance(document, session, data);
  return document;
}

}  // namespace assay::answers
