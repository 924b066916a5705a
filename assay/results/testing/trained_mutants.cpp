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
  report::Table failed{
      "not_trained", "Mutants without a network", {{"mutant", "mutant"}, {"reason", "why"}}, {}, false};
  std::size_t known = 0;
  for (std::size_t i = 0; i < mutants.size(); ++i) {
    known += trained[i].known && trained[i].failure.empty();
    if (!trained[i].failure.empty()) failed.rows.push_back({mutants[i].text(), trained[i].failure});
  }
  document.facts = {count_fact("trained", "mutants trained now", mutants.size() - known - failed.rows.size()),
                    count_fact("trained_before", "trained before", known)};
  if (!failed.rows.empty()) {
    document.facts.push_back(count_fact("not_trained", "without a network", failed.rows.size()));
    document.tables = {std::move(failed)};
  }
  return document;
}

report::Table compared_table(std::span<const ComparedTests> tests) {
  report::Table table{"test_sets",
                      "Test sets compared",
                      {{"test", "test set"},
                       {"records", "records", Kind::count},
                       {"judged", "in T'", Kind::count},
                       {"score", "score", Kind::percent},
                       {"low", "from", Kind::percent},
                       {"high", "to (95 %)", Kind::percent},
                       {"error_rate", "average error rate", Kind::percent},
                       {"killed", "killed", Kind::count},
                       {"survived", "survived", Kind::count},
                       {"excluded", "excluded", Kind::count}},
                      {},
                      false};
  for (const auto& [name, score] : tests) {
    table.rows.push_back({name, report::count_cell(score.records), report::count_cell(score.judged),
                          optional_cell(score.all.score), optional_cell(score.all.low),
                          optional_cell(score.all.high), optional_cell(score.all.error_rate),
                          report::count_cell(score.all.killed), report::count_cell(score.all.survived),
                          report::count_cell(score.all.excluded + score.all.incomplete)});
  }
  return table;
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
  report::Table table{"redundant",
                      "Redundant: killed by all that kill another mutant",
                      {{"mutant", "mutant"}, {"summary", "what was changed"}},
                      {},
                      true};
  for (const std::size_t i : mutation::redundant(kills)) {
    const mutation::MutantOutcome& mutant = state.mutants()[counted[i]];
    table.rows.push_back({mutant.id, mutant.summary});
  }
  return table;
}

report::Document document_of(const std::string& folder,
                             std::span<const mutation::TrainedStore::Entry> entries) {
  report::Table table{"store",
                      "Trained networks",
                      {{"key", "key"},
                       {"what", "what"},
                       {"status", "status"},
                       {"reason", "why"},
                       {"network", "network"},
                       {"bytes", "bytes", Kind::count}},
                      {},
                      false};
  std::uint64_t bytes = 0;
  std::size_t trained = 0;
  for (const mutation::TrainedStore::Entry& entry : entries) {
    table.rows.push_back({entry.key, entry.what, status_text(entry.status), entry.status_text, entry.network,
                          report::count_cell(entry.bytes)});
    bytes += entry.bytes;
    trained += entry.status == mutation::TrainedStore::Status::trained;
  }
  report::Document document;
  document.headline = fmt::format("{}: {} trained networks", folder, trained);
  document.facts = {count_fact("networks", "trained networks", trained),
                    count_fact("entries", "entries", entries.size()), count_fact("bytes", "bytes", bytes)};
  document.tables = {std::move(table)};
  return document;
}

}  // namespace assay::results
