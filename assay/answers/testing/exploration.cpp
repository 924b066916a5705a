#include "assay/answers/testing/exploration.h"

#include <algorithm>
#include <map>
#include <memory>

#include <assay/error.h>
#include <assay/extend/constraint.h>
#include "assay/answers/networks/network.h"
#include "assay/answers/task.h"
#include "assay/coverage/learning/profile_json.h"
#include "assay/coverage/request.h"
#include "assay/explore/choice.h"
#include "assay/explore/manifest.h"
#include "assay/mutation/named.h"
#include "assay/results/document.h"
#include "assay/results/networks/chosen_units.h"
#include "assay/results/networks/pictures.h"
#include "assay/results/testing/exploration.h"
#include "assay/results/warnings.h"
#include "assay/support/files/file.h"
#include "assay/support/ranks/ranks.h"
#include "assay/task/threshold.h"

namespace assay::answers {
namespace {

namespace fs = std::filesystem;

// With names told apart. Throws Error{usage} for fewer than two.
class OpenedNetworks {
 public:
  OpenedNetworks(const SeveralNetworks& asked, const Dataset& data, const Setting& setting,
                 Progress& progress, report::Document& document)
      : options_(setting.session_for(&data)), adaptation_(asked.adaptation) {
    for (const std::string& file : asked.files) {
      const Graph graph = read_network(file, progress);
      const std::string name = file.starts_with('@') ? graph.name() : fs::path(file).stem().string();
      const AdaptOptions adaptation = adapt_options_of(asked.adaptation, file);
      AdaptedNetwork network = adapted(graph, adaptation, &data, progress);
      add(name, session_of(network, options_, &data, progress));
      tell_rounding(graph, *sessions_.back(), adaptation, &data, progress);
      std::vector<report::Warning> influences = results::influence_warnings(*sessions_.back(), &data);
      records_interact_ |= !influences.empty();
      results::add_warnings(document, std::move(influences));
    }
    std::map<std::string, std::size_t> turns;  // equal networks would outvote the others
    for (const std::string& text : asked.mutants) {
      mutation::NamedMutant mutant =
          mutation::make_mutant(*sessions_.front(), text, setting.seed, turns[text]++);
      if (!mutant.summary.empty())
        document.notices.push_back(fmt::format("{}: {}", mutant.name, mutant.summary));
      add(mutant.name, Session(std::move(mutant.graph), options_));
    }
    if (networks_.size() < 2)
      fail(Fault::usage,
           "differences need at least two networks; name another file, or mutants of this one, such as {}",
           About{"int8@all", "{mutant=int8@all}"});
  }

  void read_profiles(const std::vector<std::string>& files) {
    for (std::size_t k = 0; k < networks_.size(); ++k) {
      auto profile = std::make_shared<const coverage::Profile>(coverage::read_profile(files[k]));
      coverage::require_profile_fits(*profile, networks_[k].session->graph().hash(), networks_[k].name);
      networks_[k].profile = std::move(profile);
    }
  }

  // `units`: those that count, of each network; none: all.
  void learn_profiles(const DatasetPtr& training, coverage::LearnOptions options,
                      const std::vector<std::string>& units, Progress& progress) {
    for (std::size_t k = 0; k < networks_.size(); ++k) {
      options.units = results::chosen_units(units, sessions_[k]);
      std::vector<std::string> layers;
      for (const auto& [layer, numbers] : options.units) layers.push_back(layer);
      require_views_count(*sessions_[k], adaptation_, layers);
      networks_[k].profile = coverage::learned_profile(*networks_[k].session, training, options, progress);
    }
  }

  const std::vector<explore::ExploredNetwork>& networks() const { return networks_; }
  // Whether those of some network change each other's results.
  bool records_interact() const { return records_interact_; }

 private:
  void add(const std::string& name, Session session) {
    const auto taken = std::ranges::count_if(networks_, [&](const explore::ExploredNetwork& network) {
      return network.name == name || network.name.starts_with(name + "~");
    });
    sessions_.push_back(std::make_shared<Session>(std::move(session)));
    networks_.push_back(
        {taken == 0 ? name : fmt::format("{}~{}", name, taken + 1), sessions_.back().get(), nullptr});
  }

