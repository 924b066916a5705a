#include "assay/results/catalogue.h"

#include <fmt/format.h>

#include <span>
#include <vector>

#include <assay/attack.h>
#include <assay/extend/constraint.h>
#include <assay/extend/criteria.h>
#include <assay/extend/hypothesis.h>
#include <assay/extend/measure.h>
#include <assay/extend/mutation_operator.h>
#include <assay/extend/task.h>
#include "assay/explore/choice.h"
#include "assay/results/document.h"
#include "assay/support/text/text.h"

namespace assay::results {
namespace {

report::Table option_table(std::span<const SpecOption> options) {
  return table_of("options", "Options", options,
                  {{"option", &SpecOption::name},
                   {"fallback", "default", [](auto& option) { return unless_empty(option.fallback); }},
                   {"summary", "what it does", &SpecOption::summary}});
}

// One entry: headline "TITLE: SUMMARY", a table of the options, definition and limits. `page`: the
// documentation where it stands.
template <typename Info>
report::Document explained(const std::string& title, const Info& info, std::span<const SpecOption> options,
                           const std::string& page) {
  report::Document document;
  document.headline = title + ": " + info.summary;
  if (!options.empty()) document.tables = {option_table(options)};
  document.definitions = {{"definition", info.definition, info.paper}, {"limits", info.limits, page}};
  return document;
}

// All entries with their papers; `what`: the heading of the summaries.
template <typename Info>
report::Table entry_table(const char* id, const char* title, const char* what,
                          const Catalogue<Info>& entries) {
  return table_of(
      id, title, entries,
      {{"name", &Info::name}, {"summary", what, &Info::summary}, {"paper", "source", &Info::paper}});
}

// Presets and other entries with only a name and a summary.
template <typename Entry>
report::Table short_table(const char* id, const char* title, const char* what,
                          const Catalogue<Entry>& entries) {
  return table_of(id, title, entries, {{"name", &Entry::name}, {"summary", what, &Entry::summary}});
}

// With the specs that a preset stands for.
template <typename Entry>
report::Table preset_table(const Catalogue<Entry>& presets, const char* of) {
  return table_of("presets", "Presets", presets,
                  {{"name", &Entry::name},
                   {"summary", "what it is", &Entry::summary},
                   {of, [](const Entry& preset) { return joined(preset.specs, " "); }}});
}

std::string level_of(const mutation::OperatorInfo& info) {
  switch (info.level) {
    case mutation::OperatorInfo::Level::weight:
      return "weights";
    case mutation::OperatorInfo::Level::neuron:
      return "neurons";
    case mutation::OperatorInfo::Level::data:
      return "training data";
    case mutation::OperatorInfo::Level::structure:
      return "structure before training";
    case mutation::OperatorInfo::Level::recipe:
      return "recipe of training";
    case mutation::OperatorInfo::Level::layer:
      break;
  }
  return "layer";
}

report::Table operators_table() {
  using mutation::OperatorInfo;
  return table_of("operators_known", "Mutation operators", mutation::operators(),
                  {{"name", &OperatorInfo::name},
                   {"title", "operator", &OperatorInfo::title},
                   {"level", "acts on", level_of},
                   {"summary", "what it does", &OperatorInfo::summary},
                   {"paper", "source", &OperatorInfo::paper}});
}

std::string learned_for(coverage::CriterionInfo::Needs needs) {
  using enum coverage::CriterionInfo::Needs;
  switch (needs) {
    case quantiles:
      return "quantiles of all neurons";
    case clusters:
      return "important neurons and the clusters of their activations";
    case combinations:
      return "important neurons, the clusters of their activations, and their combinations";
    case traces:
      return "activation traces of the subject layer";
    case statistics:
      break;
  }
  return "ranges of all neurons";
}

report::Document criterion_document(const coverage::CriterionInfo& info) {
  std::vector<SpecOption> options = info.options;
  options.push_back(coverage::layer_option());
  report::Document document = explained(info.name, info, options, "docs/algorithms/criteria.md");
  document.facts = {
      {"learned", "learned from training data", learned_for(info.needs)},
      {"layers", "layers", std::string(info.all_layers ? "all" : "the one before the last with weights")}};
  return document;
}

std::string kinds_of(const inspection::MeasureInfo& info) {
  std::vector<std::string> names;
  for (const inspection::BehaviourKind kind : info.kinds) {
    names.emplace_back(kind == inspection::BehaviourKind::binary        ? "binary"
                       : kind == inspection::BehaviourKind::categorical ? "categorical"
                                                                        : "numeric");
  }
  return joined(names);
}

report::Table measures_table(const char* id, const char* title, bool joint) {
  using inspection::MeasureInfo;
  const auto is_meant = [joint](const MeasureInfo& info) { return info.joint == joint; };
  return table_of(id, title, inspection::measures() | std::views::filter(is_meant),
                  {{"name", &MeasureInfo::name},
                   {"aliases", "other names", [](auto& info) { return unless_empty(joined(info.aliases)); }},
                   {"kinds", "hypotheses", kinds_of},
                   {"summary", "what it is", &MeasureInfo::summary},
                   {"paper", "source", &MeasureInfo::paper}});
}

report::Document measure_document(const inspection::MeasureInfo& info) {
  report::Document document =
      explained(info.name, info, info.options, "docs/algorithms/inspection-measures.md");
  document.facts = {{"kinds", "hypotheses", kinds_of(info)},
                    {"joint", "scores", std::string(info.joint ? "groups of units" : "single units")},
                    {"merges", "parts of a data set can be combined", info.merges}};
  if (!info.aliases.empty()) document.facts.push_back({"aliases", "other names", joined(info.aliases)});
  return document;
}

}  // namespace

report::Document explain_criteria(const std::string& name) {
  if (!name.empty()) return criterion_document(coverage::criteria().find(name));
  report::Document document;
  document.headline = fmt::format("{} criteria", coverage::criteria().size());
  document.tables = {entry_table("criteria_known", "Criteria", "what it is", coverage::criteria()),
                     short_table("presets", "Presets", "what it is", coverage::presets())};
  return document;
}

report::Document explain_attacks(const std::string& name) {
  if (!name.empty()) {
    const attack::AttackInfo& info = attack::attacks().find(name);
    std::vector<SpecOption> options = info.options;
    if (!info.target.empty()) options.push_back(attack::target_option(info));
    return explained(info.name, info, options, "docs/algorithms/attacks.md");
  }
  report::Document document;
  document.headline = fmt::format("{} attacks", attack::attacks().size());
  document.tables = {entry_table("attacks_known", "Attacks", "what it is", attack::attacks()),
                     preset_table(attack::presets(), "attacks")};
  return document;
}

report::Document explain_operators(const std::string& name) {
  report::Document document;
  if (!name.empty()) {
    const mutation::OperatorInfo& info = mutation::operators().find(name);
    document = explained(fmt::format("{} ({})", info.name, info.title), info, info.options,
                         "docs/algorithms/mutation-operators.md");
    document.facts = {{"level", "acts on", level_of(info)}};
    return document;
  }
  document.headline = fmt::format("{} mutation operators", mutation::operators().size());
  document.tables = {operators_table(), preset_table(mutation::presets(), "operators")};
  return document;
}

report::Document explain_constraints(const std::string& name) {
  if (!name.empty()) {
    const explore::ConstraintInfo& info = explore::constraints().find(name);
    return explained(info.name, info, info.options, "docs/algorithms/exploration.md");
  }
  report::Document document;
  document.headline = fmt::format("{} constraints", explore::constraints().size());
  document.tables = {
      entry_table("constraints", "Constraints", "what it allows", explore::constraints()),
      short_table("choices", "Choices of neurons", "what is chosen", explore::neuron_choices())};
  return document;
}

report::Document explain_tasks(const std::string& name) {
  if (!name.empty()) {
    const task::TaskInfo& info = task::tasks().find(name);
    return explained(info.name, info, info.options, "docs/tasks.md");
  }
  report::Document document;
  document.headline = fmt::format("{} tasks", task::tasks().size());
  document.tables = {entry_table("tasks", "Tasks", "what a record's items are", task::tasks())};
  return document;
}

report::Document explain_measures(const std::string& name) {
  if (!name.empty()) return measure_document(inspection::info_of(inspection::measure_choice(name)));
  report::Document document;
  document.headline = fmt::format("{} measures", inspection::measures().size());
  document.tables = {measures_table("independent", "Measures of single units", false),
                     measures_table("joint", "Measures of groups of units", true)};
  return document;
}

report::Document explain_hypotheses(const std::string& name) {
  if (!name.empty()) {
    const inspection::AnnotatorInfo& info = inspection::annotators().find(name);
    report::Document document = explained(info.name, info, info.options, "docs/algorithms/hypotheses.md");
    if (!info.endings.empty()) document.facts = {{"endings", "files that select it", joined(info.endings)}};
    return document;
  }
  report::Document document;
  document.headline = fmt::format("{} kinds of hypotheses", inspection::annotators().size());
  document.tables = {
      entry_table("hypotheses_known", "Hypotheses", "what it annotates", inspection::annotators())};
  return document;
}

}  // namespace assay::results
