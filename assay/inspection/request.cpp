#include "assay/inspection/request.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include <assay/error.h>

namespace assay::inspection {
namespace {

void require_unique(const std::vector<std::string>& names, const char* what) {
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second)
      fail(Fault::usage, "two {}s are named '{}'; give them other names", what, name);
  }
}

const char* name_of(UnitBehaviour behaviour) {
  return behaviour == UnitBehaviour::activation ? "activation"
         : behaviour == UnitBehaviour::change   ? "change"
                                                : "gradient";
}

std::string text_of(const UnitGroup& group) {
  return fmt::format("{}={}/{}/{}/{}/{}", group.name, group.model, group.layer, group.gate,
                     name_of(group.behaviour), fmt::join(group.units, "+"));
}

}  // namespace

void check_request(const std::vector<InspectedModel>& models, const std::vector<UnitGroup>& groups,
                   const InspectOptions& options) {
  if (models.empty() || groups.empty())
    fail(Fault::usage, "which units? name a network and layers of it that have neurons");
  if (options.measures.empty()) fail(Fault::usage, "which measures? `assay measures` explains them");
  std::vector<std::string> names;
  for (const InspectedModel& model : models) names.push_back(model.name);
  require_unique(names, "network");
  names.clear();
  for (const UnitGroup& group : groups) {
    if (group.model >= models.size())
      fail(Fault::usage, "group '{}' is of network {}; they count from 0 to {}", group.name, group.model,
           models.size() - 1);
    names.push_back(fmt::format("{}/{}", models[group.model].name, group.name));
  }
  require_unique(names, "group");
  if (options.shards == 0 || options.shard == 0 || options.shard > options.shards)
    fail(Fault::usage, "there is no shard {} of {}; shards count from 1", options.shard, options.shards);
  if (options.shards == 1) return;
  for (const MeasureChoice& measure : options.measures) {
    if (!info_of(measure).merges)
      fail(Fault::usage,
           "measure '{}' learns row by row, so that shards of it cannot be combined: run it on the whole "
           "set",
           measure.spec().text());
  }
}

std::vector<std::uint32_t> documents_of(const Dataset& dataset, const InspectOptions& options) {
  std::vector<std::uint32_t> documents(dataset.size());
  std::iota(documents.begin(), documents.end(), std::uint32_t{0});
  if (options.documents.empty()) return documents;
  const std::vector<std::string>& names = dataset.characteristics();
  const auto found = std::ranges::find(names, options.documents);
  if (found == names.end())
    fail(Fault::usage,
         "documents: the data have no characteristic '{}'{}; name one with the data option meta=COLUMN",
         options.documents, names.empty() ? "" : fmt::format(", but {}", fmt::join(names, ", ")));
  if (options.permutations > 0)
    fail(Fault::usage,
         "documents and permutations do not go together: these exchange records, of which a document has "
         "several; leave one of them out");
  const auto holds_out = [](const MeasureChoice& measure) {
    return std::ranges::any_of(info_of(measure).options,
                               [](const SpecOption& option) { return option.name == "held_out"; });
  };
  if (options.bootstrap == 0 && std::ranges::none_of(options.measures, holds_out))
    fail(Fault::usage,
         "documents have no effect: no measure holds records out, and nothing is drawn again; take a "
         "measure with held_out, such as logistic_l2, or a bootstrap");
  std::map<std::string, std::uint32_t> first;
  for (std::uint32_t& document : documents) {
    const std::string name = dataset.characteristic(found - names.begin(), document);
    if (!name.empty()) document = first.try_emplace(name, document).first->second;
  }
  return documents;
}

InspectionState::Facts facts_of(const std::vector<InspectedModel>& models,
                                const std::vector<UnitGroup>& groups, const Dataset& dataset,
                                const std::string& hypotheses, const InspectOptions& options) {
  InspectionState::Facts facts;
  for (const InspectedModel& model : models)
    facts.emplace_back("network " + model.name, model.session->graph().hash());
  std::string text;
  for (const UnitGroup& group : groups) text += text_of(group) + "; ";
  facts.emplace_back("choice of units", text);
  facts.emplace_back("data set", dataset.hash());
  facts.emplace_back("hypotheses", hypotheses);
  text.clear();
  for (const MeasureChoice& measure : options.measures) text += measure.spec().text() + "; ";
  facts.emplace_back("measures", text);
  facts.emplace_back("alignment", fmt::format("{}/{}", static_cast<int>(options.align.rows),
                                              static_cast<int>(options.align.reduce)));
  facts.emplace_back("early stopping",
                     fmt::format("{}, tolerance {}", stops_early(options), options.tolerance));
  facts.emplace_back("resampling", fmt::format("{} permutations, {} replicates, confidence {}",
                                               options.permutations, options.bootstrap, options.confidence));
  if (!options.documents.empty()) facts.emplace_back("documents", options.documents);
  facts.emplace_back("block", std::to_string(options.block));
  facts.emplace_back("seed", std::to_string(options.seed));
  facts.emplace_back("number of shards", std::to_string(options.shards));
  return facts;
}

}  // namespace assay::inspection
