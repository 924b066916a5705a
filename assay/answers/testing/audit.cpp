#include "assay/answers/testing/audit.h"

#include <utility>

#include <assay/error.h>
#include <assay/extend/criteria.h>
#include <assay/groups.h>
#include "assay/answers/networks/network.h"
#include "assay/answers/task.h"
#include "assay/audit/choices.h"
#include "assay/coverage/possible.h"
#include "assay/coverage/released.h"
#include "assay/coverage/request.h"
#include "assay/engine/layers/unit_views.h"
#include "assay/engine/preparation/other_threshold.h"
#include "assay/results/document.h"
#include "assay/results/kept_pairs.h"
#include "assay/results/testing/audit.h"
#include "assay/results/warnings.h"

namespace assay::answers {
namespace {

std::vector<std::string> chosen_criteria(const AuditQuestion& question) {
  std::vector<std::string> texts = question.criteria;
  if (question.preset == coverage::released_preset)
    fail(Fault::usage,
         "{} {} is a separate computation, for coverage alone; choose another preset or name criteria",
         About{"preset", "{preset}"}, question.preset);
  if (!question.preset.empty() || texts.empty()) {
    const std::vector<std::string> preset =
        coverage::presets().find(question.preset.empty() ? "audit" : question.preset).criteria();
    texts.insert(texts.begin(), preset.begin(), preset.end());
  }
  return texts;
}

std::vector<Spec> specs_in(const std::vector<std::string>& texts) {
  std::vector<Spec> specs;
  for (const std::string& text : texts) specs.push_back(parse_spec("criterion", text));
  return specs;
}

// Leaves out of the preset's criteria what the profile does not allow.
std::vector<report::Warning> keep_possible(const std::shared_ptr<const coverage::Profile>& profile,
                                           std::vector<std::string>& criteria) {
  const coverage::PossibleCriteria found = coverage::possible_criteria(profile, specs_in(criteria));
  if (found.possible.empty()) fail(Fault::mismatch, "{}", found.impossible[0].second);
  criteria.clear();
  for (const Spec& spec : found.possible) criteria.push_back(spec.text());
  return results::left_out_warnings(found);
}

// What criteria compare a network with, and the items that they look at, decided as in its training records.
struct AuditKnowledge {
  std::shared_ptr<const coverage::Profile> profile;
  std::optional<coverage::ItemChoice> items;
};

AuditKnowledge learned(const Session& session, const AuditQuestion& question,
                       const std::vector<std::string>& criteria, const Setting& setting, Progress& progress) {
  coverage::LearnOptions learn = question.learn;
  for (const Spec& spec : specs_in(criteria)) learn.criteria.emplace_back(spec);
  learn.batch = learn.importance.batch = setting.batch;
  const Decided decision =
      decided(question.task, session, question.training, {}, setting.batch, Need::scores, question.test);
  learn.importance.task = decision.task;
  learn.items = chosen_items(question.items, decision, setting);
  learn.subjects = layers_for(learn.subjects, session, decision, setting.batch, progress);
  return {coverage::learned_profile(session, decision.data, learn, progress), learn.items};
}

void add_audited_items(report::Document& document, const AuditKnowledge& known) {
  if (!known.items) return;
  document.facts.push_back({"items", "what is looked at",
                            known.items->text() + " items of each record; a record covers what they cover"});
}

void add_mutants(audit::Pool& pool, const Session& session, const Decided& decision,
                 const AuditQuestion& question, const Setting& setting, Progress& progress) {
  if (question.mutants.empty() && question.count == 0) return;
  const mutation::MutationState state =
      question.mutants.empty()
          ? audit::judged_mutants(
                session, decision.data,
                {question.count, question.quality, setting.seed, setting.batch, decision.task}, progress)
          : mutation::MutationState::read(question.mutants);
  // Mutants are made of networks without views.
  if (state.model_hash() != session.graph().hash() &&
      state.model_hash() != without_unit_views(session.graph()).hash())
    fail(Fault::mismatch, "{} holds mutants of network '{}', not of '{}'{}", question.mutants, state.model(),
         session.graph().name(), other_threshold);
  audit::add_mutants(pool, state, question.quality, decision.data);
}

// `classless`: records have no class by which subsets could be drawn, and nothing else is asked for.
audit::AuditOptions settled_audit(const audit::AuditOptions& asked, std::size_t records, bool classless,
                                  const Setting& setting) {
  audit::AuditOptions options = audit::settled(asked, records);
  if (classless) std::erase(options.samplers, "class");
  options.seed = setting.seed;
  options.threads = static_cast<std::size_t>(setting.session.threads);
  return options;
}

}  // namespace

report::Document audit_criteria(const Session& session, const AuditQuestion& question, const Setting& setting,
                                Progress& progress) {
  const Decided decision =
      decided(question.task, session, question.test, {}, setting.batch, Need::scores, question.training);
  const DatasetPtr& test = decision.data;
  results::check_pairs(question.pairs, *test);
  if (question.mutants.empty() && question.count > 0)
    audit::require_classes(session, *test, decision.task.get());
  const bool classless = decision.task && question.options.samplers == audit::AuditOptions().samplers;
  const audit::AuditOptions options = settled_audit(question.options, test->size(), classless, setting);
  std::vector<std::string> criteria = chosen_criteria(question);
  const AuditKnowledge known = learned(session, question, criteria, setting, progress);
  audit::PoolOptions pooling{
      .noise = question.noise, .items = known.items, .batch = setting.batch, .seed = setting.seed};
  std::vector<report::Warning> left_out;
  if (question.criteria.empty()) left_out = keep_possible(known.profile, criteria);
  if (question.by_layer) criteria = audit::with_layers(criteria, *known.profile);
  audit::Pool pool = audit::make_pool(session, known.profile, criteria, test, pooling, progress);
  for (const std::string& file : question.twins) {
    const Session twin = open_network(file, question.reading, setting, test.get(), progress);
    const AuditKnowledge of_twin = learned(twin, question, criteria, setting, progress);
    pooling.items = of_twin.items;
    const std::string name = pool.again.contains(twin.graph().name()) ? file : twin.graph().name();
    audit::measure_again(pool, name, twin, of_twin.profile, criteria, test, pooling, progress);
  }
  if (question.predicted) {
    pooling.items = known.items;
    audit::measure_predicted(pool, session, known.profile, criteria,
                             decided(question.task, session, question.predicted, {}, setting.batch).data,
                             pooling, progress);
  }
  add_mutants(pool, session, decision, question, setting, progress);
  if (!question.findings.empty()) audit::add_findings(pool, open_dataset(question.findings), test);
  const audit::Audit result = audit::audit(pool, options, progress);
  report::Document document =
      results::document_of(result, pool, fmt::format("{} on {}", session.graph().name(), test->describe()));
  add_task(document, decision);
  add_audited_items(document, known);
  const std::vector<groups::Group> groups = groups::groups_of(*test);
  const results::KeptGroups kept =
      results::kept_groups(groups, results::by_group(pool, groups), question.pairs);
  results::add_groups(document, *test, kept.groups, kept.figures);
  if (!kept.figures.empty()) results::tell_left_out(document, groups, question.pairs);
  if (classless)
    document.notices.emplace_back("no subsets are drawn by class: records with many items have none");
  results::add_warnings(document, std::move(left_out));
  results::add_provenance(document, session, {{"test", test}, {"train", question.training}});
  if (question.predicted) results::add_provenance(document, "predict", *question.predicted);
  return document;
}

}  // namespace assay::answers
