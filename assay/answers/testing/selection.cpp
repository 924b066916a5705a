#include "assay/answers/testing/selection.h"

#include <algorithm>
#include <memory>
#include <optional>

#include <assay/coverage.h>
#include <assay/error.h>
#include <assay/extend/abilities.h>
#include "assay/answers/task.h"
#include "assay/coverage/request.h"
#include "assay/data/files/records_file.h"
#include "assay/results/document.h"
#include "assay/results/testing/selection.h"
#include "assay/results/warnings.h"
#include "assay/support/text/text.h"

namespace assay::answers {
namespace {

// Throws Error{mismatch} where it was learned with other subject layers.
std::shared_ptr<const coverage::Profile> known_profile(const Session& session,
                                                       const SelectionQuestion& question) {
  auto known = std::make_shared<const coverage::Profile>(coverage::read_profile(question.profile));
  const auto found = known->settings.find("subjects");
  const std::vector<std::string> subjects =
      found == known->settings.end() ? std::vector<std::string>() : found->second;
  for (const std::string& name : question.layers) {
    const std::string layer = session.layer(name).name;
    if (std::ranges::find(subjects, layer) == subjects.end())
      fail(Fault::mismatch, "{} {} contradicts {} {}, which was learned with {}; learn again {}",
           About{"chosen layer", "{layer}"}, layer, About{"profile", "{profile}"}, question.profile,
           found == known->settings.end() ? "no subject layer" : joined(subjects),
           About{"from training records", "with {train}"});
  }
  return known;
}

// The criterion of the state that the choice counts by. Throws Error{mismatch} where it has none such.
Spec criterion_beyond(const SelectionQuestion& question, const coverage::CoverageState& state) {
  std::vector<std::string> names;
  for (std::size_t c = 0; c < state.specs().size(); ++c) {
    const Spec& spec = state.specs()[c];
    if (coverage::ability<coverage::Itemised>(*state.total(c)) == nullptr) continue;
    if (question.any_criterion || spec == question.options.criterion) return spec;
    names.push_back(spec.text());
  }
  if (names.empty())
    fail(
        Fault::mismatch,
        "state {} has no criterion with items that records cover one by one; measure it with nc, kmnc or idc",
        question.beyond);
  fail(Fault::mismatch, "state {} does not hold {}; choose one that it holds: {}", question.beyond,
       question.options.criterion.text(), joined(names));
}

// The data that the choice compares with; null for choices that need no training data.
std::shared_ptr<const coverage::Profile> profile_for(const Session& session,
                                                     const SelectionQuestion& question,
                                                     const coverage::SelectOptions& options,
                                                     const Decided& decision, Progress& progress) {
  const std::optional<Spec> criterion = coverage::criterion_of(options);
  if (!criterion) return nullptr;
  if (!question.training) return known_profile(session, question);
  coverage::LearnOptions learn;
  learn.criteria = {*criterion};
  learn.subjects = layers_for(question.layers, session, decision, options.batch, progress);
  learn.batch = options.batch;
  learn.importance.method = question.method;
  learn.importance.task = options.task;
  learn.items = options.items;
  return coverage::learned_profile(session, task::prepared_for(question.task, question.training), learn,
                                   progress);
}

}  // namespace

report::Document select(const Session& session, const SelectionQuestion& question, const Setting& setting,
                        Progress& progress) {
  const Decided decision = decided(question.task, session, question.test, {}, setting.batch);
  const DatasetPtr& test = decision.data;
  coverage::SelectOptions options = question.options;
  options.task = decision.task;
  options.items = chosen_items(question.items, decision, setting);
  options.seed = setting.seed;
  options.batch = setting.batch;
  std::shared_ptr<const coverage::Profile> profile;
  if (question.beyond.empty()) {
    profile = profile_for(session, question, options, decision, progress);
  } else {
    if (!question.profile.empty()) profile = known_profile(session, question);
    options.beyond = std::make_shared<const coverage::CoverageState>(
        coverage::CoverageState::read(question.beyond, profile));
    options.criterion = criterion_beyond(question, *options.beyond);
    if (!profile) profile = {options.beyond, &options.beyond->profile()};
  }
  const coverage::Selection chosen = coverage::select_records(session, profile, test, options, progress);
  report::Document document = results::document_of(chosen, options, *test);
  if (options.beyond) results::add_beyond(document, chosen, question.beyond);
  if (profile)
    results::add_warnings(document, results::singular_warnings(coverage::begin_state(
                                        profile, {*coverage::criterion_of(options)}, false, {})));
  if (!question.ids.empty()) write_ids(question.ids, *test, chosen.records);
  if (!question.records.empty()) write_records(question.records, *test, chosen.records);
  add_task(document, decision);
  results::add_provenance(document, session, {{"test", test}});
  return document;
}

}  // namespace assay::answers
