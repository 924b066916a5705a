#pragma once

// Faults in what a network is trained from (source-level mutation): the training data, the network's
// structure before training, the recipe of training. Operators of these levels change a program; its network
// is then trained anew (docs/source-mutation.md).

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <assay/dataset.h>
#include <assay/extend/mutation_edit.h>
#include <assay/extend/random.h>
#include <assay/extend/spec.h>
#include <assay/graph.h>
#include <assay/training.h>

namespace assay::mutation {

// All that decides a trained network. Copies are cheap: graphs share weights, data sets are shared.
struct Program {
  Graph graph;              // its weights count only with the initialiser "keep"
  training::Recipe recipe;  // seed, checkpoint and best_epoch belong to the run, not to faults
  DatasetPtr training = {}, validation = {};  // `validation` may be null
};

// Where an operator could mutate: at data level "data", at recipe level "recipe", at structure level a layer
// or node.
struct Place {
  std::string name;
  std::string refusal;  // why it cannot act there; empty when it can
};

struct ProgramSite {
  const Subject& subject;    // of the graph of the program, unchanged
  const std::string& place;  // the name of a place without a refusal
  const SpecOptions& options;
  Rng& rng;
};

// The change made by an operator: "23 of 5000 records have another label".
struct ProgramChange {
  std::int64_t sites = 0;  // records, layers or settings changed; 0: nothing
  std::string what;
};

// A numeric option from where it changes least to where it changes most; `mildest` may be the greater one.
struct OptionRange {
  double mildest = 0, extreme = 1;
  double step = 0.01;  // differences smaller than this are not worth a training
};

// The part of an operator of the levels data, structure and recipe.
struct ProgramFault {
  // Throws Error{usage} for options out of range. Never empty.
  std::function<std::vector<Place>(const Program& program, const Subject& subject,
                                   const SpecOptions& options)>
      places = {};
  // Changes data at data level, the graph (or what the recipe says of single layers) at structure level, the
  // recipe or the validation data at recipe level, and nothing else. Data sets are replaced by views that do
  // their work when they are read. Deterministic for the state of the random stream. May find nothing to
  // change.
  std::function<ProgramChange(const ProgramSite& site, Program& program)> apply = {};

  // The option that says how much or to what: "ratio", "to". Empty: the operator has one mutant a place.
  std::string option = {};
  // Where it is a number: the search for the mildest change that is killed goes over this range. Called only
  // for programs with a place.
  std::function<OptionRange(const Program& program)> range = {};
  // Where it is a word or one of a few numbers: all that differ from what the program has at this place.
  std::function<std::vector<std::string>(const Program& program, const Subject& subject,
                                         const std::string& place)>
      values = {};
};

// Places of operators that act on the data or the recipe as a whole.
std::vector<Place> data_place(std::string refusal = {});
std::vector<Place> recipe_place(std::string refusal = {});
// One place a layer with weights, by `refusal(layer)`.
std::vector<Place> layer_places(const Subject& subject,
                                const std::function<std::string(const SubjectLayer& layer)>& refusal);
// Edits the graph of the program where the site is, by an edit of that layer. The subject is that of the
// program.
ProgramChange edit_layer(const ProgramSite& site, Program& program,
                         const std::function<void(const SubjectLayer& layer, Edit& edit)>& change);

}  // namespace assay::mutation
