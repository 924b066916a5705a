// Which mutants of a program there are.

#include <algorithm>
#include <map>
#include <set>

#include <assay/error.h>
#include <assay/extend/random.h>
#include "assay/mutation/sites.h"
#include "assay/mutation/source/program.h"
#include "assay/support/files/hash.h"

namespace assay::mutation {
namespace {

constexpr std::size_t most_repetitions = 20;  // in a row, until a place is taken to have no more mutants

// Draws the mutants of one entry of `operators`.
class ProgramDrawer {
 public:
  ProgramDrawer(const Program& program, const Subject& subject, const DrawOptions& options,
                std::uint64_t& last_seed, std::set<std::string>& seen, Drawn& drawn)
      : program_(program),
        subject_(subject),
        options_(options),
        last_seed_(last_seed),
        seen_(seen),
        drawn_(drawn) {}

  // Every place once, in random order, then again for others.
  void draw(const OperatorChoice& op) {
    std::vector<Candidate> places = candidates_of(op);
    const std::string& name = op.spec().name;
    Rng(options_.seed, {hash_128(name.data(), name.size())[0]}).shuffle(places);
    const std::size_t most = options_.most(name);
    for (std::size_t count = 0; !places.empty() && count < most;) {
      for (Candidate& place : places) {
        if (count < most) count += take(op, place);
      }
      std::erase_if(places, [](const Candidate& place) { return place.exhausted; });
    }
  }

 private:
  struct Candidate {
    std::string name;
    std::size_t repetitions = 0;
    bool exhausted = false;
  };

  std::vector<Candidate> candidates_of(const OperatorChoice& op) {
    const OperatorInfo& info = info_of(op);
    std::vector<Candidate> candidates;
    for (const Place& place : info.program.places(program_, subject_, options_of(op))) {
      const bool meant = options_.layers.empty() || std::ranges::count(options_.layers, place.name) > 0;
      if (meant && place.refusal.empty()) candidates.push_back({.name = place.name});
      if (meant && !place.refusal.empty())
        drawn_.not_applicable.push_back({op.spec(), place.name, place.refusal});
    }
    return candidates;
  }

  // Whether there is one mutant more.
  bool take(const OperatorChoice& op, Candidate& place) {
    Mutant mutant{.op = op.spec(), .layer = place.name, .seed = ++last_seed_, .own = op.object()};
    const Struck struck = strike_program(program_, subject_, mutant);
    place.exhausted = !struck.random;
    if (!struck.mutation) {
      drawn_.not_applicable.push_back({op.spec(), place.name, struck.reason});
      place.exhausted = true;
      return false;
    }
    if (!seen_.insert(hash_of(struck.mutation->program)).second) {
      place.exhausted = place.exhausted || ++place.repetitions >= most_repetitions;
      return false;
    }
    place.repetitions = 0;
    drawn_.mutants.push_back(std::move(mutant));
    return true;
  }

  const Program& program_;
  const Subject& subject_;
  const DrawOptions& options_;
  std::uint64_t& last_seed_;
  std::set<std::string>& seen_;
  Drawn& drawn_;
};

}  // namespace

Drawn draw_mutants(const Program& program, const Subject& subject, const DrawOptions& options) {
  Drawn drawn;
  const std::string original = hash_of(program);
  std::map<std::string, std::uint64_t> last_seeds;  // by name of the operator, so that ids are unique
  std::map<std::string, std::set<std::string>> seen;
  for (const OperatorChoice& op : options.operators) {
    const OperatorInfo& info = info_of(op);
    if (!info.of_source())
      fail(Fault::usage,
           "mutation operator {} changes a trained network; mutants of training programs come from operators "
           "that change data, structure or recipe",
           info.name);
    const std::string& name = op.spec().name;
    const auto seed = last_seeds.try_emplace(name, options.seed * seeds_per_draw).first;
    seen[name].insert(original);
    ProgramDrawer(program, subject, options, seed->second, seen[name], drawn).draw(op);
  }
  return drawn;
}

}  // namespace assay::mutation
