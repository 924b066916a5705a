#include "assay/results/testing/trained_mutants.h"

#include <fmt/format.h>

#include <algorithm>

#include "assay/results/document.h"
#include "assay/results/testing/mutation.h"

namespace assay::results {
namespace {

std::string status_text(mutation::TrainedStore::Status status) {
  switch (status) {
    case mutation::TrainedStore::Status::trained:
      return "trained";
    case mutation::TrainedStore::Status::failed:
      return "cannot be trained";
    case mutation::TrainedStore::Status::unfinished:
      return "unfinished";
    case mutation::TrainedStore::Status::damaged:
      break;
  }
  return "damaged";
}

}  // namespace

report::Document document_of(const mutation::Program& program, const mutation::Subject& subject,
                             std::span<const mutation::Mutant> mutants,
                             std::span<const mutation::NotApplicable> not_applicable) {
  return document_of("the training of " + program.graph.name(), mutants, not_applicable,
                     [&](const mutation::Mutant& mutant) {
                       const mutation::ProgramMutation made = mutation::apply(program, subject, mutant);
                       return DrawnMutant{made.sites, made.summary};
                     });
}

report::Document document_of(std::span<const mutation::Mutant> mutants,
                             std::span<const mutation::Trained> trained) {
  report::Document document;
  std::vector<std::size_t> failed;
  std::size_t known = 0;
  for (std::size_t i = 0; i < mutants.size(); ++i) {
    known += trained[i].known && trained[i].failure.empty();
    if (!trained[i].failure.empty()) failed.push_back(i);
  }
  document.facts = {count_fact("trained", "mutants trained now", mutants.size() - known - failed.size()),
                    count_fact("trained_before", "trained before", known)};
  if (!failed.empty()) {
    document.facts.push_back(count_fact("not_trained", "without a network", failed.size()));
    document.tables = {table_of("not_trained", "Mutants without a network", failed,
                                {{"mutant", [&](auto i) { return mutants[i].text(); }},
                                 {"reason", "why", [&](auto i) { return trained[i].failure; }}})};
  }
  return document;
}

report::Table compared_table(std::span<const ComparedTests> tests) {
  const auto excluded = [](const ComparedTests& one) {
    return one.score.all.excluded + one.score.all.incomplete;
  };
  return table_of("test_sets", "Test sets compared", tests,
                  {{"test", "test set", &ComparedTests::name},
                   {"records", [](auto& one) { return one.score.records; }},
                   {"judged", "in T'", [](auto& one) { return one.score.judged; }},
                   {"score", Kind::percent, [](auto& one) { return one.score.all.score; }},
                   {"low", "from", Kind::percent, [](auto& one) { return one.score.all.low; }},
                   {"high", "to (95 %)", Kind::percent, [](auto& one) { return one.score.all.high; }},
                   {"error_rate", "average error rate", Kind::percent,
                    [](auto& one) { return one.score.all.error_rate; }},
                   {"killed", [](auto& one) { return one.score.all.killed; }},
                   {"survived", [](auto& one) { return one.score.all.survived; }},
                   {"excluded", excluded}});
}

report::Table redundant_table(const mutation::MutationState& state, const mutation::MutationScore& score) {
  std::vector<std::size_t> counted;
  std::vector<std::vector<bool>> kills;
  for (std::size_t m = 0; m < score.mutants.size(); ++m) {
    if (score.mutants[m].status != mutation::MutantStatus::killed) continue;
    counted.push_back(m);
    std::vector<bool>& killers = kills.emplace_back(state.records().size());
    for (std::size_t r = 0; r < killers.size(); ++r) killers[r] = state.mutants()[m].killed[r];
  }
  const auto mutant = [&](std::size_t i) -> const mutation::MutantOutcome& {
    return state.mutants()[counted[i]];
  };
  return detailed(table_of("redundant", "Redundant: killed by all that kill another mutant",
                           mutation::redundant(kills),
                           {{"mutant", [&](auto i) { return mutant(i).id; }},
                            {"summary", "what was changed", [&](auto i) { return mutant(i).summary; }}}));
}

report::Document document_of(const std::string& folder,
                             std::span<const mutation::TrainedStore::Entry> entries) {
  using Entry = mutation::TrainedStore::Entry;
  std::uint64_t bytes = 0;
  std::size_t trained = 0;
  for (const Entry& entry : entries) {
    bytes += entry.bytes;
    trained += entry.status == mutation::TrainedStore::Status::trained;
  }
  report::Document document;
  document.headline = fmt::format("{}: {} trained networks", folder, trained);
  document.facts = {count_fact("networks", "trained networks", trained),
                    count_fact("entries", "entries", entries.size()), count_fact("bytes", "bytes", bytes)};
  document.tables = {table_of("store", "Trained networks", entries,
                              {{"key", &Entry::key},
                               {"what", &Entry::what},
                               {"status", [](auto& entry) { return status_text(entry.status); }},
                               {"reason", "why", &Entry::status_text},
                               {"network", &Entry::network},
                               {"bytes", &Entry::bytes}})};
  return document;
}

}  // namespace assay::results
