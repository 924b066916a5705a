// Programs of training, and what operators do to them.

#include <fmt/format.h>

#include <algorithm>

#include <assay/error.h>
#include <assay/source_mutation.h>
#include "assay/data/views.h"
#include "assay/mutation/operators/family.h"
#include "assay/mutation/source/program.h"
#include "assay/support/files/hash.h"
#include "assay/support/text/text.h"

namespace assay::mutation {
namespace {

constexpr std::uint64_t most_program_draws = 16;  // until something changes

std::uint64_t stream_named(const std::string& name) { return hash_128(name.data(), name.size())[0]; }

// The place that is meant, or the reason why there is none.
Place place_of(const std::vector<Place>& places, const Mutant& mutant) {
  if (mutant.layer.empty()) {
    if (places.size() == 1) return places.front();
    fail(Fault::usage, "mutant {} must name a place: {}", mutant.text(), names_of(places));
  }
  for (const Place& place : places)
    if (place.name == mutant.layer) return place;
  std::vector<std::string> names;
  for (const Place& place : places) names.push_back(place.name);
  fail(Fault::usage, "mutant {}: there is no place '{}'{}; there are {}", mutant.text(), mutant.layer,
       did_you_mean(mutant.layer, names), names_of(places));
}

}  // namespace

std::string names_of(const std::vector<Place>& places) {
  std::vector<std::string> names;
  for (const Place& place : places) names.push_back(place.name);
  return joined(names);
}

std::vector<Place> data_place(std::string refusal) { return {{"data", std::move(refusal)}}; }
std::vector<Place> recipe_place(std::string refusal) { return {{"recipe", std::move(refusal)}}; }

std::vector<Place> layer_places(const Subject& subject,
                                const std::function<std::string(const SubjectLayer& layer)>& refusal) {
  std::vector<Place> places;
  for (const SubjectLayer& layer : subject.layers()) places.push_back({layer.name(), refusal(layer)});
  return places;
}

ProgramChange edit_layer(const ProgramSite& site, Program& program,
                         const std::function<void(const SubjectLayer& layer, Edit& edit)>& change) {
  Edit edit(site.subject);
  change(site.subject.layer(site.place), edit);
  if (edit.empty()) return {0, "nothing changes"};
  program.graph = edit.build();
  return {1, fmt::format("{} {}", site.place, edit.changes().front().what)};
}

ProgramFault before_training(const OperatorInfo& op) {
  return {.places =
              [refusal = op.refusal](const Program&, const Subject& subject, const SpecOptions& options) {
                return layer_places(subject,
                                    [&](const SubjectLayer& layer) { return refusal(layer, options); });
              },
          .apply =
              [apply = op.apply](const ProgramSite& site, Program& program) {
                static const std::vector<std::int64_t> no_sites;
                return edit_layer(site, program, [&](const SubjectLayer& layer, Edit& edit) {
                  apply({layer, site.options, no_sites, site.rng}, edit);
                });
              }};
}

Struck strike_program(const Program& program, const Subject& subject, const Mutant& mutant) {
  const OperatorChoice op = mutant.choice();
  const OperatorInfo& info = info_of(op);
  const SpecOptions options = options_of(op);
  if (!info.of_source())
    fail(Fault::usage, "mutation operator {} changes a trained network, not what it is trained from",
         info.name);
  const Place place = place_of(info.program.places(program, subject, options), mutant);
  if (!place.refusal.empty()) return {.reason = place.refusal};
  Struck struck;
  for (std::uint64_t draw = 0; draw < most_program_draws; ++draw) {
    Rng rng(mutant.seed, {stream_named(info.name), stream_named(place.name), draw});
    const auto before = rng.state();
    Program changed = program;
    const ProgramChange change = info.program.apply({subject, place.name, options, rng}, changed);
    struck.random = rng.state() != before;
    struck.reason = change.what;
    if (change.sites > 0) {
      struck.mutation =
          ProgramMutation{std::move(changed), change.sites, fmt::format("{}: {}", info.title, change.what)};
      return struck;
    }
    if (!struck.random) break;
  }
  return struck;
}

ProgramMutation apply(const Program& program, const Subject& subject, const Mutant& mutant) {
  Struck struck = strike_program(program, subject, mutant);
  if (!struck.mutation)
    fail(Fault::usage, "mutation operator {} does not apply: {}", mutant.op.text(), struck.reason);
  return std::move(*struck.mutation);
}

Program with_data_in_memory(Program program, std::uint64_t most) {
  program.training = held_in_memory(program.training, most);
  if (program.validation) program.validation = held_in_memory(program.validation, most);
  return program;
}

std::string hash_of(const Program& program) {
  return Hasher()
      .text(program.graph.hash())
      .text(program.training->hash())
      .text(program.validation ? program.validation->hash() : std::string())
      .text(training::recipe_hash(program.recipe))
      .hex();
}

}  // namespace assay::mutation
