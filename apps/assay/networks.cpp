#include "apps/assay/networks.h"

#include <algorithm>
#include <filesystem>

#include <assay/dataset.h>
#include <assay/error.h>
#include "assay/coverage/asked.h"
#include "assay/coverage/learning/profile_json.h"
#include "assay/mutation/named.h"
#include "assay/results/document.h"

namespace assay::app {
void NetworksInput::declare(Flags& flags) {
  flags.add("model,--model FILE", models_, "networks for the same task: two or more, or one with --mutant");
  flags.add("--mutant TEXT", mutants_,
            "a mutant of the first network: an operator on every layer (int8@all), on one "
            "(gf[sigma=0.5]@conv2#17), or drawn from the seed (ns); may be repeated");
  flags.add(
      "--profile FILE", profiles_,
      "profile of each network in their order, as `assay cover --profile` writes it, in place of --train");
  adaptation_.declare(flags);
  training_.declare(flags);
}

void NetworksInput::add(const std::string& name, Graph graph, const SessionOptions& options) {
  const auto taken = std::ranges::count_if(networks_, [&](const explore::ExploredNetwork& network) {
    return network.name == name || network.name.starts_with(name + "~");
  });
  sessions_.push_back(std::make_shared<Session>(std::move(graph), options));
  networks_.push_back(
      {taken == 0 ? name : fmt::format("{}~{}", name, taken + 1), sessions_.back().get(), nullptr});
}

void NetworksInput::open(Context& context, const Dataset& data, report::Document& document) {
  if (models_.empty()) fail(Fault::usage, "which networks? name two or more files, or one with --mutant");
  const SessionOptions options = session_options(context, &data);
  const AdaptOptions adaptation = adaptation_.options();
  for (const std::string& path : models_) {
    const Graph graph = read_network(path, context);
    const std::string name =
        path.starts_with('@') ? graph.name() : std::filesystem::path(path).stem().string();
    add(name, adapted(graph, adaptation, &data, context.progress).graph, options);
    tell_rounding(graph, *sessions_.back(), adaptation, &data, context.progress);
  }
  std::map<std::string, std::size_t> turns;  // equal networks would outvote the others
  for (const std::string& text : mutants_) {
    mutation::NamedMutant mutant =
        mutation::make_mutant(*sessions_.front(), text, context.settings.seed, turns[text]++);
    if (!mutant.summary.empty())
      document.notices.push_back(fmt::format("{}: {}", mutant.name, mutant.summary));
    add(mutant.name, std::move(mutant.graph), options);
  }
  if (networks_.size() < 2)
    fail(Fault::usage,
         "differences need at least two networks; name another file, or mutants of this one, such as "
         "--mutant int8@all");
}

void NetworksInput::learn(coverage::LearnOptions options, const UnitsInput& units, const DatasetPtr& fallback,
                          Context& context, report::Document& document) {
  if (!profiles_.empty()) {
    if (units.given())
      fail(Fault::usage, "profiles say themselves which units count; leave out --units, or --profile");
    if (profiles_.size() != networks_.size())
      fail(Fault::usage, "{} profiles for {} networks; one --profile for each is needed, in their order",
           profiles_.size(), networks_.size());
    for (std::size_t k = 0; k < networks_.size(); ++k) {
      auto profile = std::make_shared<const coverage::Profile>(coverage::read_profile(profiles_[k]));
      coverage::require_profile_fits(*profile, networks_[k].session->graph().hash(), networks_[k].name);
      networks_[k].profile = std::move(profile);
    }
    return;
  }
  const DatasetPtr training = training_.given() ? training_.open() : fallback;
  if (!training_.given())
    document.notices.push_back(
        "no training records are named (--train): what is usual for a neuron is learned from the seeds");
  for (std::size_t k = 0; k < networks_.size(); ++k) {
    explore::ExploredNetwork& network = networks_[k];
    options.units = units.of(sessions_[k]);
    network.profile = coverage::learned_profile(*network.session, training, options, context.progress);
  }
  results::add_provenance(document, "training", *training);
}

}  // namespace assay::app