  SessionOptions options_;
  AdaptOptions adaptation_;
  bool records_interact_ = false;
  std::vector<std::shared_ptr<Session>> sessions_;
  std::vector<explore::ExploredNetwork> networks_;
};

// With everything that the data decide; wrong options show before any work.
explore::ExploreOptions settled(const ExplorationQuestion& question, const Dataset& seeds,
                                const Setting& setting) {
  const bool pictures = results::is_picture(seeds);
  explore::ExploreOptions options = question.options;
  std::vector<std::string> constraints = question.constraints;
  if (constraints.empty()) constraints = {pictures ? "light" : "none"};
  for (const std::string& text : constraints) {
    if (text != "none") options.constraints.emplace_back(text);
  }
  explore::make_constraint(options.constraints);
  options.criterion = parse_spec("criterion", question.criterion);
  coverage::criteria().find(options.criterion.spec().name);
  explore::neuron_choices().find(options.choice);
  options.near_duplicate = question.near_duplicate.value_or(pictures ? 0.01 : 0);
  options.search.levels = question.storage.empty() ? pictures : question.storage == "levels";
  options.search.seed = setting.seed;
  if (setting.batch > 0) options.search.width = setting.batch;
  options.journal = exploration_journal(question.folder);
  return options;
}

// Which measure of surprise judges the findings, or "none".
std::string plausibility_of(const ExplorationQuestion& question, const Dataset& seeds) {
  if (!question.plausibility.empty()) return question.plausibility;
  if (!question.networks.training && question.networks.profiles.empty()) return "none";
  return seeds.target_width() > 0 ? "lsa" : "dsa";
}

void take_profiles(OpenedNetworks& opened, const SeveralNetworks& asked, const DatasetPtr& seeds,
                   const std::string& spec, const coverage::LearnOptions& learning, Progress& progress,
                   report::Document& document) {
  if (!asked.profiles.empty()) return opened.read_profiles(asked.profiles);
  if (!asked.training)
    document.notices.push_back(
        message("no training records are named{}: what is usual for a neuron is learned from the seeds",
                About{"", " ({train})"}));
  const DatasetPtr training = asked.training ? task::prepared_for(spec, asked.training) : seeds;
  opened.learn_profiles(training, learning, asked.units, progress);
  results::add_provenance(document, "training", *training);
}

}  // namespace

fs::path exploration_journal(const fs::path& folder) { return folder / "journal"; }

report::Document explore(const DatasetPtr& given, const ExplorationQuestion& question, const Setting& setting,
                         Progress& progress) {
  const DatasetPtr seeds = task::prepared_for(question.task, given);
  explore::ExploreOptions options = settled(question, *seeds, setting);
  const std::string measure = plausibility_of(question, *seeds);
  const fs::path folder = question.folder;
  make_folders(folder);
  report::Document document;
  SeveralNetworks asked = question.networks;
  asked.adaptation.threshold = task::threshold_of(question.task);
  OpenedNetworks opened(asked, *seeds, setting, progress, document);
  const std::size_t batch = setting.batch == 0 && opened.records_interact() ? 1 : setting.batch;
  if (setting.batch != batch) options.search.width = batch;
  explore::DisagreementOptions& disagreement = options.search.disagreement;
  const Decided decision = decided(question.task, *opened.networks().front().session, seeds, {}, batch);
  disagreement.task = decision.task;
  require_share(disagreement.margin, decision);
  coverage::LearnOptions learning;
  learning.batch = batch;
  learning.criteria = {options.criterion};
  learning.importance.task = decision.task;
  learning.importance.method = options.search.method;
  learning.importance.batch = batch;
  if (measure != "none") learning.criteria.push_back({measure == "dsa" ? "dsc" : "lsc", {}});
  take_profiles(opened, question.networks, seeds, question.task, learning, progress, document);
  const std::vector<explore::ExploredNetwork>& networks = opened.networks();
  explore::Exploration exploration = explore::explore(networks, seeds, options, progress);
  ranks().leave_to_first();
  const explore::StoredFindings stored =
      explore::store(networks, *seeds, exploration.findings, options, folder, batch, progress);
  results::ExplorationResult result{networks, *seeds, exploration, stored, {}};
  if (measure != "none" && !exploration.findings.empty()) {
    const explore::ExploredNetwork& first = networks.front();
    result.plausibility = explore::judge_plausibility(*first.session, *first.profile, measure, seeds,
                                                      open_dataset(stored.data), 0.99, 2000, batch, progress);
  }
  explore::write_manifest(networks, *seeds, exploration.findings, stored,
                          result.plausibility ? &*result.plausibility : nullptr, folder / "manifest.json");
  results::append(document, results::document_of(result, options));
  add_task(document, decision);
  for (const explore::ExploredNetwork& network : networks)
    results::add_network_notices(document, *network.session);
  document.pictures = results::draw_findings(result, question.pictures, folder / "pictures");
  return document;
}

}  // namespace assay::answers
