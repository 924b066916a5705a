#include <assay/mutation.h>

#include <algorithm>
#include <map>
#include <set>

#include <assay/error.h>
#include <assay/extend/random.h>
#include "assay/mutation/sites.h"
#include "assay/support/files/hash.h"
#include "assay/support/text/unit_numbers.h"

namespace assay::mutation {
namespace {

constexpr std::size_t most_duplicates = 200;  // in a row, until an operator is taken to have no more mutants
constexpr std::int64_t draws_per_variant = 8;

std::vector<const SubjectLayer*> layers_of(const Subject& subject, const DrawOptions& options) {
  std::vector<const SubjectLayer*> layers;
  if (!options.units.empty() && (options.whole_network || !options.layers.empty()))
    fail(Fault::usage, "units say which layers are mutated; leave out layers, or the whole network");
  for (const std::string& name : options.layers) layers.push_back(&subject.layer(name));
  for (const auto& [name, units] : options.units) layers.push_back(&subject.layer(name));
  if (layers.empty()) {
    for (const SubjectLayer& layer : subject.layers()) layers.push_back(&layer);
  }
  if (options.whole_network && !options.layers.empty())
    fail(Fault::usage, "layers cannot be chosen when mutants spread over the whole network");
  return layers;
}

// Draws the mutants of one entry of `operators`.
class Drawer {
 public:
  Drawer(const Subject& subject, const DrawOptions& options, const OperatorChoice& choice,
         std::uint64_t& last_seed, std::set<std::string>& seen, Drawn& drawn)
      : subject_(subject),
        options_(options),
        choice_(choice),
        op_(choice.spec()),
        info_(info_of(choice)),
        last_seed_(last_seed),
        seen_(seen),
        drawn_(drawn) {}

  void draw(std::span<const SubjectLayer* const> layers) {
    const bool whole = info_.level == OperatorInfo::Level::layer && !options_.units.empty();
    for (const SubjectLayer* layer : layers) {
      const std::string reason = whole ? "it changes a layer as a whole, not chosen neurons"
                                       : refusal_of(info_, options_on(layer), *layer);
      if (reason.empty())
        candidates_.push_back(layer);
      else
        drawn_.not_applicable.push_back({op_, layer->name(), reason});
    }
    if (candidates_.empty()) return;
    if (info_.level == OperatorInfo::Level::layer)
      draw_layers();
    else
      draw_sites();
  }

 private:
  enum class Result { taken, duplicate, nothing };

  Result take(const SubjectLayer* layer) {
    Mutant mutant{.op = operator_on(layer),
                  .layer = layer ? layer->name() : std::string(),
                  .seed = ++last_seed_,
                  .own = choice_.object()};
    const Outcome outcome = plan_mutant(subject_, mutant, 0);
    if (!outcome.edit) {
      drawn_.not_applicable.push_back({op_, mutant.layer, outcome.reason});
      if (layer) std::erase(candidates_, layer);
      return Result::nothing;
    }
    if (!seen_.insert(outcome.edit->fingerprint()).second) return Result::duplicate;
    drawn_.mutants.push_back(std::move(mutant));
    ++count_;
    return Result::taken;
  }

  // The operator with the neurons of the layer that may be changed. `layer`: null for the whole network.
  Spec operator_on(const SubjectLayer* layer) const {
    Spec op = op_;
    if (layer == nullptr) return op;
    const auto units = options_.units.find(layer->name());
    if (units != options_.units.end()) op.options["neurons"] = unit_numbers_text(units->second);
    return op;
  }
  SpecOptions options_on(const SubjectLayer* layer) const {
    const Spec op = operator_on(layer);
    return options_of(choice_.object() ? OperatorChoice(op.text(), choice_.object()) : OperatorChoice(op));
  }

  bool enough() const { return count_ >= options_.most(op_.name); }

  // Every layer once, in random order, then again for further variants.
  void draw_layers() {
    Rng rng(options_.seed, {hash_128(op_.name.data(), op_.name.size())[0]});
    rng.shuffle(candidates_);
    std::map<const SubjectLayer*, std::int64_t> found;
    for (std::int64_t round = 0; round < (info_.variants == 1 ? 1 : info_.variants * draws_per_variant);
         ++round) {
      const std::vector<const SubjectLayer*> layers = candidates_;  // take() may drop some
      for (const SubjectLayer* layer : layers) {
        if (enough()) return;
        if (found[layer] < info_.variants && take(layer) == Result::taken) ++found[layer];
      }
    }
  }

  void draw_sites() {
    for (std::size_t duplicates = 0; !enough() && !candidates_.empty() && duplicates < most_duplicates;) {
      const Result result = take(options_.whole_network ? nullptr : random_layer());
      if (result == Result::nothing && options_.whole_network) return;
      duplicates = result == Result::duplicate ? duplicates + 1 : 0;
    }
  }

  const SubjectLayer* random_layer() const {
    std::int64_t total = 0;
    for (const SubjectLayer* layer : candidates_) total += population(info_, options_on(layer), *layer);
    Rng rng(options_.seed, {hash_128(op_.name.data(), op_.name.size())[0], last_seed_});
    std::int64_t place = rng.below(total);
    for (const SubjectLayer* layer : candidates_) {
      place -= population(info_, options_on(layer), *layer);
      if (place < 0) return layer;
    }
    return candidates_.back();
  }

  const Subject& subject_;
  const DrawOptions& options_;
  const OperatorChoice& choice_;
  const Spec& op_;
  const OperatorInfo& info_;
  std::uint64_t& last_seed_;
  std::set<std::string>& seen_;
  Drawn& drawn_;
  std::vector<const SubjectLayer*> candidates_;
  std::size_t count_ = 0;
};

}  // namespace

Drawn draw_mutants(const Subject& subject, const DrawOptions& options) {
  const auto layers = layers_of(subject, options);
  Drawn drawn;
  std::map<std::string, std::uint64_t> last_seeds;  // by name of the operator, so that ids are unique
  std::map<std::string, std::set<std::string>> seen;
  for (const OperatorChoice& op : options.operators) {
    refuse_source(info_of(op));
    const std::string& name = op.spec().name;
    const auto seed = last_seeds.try_emplace(name, options.seed * seeds_per_draw).first;
    Drawer(subject, options, op, seed->second, seen[name], drawn).draw(layers);
  }
  return drawn;
}

}  // namespace assay::mutation
