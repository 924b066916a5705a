#include <assay/training.h>

#include <assay/array_math.h>

#include <algorithm>

#include <assay/error.h>
#include <assay/extend/optimisers.h>
#include "assay/support/files/hash.h"
#include "assay/support/text/text.h"
#include "assay/training/recipe_parts.h"

namespace assay::training {
namespace {

template <typename Info>
Chosen<Info> chosen(const char* kind, const Catalogue<Info>& catalogue, const std::string& text) {
  const Spec spec = parse_spec(kind, text);
  const Info& info = catalogue.find(spec.name);
  return {info, SpecOptions(kind, spec, info.options)};
}

// Name and every option, those not given with their defaults.
void add_spec(Hasher& hash, const std::string& name, const std::vector<SpecOption>& declared,
              const SpecOptions& options) {
  hash.text(name);
  for (const SpecOption& option : declared) hash.text(option.name).text(options.text(option.name));
}

void add_steps(Hasher& hash, const Recipe& recipe) {
  const auto optimiser = chosen_optimiser(recipe);
  const auto loss = chosen_loss(recipe);
  const auto regularisers = chosen_regularisers(recipe);
  hash.number(trainer_version).number(weights_version);
  add_spec(hash, loss.info.name, loss.info.options, loss.options);
  add_spec(hash, optimiser.info.name, optimiser.info.options, optimiser.options);
  hash.number(std::ssize(regularisers));
  for (const auto& [info, options] : regularisers) add_spec(hash, info.name, info.options, options);
  hash.real(learning_rate_of(recipe))
      .real(recipe.decay)
      .real(recipe.weight_decay)
      .real(recipe.clip_norm)
      .real(recipe.clip_value)
      .real(recipe.validation_share)
      .number(recipe.batch)
      .number(recipe.shuffle ? 1 : 0)
      .number(recipe.seed);
}

const std::vector<std::string>& families() {
  static const std::vector<std::string> names{"keras", "pytorch", "keep"};
  return names;
}

// Options that are out of range show when a loss is computed.
void check_loss(const Chosen<LossInfo>& loss) {
  const Array half = array::full({1, 2}, 0.5);
  const Answers answers{.scores = half, .labels = array::zeros({1}, DType::int64), .numbers = half};
  loss.info.value(answers, loss.options);
}

void require(bool holds, const char* what, double value, const char* wanted) {
  if (!holds) fail(Fault::usage, "recipe: {} {} must be {}", what, value, wanted);
}

}  // namespace

SpecOption layer_option() { return {"layer", "", "layers it concerns, as in conv1+fc1; all if not given"}; }

Chosen<OptimiserInfo> chosen_optimiser(const Recipe& recipe) {
  return chosen("optimiser", optimisers(), recipe.optimiser);
}

Chosen<LossInfo> chosen_loss(const Recipe& recipe) { return chosen("loss", losses(), recipe.loss); }

std::vector<Chosen<RegulariserInfo>> chosen_regularisers(const Recipe& recipe) {
  std::vector<Chosen<RegulariserInfo>> all;
  if (recipe.regularisation.empty()) return all;
  for (const std::string& text : split_specs(recipe.regularisation))
    all.push_back(chosen("regulariser", regularisers(), text));
  return all;
}

std::vector<std::string> InitialiserPart::layers() const {
  return info == nullptr ? std::vector<std::string>() : options.words("layer");
}

std::vector<InitialiserPart> initialiser_parts(const std::string& text) {
  std::vector<InitialiserPart> parts;
  for (const std::string& word : split_specs(text)) {
    const Spec spec = parse_spec("initialiser", word);
    if (std::ranges::count(families(), spec.name) > 0) {
      parts.push_back({spec.name, nullptr, SpecOptions("initialiser", spec, {})});
      continue;
    }
    if (!initialisers().contains(spec.name)) {
      std::vector<std::string> known = families();
      for (const std::string& name : initialisers().names()) known.push_back(name);
      fail_unknown(initialisers().words(), spec.name, known);
    }
    const InitialiserInfo& info = initialisers().find(spec.name);
    parts.push_back({spec.name, &info, SpecOptions("initialiser", spec, info.options)});
  }
  return parts;
}

std::vector<std::string> kernel_layers(const Graph& graph) {
  std::vector<NodeId> nodes;
  for (const Weight& weight : find_weights(graph))
    if (weight.role == Role::kernel) nodes.push_back(weight.node);
  std::ranges::sort(nodes);
  nodes.erase(std::ranges::unique(nodes).begin(), nodes.end());
  std::vector<std::string> names;
  for (const NodeId node : nodes) names.push_back(graph.node(node).name);
  return names;
}

std::vector<std::size_t> kernels_of(const Graph& graph, const std::vector<Weight>& weights,
                                    const std::vector<std::string>& layers) {
  std::vector<std::size_t> all;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i].role != Role::kernel) continue;
    const std::string& name = graph.node(weights[i].node).name;
    if (layers.empty() || std::ranges::count(layers, name) > 0) all.push_back(i);
    names.push_back(name);
  }
  for (const std::string& layer : layers) {
    if (std::ranges::count(names, layer) == 0)
      fail(Fault::usage, "network '{}' has no layer '{}' with a kernel{}; there are {}", graph.name(), layer,
           did_you_mean(layer, names), joined(names));
  }
  return all;
}

