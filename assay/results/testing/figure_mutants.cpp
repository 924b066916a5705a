#include "assay/results/testing/figure_mutants.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "assay/results/document.h"

namespace assay::results {
namespace {

struct KilledOf {
  std::size_t mutants = 0, killed = 0;
};

report::Table killed_by_group(const std::string& id, const std::string& title, const std::string& what,
                              const mutation::FigureKilling& killing, const auto& name_of) {
  std::map<std::string, KilledOf> groups;
  for (const mutation::FigureOutcome& one : killing.mutants) {
    KilledOf& group = groups[name_of(one.mutant)];
    ++group.mutants;
    group.killed += one.killed ? 1 : 0;
  }
  return table_of(id, title, groups,
                  {{what, [](auto& group) { return group.first; }},
                   {"mutants", [](auto& group) { return group.second.mutants; }},
                   {"killed", [](auto& group) { return group.second.killed; }},
                   {"score", Kind::percent,
                    [](auto& group) { return share_of(group.second.killed, group.second.mutants); }}});
}

report::Table table_of_mutants(const mutation::FigureKilling& killing) {
  const report::Format format(killing.share ? Kind::percent : Kind::number, 4);
  return table_of("mutants", "Mutants", killing.mutants,
                  {{"mutant", [](auto& one) { return one.mutant.id; }},
                   {"operator", [](auto& one) { return one.mutant.op; }},
                   {"layer", [](auto& one) { return one.mutant.layer; }},
                   {"seed", [](auto& one) { return one.mutant.seed; }},
                   {"status", [](auto& one) { return one.killed ? "killed" : "survived"; }},
                   {"figure", killing.figure, format, &mutation::FigureOutcome::value},
                   {"worse", "worse by", format, [](auto& one) { return if_finite(one.worse); }}});
}

std::string as_text(const mutation::FigureKilling& killing, double value) {
  return killing.share ? report::percent(value) : fmt::format("{:.4g}", value);
}

}  // namespace

report::Document document_of(const mutation::FigureKilling& killing, const std::string& network) {
  const std::size_t all = killing.mutants.size(), killed = killing.killed();
  const double score = defined_share(killed, all).value_or(0);
  report::Document document;
  document.headline =
      fmt::format("{}: {} of {} mutants make {} worse than {} by more than {}", network, killed, all,
                  killing.figure, as_text(killing, killing.original), as_text(killing, killing.margin));
  document.facts = {
      {"change", "a mutant is killed where",
       fmt::format("{} is worse by more than {}", killing.figure, as_text(killing, killing.margin))},
      {"original", killing.figure + " of the original", killing.original,
       killing.share ? Kind::percent : Kind::number, 4},
      {"mutation_score", "mutation score", score, Kind::percent},
      count_fact("mutants", "mutants", all),
      count_fact("killed", "killed", killed),
      count_fact("survived", "survived", all - killed)};
  document.tables = {killed_by_group("mutation_operators", "By operator", "operator", killing,
                                     [](const mutation::MutantOutcome& mutant) { return mutant.op; }),
                     killed_by_group("mutation_layers", "By layer", "layer", killing,
                                     [](const mutation::MutantOutcome& mutant) {
                                       return mutant.layer.empty() ? std::string("whole network")
                                                                   : mutant.layer;
                                     }),
                     table_of_mutants(killing)};
  document.definitions = {
      {"mutation score",
       "mutants of which the figure, over all records of the test set, is worse than the original's by more "
       "than the margin, divided by all; one that has no such figure is killed",
       "docs/tasks.md"}};
  return document;
}

std::vector<report::Measurement> measurements_of(const mutation::FigureKilling& killing) {
  std::vector<report::Measurement> measurements;
  if (killing.mutants.empty()) return measurements;
  for (const char* name : {"mutation", "killed-mutants"}) {
    report::Measurement& measured = measurements.emplace_back();
    measured.criterion = name;
    measured.covered = std::to_string(killing.killed());
    measured.coverable = std::to_string(killing.mutants.size());
    measured.value = share_of(killing.killed(), killing.mutants.size());
  }
  return measurements;
}

}  // namespace assay::results
