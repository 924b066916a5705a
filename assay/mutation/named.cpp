#include "assay/mutation/named.h"

#include <assay/error.h>
#include <assay/extend/mutation_operator.h>
#include <assay/mutation.h>

namespace assay::mutation {
namespace {

// The network with an operator applied to every layer that it can act on.
Graph everywhere(const Session& original, const Spec& op, std::uint64_t seed) {
  Graph graph = original.graph();
  const Subject whole(original);
  std::size_t changed = 0;
  for (const SubjectLayer& layer : whole.layers()) {
    const Session session(graph, original.options());
    const Subject subject(session);
    if (!plan_mutant(subject, {op, layer.name(), seed}).edit) continue;
    graph = apply(subject, {op, layer.name(), seed}).graph;
    ++changed;
  }
  if (changed == 0)
    fail(Fault::usage, "{}@all: the operator changes no layer of '{}'", op.text(), original.graph().name());
  return graph;
}

Mutant drawn(const Subject& subject, const Spec& op, std::uint64_t seed, std::size_t turn) {
  const Drawn found =
      draw_mutants(subject, {.operators = {op}, .per_operator = turn + 1, .layers = {}, .seed = seed});
  if (found.mutants.empty())
    fail(Fault::usage, "{}: the operator cannot change '{}'", op.text(), subject.graph().name());
  if (found.mutants.size() <= turn)
    fail(Fault::usage,
         "{}: there are only {} different mutants of '{}', but {} were requested; ask for fewer", op.text(),
         found.mutants.size(), subject.graph().name(), turn + 1);
  return found.mutants[turn];
}

Spec known_operator(const std::string& text) {
  Spec op = parse_spec("operator", text);
  operators().find(op.name);
  return op;
}

}  // namespace

NamedMutant make_mutant(const Session& original, const std::string& text, std::uint64_t seed,
                        std::size_t turn) {
  constexpr std::string_view all = "@all";
  if (text.ends_with(all))
    return {text, everywhere(original, known_operator(text.substr(0, text.size() - all.size())), seed), {}};
  const Subject subject(original);
  const bool placed = text.find_first_of("@#") != std::string::npos;
  const Mutant mutant = placed ? parse_mutant(text) : drawn(subject, known_operator(text), seed, turn);
  Mutation made = apply(subject, mutant);
  return {mutant.text(), std::move(made.graph), std::move(made.summary)};
}

}  // namespace assay::mutation