double learning_rate_of(const Recipe& recipe) {
  return recipe.learning_rate.value_or(chosen_optimiser(recipe).info.learning_rate);
}

void check_recipe(const Recipe& recipe, bool validated) {
  const auto optimiser = chosen_optimiser(recipe);
  optimiser.info.make(optimiser.options);
  check_loss(chosen_loss(recipe));
  for (const auto& [info, options] : chosen_regularisers(recipe)) info.penalty(options);
  initialiser_parts(recipe.initialiser);
  if (recipe.batch < 1 || recipe.epochs < 1) fail(Fault::usage, "batch size and epochs must be at least 1");
  require(learning_rate_of(recipe) > 0, "learning rate", learning_rate_of(recipe), "above 0");
  require(recipe.decay >= 0, "decay", recipe.decay, "0 or more");
  require(recipe.weight_decay >= 0, "weight decay", recipe.weight_decay, "0 or more");
  require(recipe.clip_norm >= 0, "norm to clip at", recipe.clip_norm, "0 or more");
  require(recipe.clip_value >= 0, "value to clip at", recipe.clip_value, "0 or more");
  require(recipe.min_delta >= 0, "least improvement", recipe.min_delta, "0 or more");
  require(recipe.validation_share >= 0 && recipe.validation_share < 1, "validation share",
          recipe.validation_share, "at least 0 and below 1");
  if (recipe.validation_share > 0 && validated)
    fail(Fault::usage, "a validation share has no effect together with validation data; give one of the two");
  if (recipe.patience && !validated && recipe.validation_share == 0)
    fail(Fault::usage, "patience needs validation data, whose loss it watches, or a validation share");
  if (recipe.min_delta > 0 && !recipe.patience)
    fail(Fault::usage, "a least improvement has no effect without patience");
}

std::string recipe_hash(const Recipe& recipe) {
  Hasher hash;
  add_steps(hash, recipe);
  const auto parts = initialiser_parts(recipe.initialiser);
  for (const InitialiserPart& part : parts)
    add_spec(hash, part.name, part.info == nullptr ? std::vector<SpecOption>() : part.info->options,
             part.options);
  return hash.number(recipe.epochs)
      .number(recipe.patience ? static_cast<std::int64_t>(*recipe.patience) : -1)
      .real(recipe.min_delta)
      .number(recipe.best_epoch ? 1 : 0)
      .hex();
}

std::string steps_hash(const Recipe& recipe) {
  Hasher hash;
  add_steps(hash, recipe);
  return hash.hex();
}

}  // namespace assay::training
