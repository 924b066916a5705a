#include <assay/extend/mutation_operator.h>

#include <charconv>
#include <utility>

#include <assay/error.h>
#include <assay/extend/random.h>
#include "assay/mutation/sites.h"
#include "assay/support/ascii.h"
#include "assay/support/files/hash.h"
#include "assay/support/text/so_many.h"
#include "assay/support/text/text.h"

namespace assay::mutation {
namespace {

constexpr std::uint64_t most_draws = 16;  // of sites, until something changes

std::uint64_t stream(const std::string& name) { return hash_128(name.data(), name.size())[0]; }

// Layers that take part: the one named, or all that the operator applies to. `reason` is filled where there
// is none.
std::vector<const SubjectLayer*> layers_for(const Subject& subject, const Mutant& mutant,
                                            const OperatorInfo& info, const SpecOptions& options,
                                            std::string& reason) {
  if (!mutant.layer.empty()) {
    const SubjectLayer& layer = subject.layer(mutant.layer);
    reason = refusal_of(info, options, layer);
    if (!reason.empty()) return {};
    return {&layer};
  }
  std::vector<const SubjectLayer*> layers;
  std::vector<std::string> reasons;
  for (const SubjectLayer& layer : subject.layers()) {
    const std::string refusal = refusal_of(info, options, layer);
    if (refusal.empty())
      layers.push_back(&layer);
    else
      reasons.push_back(fmt::format("{}: {}", layer.name(), refusal));
  }
  if (layers.empty())
    reason = reasons.empty() ? "no layer can be mutated"
                             : fmt::format("applies to no layer ({})", joined(reasons, "; "));
  return layers;
}

// The neurons that an edit names, which are not all that it changes where it changes many.
std::string listed(const Edit& edit, std::size_t most) {
  std::vector<std::string> names;
  std::int64_t last = -1;
  for (const Change& change : edit.changes()) {
    if (change.neuron == last || change.neuron < 0) continue;
    last = change.neuron;
    if (names.size() == most) break;
    names.push_back(std::to_string(last));
  }
  return joined(names) + (std::cmp_less(names.size(), edit.neuron_count()) ? ", ..." : "");
}

std::string summary_of(const OperatorInfo& info, const Mutant& mutant, const Edit& edit) {
  constexpr std::size_t most = 8;
  const std::string place = mutant.layer.empty() ? "the network" : mutant.layer;
  if (info.level == OperatorInfo::Level::neuron) {
    const std::int64_t count = edit.neuron_count();
    if (mutant.layer.empty())
      return fmt::format("{}: {} of the network", info.title, so_many(count, "neuron"));
    return fmt::format("{}: {} {} of {}", info.title, count == 1 ? "neuron" : "neurons", listed(edit, most),
                       place);
  }
  const Change& first = edit.changes().front();
  if (!first.what.empty()) return fmt::format("{}: {} {}", info.title, place, first.what);
  return fmt::format("{}: {} of {}", info.title, so_many(edit.change_count(), "weight"), place);
}

}  // namespace

std::string Mutant::id() const {
  std::string place;
  for (const char c : layer) {
    const bool plain = is_alphanumeric(c) || c == '.' || c == '-';
    if (plain)
      place += c;
    else if (!place.empty() && place.back() != '_')
      place += '_';
  }
  return place.empty() ? fmt::format("{}-{}", op.name, seed) : fmt::format("{}-{}-{}", op.name, place, seed);
}

std::string Mutant::text() const {
  return layer.empty() ? fmt::format("{}#{}", op.text(), seed)
                       : fmt::format("{}@{}#{}", op.text(), layer, seed);
}

Mutant parse_mutant(const std::string& text) {
  const auto malformed = [&]() {
    fail(Fault::usage, "'{}' is not a mutant; mutants are written OPERATOR[options]@LAYER#SEED{}", text,
         About{"", ", as `assay mutate {list}` prints them"});
  };
  std::size_t end = text.find_first_of("[@#");
  if (end != std::string::npos && text[end] == '[') {
    end = text.find(']', end);
    if (end != std::string::npos) ++end;
  }
  const std::size_t number = text.rfind('#');
  if (end == std::string::npos || number == std::string::npos || number < end ||
      (text[end] != '@' && end != number))
    malformed();
  Mutant mutant{.op = parse_spec("mutation operator", text.substr(0, end)), .layer = {}};
  if (end != number) {
    mutant.layer = text.substr(end + 1, number - end - 1);
    if (mutant.layer.empty()) malformed();
  }
  const char* const stop = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + number + 1, stop, mutant.seed);
  if (error != std::errc() || rest != stop) malformed();
  return mutant;
}

Outcome plan_mutant(const Subject& subject, const Mutant& mutant, std::size_t most_kept) {
  const OperatorChoice op = mutant.choice();
  const OperatorInfo& info = info_of(op);
  const SpecOptions options = options_of(op);
  refuse_source(info);
  Outcome outcome;
  const auto layers = layers_for(subject, mutant, info, options, outcome.reason);
  if (layers.empty()) return outcome;
  if (info.level == OperatorInfo::Level::layer && mutant.layer.empty()) {
    outcome.reason = "it acts on a layer as a whole; the mutant must name one";
    return outcome;
  }
  for (std::uint64_t draw = 0; draw < most_draws; ++draw) {
    Rng rng(mutant.seed, {stream(info.name), stream(mutant.layer), draw});
    auto edit = std::make_unique<Edit>(subject, most_kept);
    const auto sites = draw_sites(info, options, layers, rng);
    for (std::size_t i = 0; i < layers.size(); ++i) info.apply({*layers[i], options, sites[i], rng}, *edit);
    if (edit->empty()) continue;
    outcome.edit = std::move(edit);
    return outcome;
  }
  outcome.reason = fmt::format("{} draws changed nothing", most_draws);
  return outcome;
}

Mutation apply(const Subject& subject, const Mutant& mutant) {
  const Outcome outcome = plan_mutant(subject, mutant);
  if (!outcome.edit) {
    const std::string place = mutant.layer.empty() ? "the network" : fmt::format("layer '{}'", mutant.layer);
    fail(Fault::usage, "mutation operator {} does not apply to {}: {}", mutant.op.name, place,
         outcome.reason);
  }
  const Edit& edit = *outcome.edit;
  const OperatorChoice op = mutant.choice();
  const OperatorInfo& info = info_of(op);
  return {.graph = edit.build(),
          .sites = info.level == OperatorInfo::Level::neuron ? edit.neuron_count() : edit.change_count(),
          .changes = edit.changes(),
          .change_count = edit.change_count(),
          .summary = summary_of(info, mutant, edit)};
}

}  // namespace assay::mutation
