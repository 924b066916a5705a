#include "apps/assay/networks.h"

#include <algorithm>
#include <filesystem>

#include "assay/model/model.h"
#include "assay/mutation/draw.h"
#include "assay/support/error.h"

namespace assay::app {
namespace {

// The network with an operator applied to every layer that it can act on.
Graph everywhere(const Graph& original, const Spec& op, std::uint64_t seed, const SessionOptions& options) {
  Graph graph = original;
  const Session first(original, options);
  const Subject whole(first);
  std::size_t changed = 0;
  for (const SubjectLayer& layer : whole.layers()) {
    const Session session(graph, options);
    const Subject subject(session);
    if (!plan_mutant(subject, {op, layer.name(), seed}).edit) continue;
    graph = apply(subject, {op, layer.name(), seed}).graph;
    ++changed;
  }
  if (changed == 0) fail(Fault::usage, "--mutant {}@all: the operator changes no layer of '{}'", op.text(), original.name());
  return graph;
}

}  // namespace

void NetworksInput::declare(CLI::App& app) {
  app.add_option("model,--model", models_, "networks for the same task: two or more, or one with --mutant")->type_name("FILE");
  app.add_option("--mutant", mutants_, "a mutant of the first network: an operator on every layer (int8@all), on one (gf[sigma=0.5]@conv2#17), or drawn from the seed (ns); may be repeated")
      ->type_name("TEXT");
  app.add_option("--profile", profiles_, "profile of each network in their order, as `assay cover --profile` writes it, in place of --training")->type_name("FILE");
  training_.declare(app);
}

void NetworksInput::add(const std::string& name, Graph graph, const SessionOptions& options) {
  const auto taken = std::ranges::count_if(networks_, [&](const ExploredNetwork& network) { return network.name == name || network.name.starts_with(name + "~"); });
  sessions_.push_back(std::make_unique<Session>(std::move(graph), options));
  networks_.push_back({taken == 0 ? name : fmt::format("{}~{}", name, taken + 1), sessions_.back().get(), nullptr});
}

void NetworksInput::add_mutants(const SessionOptions& options, std::uint64_t seed, Document& document) {
  if (mutants_.empty()) return;
  const Graph& original = sessions_.front()->graph();
  const Subject subject(*sessions_.front());
  for (const std::string& text : mutants_) {
    if (text.ends_with("@all")) {
      const Spec op = parse_spec("operator", text.substr(0, text.size() - 4));
      find_mutation_operator(op.name);
      add(text, everywhere(original, op, seed, options), options);
      continue;
    }
    Mutant mutant;
    if (text.find('@') != std::string::npos || text.find('#') != std::string::npos) {
      mutant = parse_mutant(text);
    } else {
      const Spec op = parse_spec("operator", text);
      find_mutation_operator(op.name);
      const Drawn drawn = draw_mutants(subject, {.operators = {op}, .per_operator = 1, .layers = {}, .seed = seed});
      if (drawn.mutants.empty()) fail(Fault::usage, "--mutant {}: the operator can do nothing to '{}'", text, original.name());
      mutant = drawn.mutants.front();
    }
    const Mutation made = apply(subject, mutant);
    document.notices.push_back(fmt::format("{}: {}", mutant.text(), made.summary));
    add(mutant.text(), made.graph, options);
  }
}

void NetworksInput::open(Context& context, const Dataset& data, Document& document) {
  if (models_.empty()) fail(Fault::usage, "which networks? name two or more files, or one with --mutant");
  const SessionOptions options = session_options(context, &data);
  for (const std::string& path : models_) {
    Graph graph = read_model(path);
    for (const std::string& notice : graph.notices()) context.progress.notice(notice);
    add(std::filesystem::path(path).stem().string(), std::move(graph), options);
  }
  add_mutants(options, context.settings.seed, document);
  if (networks_.size() < 2) fail(Fault::usage, "differences need at least two networks; name another file, or mutants of this one, such as --mutant int8@all");
}

void NetworksInput::learn(const LearnOptions& options, const DatasetPtr& fallback, Context& context, Document& document) {
  if (!profiles_.empty()) {
    if (profiles_.size() != networks_.size()) fail(Fault::usage, "{} profiles for {} networks; one --profile for each is needed, in their order", profiles_.size(), networks_.size());
    for (std::size_t k = 0; k < networks_.size(); ++k) {
      auto profile = std::make_shared<const Profile>(read_profile(profiles_[k]));
      require_profile_fits(*profile, networks_[k].session->graph().hash(), networks_[k].name);
      networks_[k].profile = std::move(profile);
    }
    return;
  }
  const DatasetPtr training = training_.given() ? training_.open() : fallback;
  if (!training_.given()) document.notices.push_back("no training records are named (--training): what is usual for a neuron is learned from the seeds");
  for (ExploredNetwork& network : networks_) {
    network.profile = std::make_shared<const Profile>(learn_profile(*network.session, training, options, context.progress).profile);
  }
  document.provenance.emplace_back("training", training->describe());
  document.provenance.emplace_back("training_hash", training->hash());
}

}  // namespace assay::app
