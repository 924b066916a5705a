#include "assay/explore/search_journal.h"

#include <algorithm>
#include <span>
#include <stdexcept>

#include <assay/dataset.h>
#include <assay/extend/task.h>
#include "assay/attack/preparation.h"
#include "assay/engine/elements.h"
#include "assay/support/conditions.h"
#include "assay/support/files/binary.h"
#include "assay/support/files/file.h"
#include "assay/support/files/hash.h"

namespace assay::explore {
namespace {

using Json = nlohmann::json;

// [record...] bytes of a point: levels, or float32.
std::vector<std::uint8_t> stored(const Array& point, bool levels) {
  if (levels) return attack::Preparation::to_levels(point);
  const std::vector<float> units = floats_of(point);
  const auto bytes = std::as_bytes(std::span(units));
  const auto* const first = reinterpret_cast<const std::uint8_t*>(bytes.data());
  return {first, first + bytes.size()};
}

Array from_stored(const Json& json, const Array& like, bool levels) {
  const std::size_t count = like.count();
  Array point = array::empty(like.shape());
  float* const to = point.elements<float>();
  if (levels) {
    const auto bytes = from_binary<std::uint8_t>(json, count);
    std::ranges::transform(bytes, to, [](std::uint8_t level) { return static_cast<float>(level) / 255; });
    return point;
  }
  std::ranges::copy(from_binary<float>(json, count), to);
  return point;
}

// Identity of this exploration.
JournalKey key_of(const std::vector<ExploredNetwork>& networks, const Dataset& seeds,
                  const ExploreOptions& options) {
  const SearchOptions& search = options.search;
  Hasher graphs, profiles, constraints;
  for (const ExploredNetwork& network : networks) {
    graphs.text(network.session->graph().hash());
    profiles.text(network.profile->hash());
  }
  for (const ConstraintChoice& constraint : options.constraints) {
    constraints.text(constraint.spec().text());
    const auto& given = constraint.spec().options;
    const auto file = given.find("file");  // a mask or a table, whose content says what may change
    if (!constraint.object() && file != given.end() && !file->second.empty())
      constraints.text(read_file(file->second));
  }
  return JournalKey("exploration")
      .add("set of networks", graphs.hex())
      .add("set of profiles", profiles.hex())
      .add("set of seeds", seeds.hash())
      .add("baseline", options.baseline ? options.baseline->hash() : "none")
      .add("constraint", constraints.hex())
      .add("criterion", options.criterion.spec().text())
      .add("choice of neurons", options.choice)
      .add("choice of seeds", options.only_correct ? "correct" : "all")
      .add("size of rounds", options.round)
      .add("lambda1", search.lambda1)
      .add("lambda2", search.lambda2)
      .add("step", search.step)
      .add("number of iterations", search.iterations)
      .add("patience", search.patience)
      .add("target", search.target ? fmt::to_string(*search.target) : "none")
      .add("use of probabilities", search.probability)
      .add("use of one choice a seed", search.choose_once)
      .add("attribution", search.method)
      .add("storage", search.levels ? "levels" : "float32")
      .add("use of shrinking", search.shrink)
      .add("seed", search.seed)
      .add("margin", search.disagreement.margin)
      .add("task", search.disagreement.task ? search.disagreement.task->describe() : "")
      .add("use of opposite signs", search.disagreement.opposite_signs)
      .add("bound of near-duplicates", options.near_duplicate);
}

}  // namespace

Json json_of(std::size_t pass, const SearchOutcome& outcome, bool levels) {
  Json json{{"pass", pass},
            {"seed", outcome.seed},
            {"ending", static_cast<int>(outcome.ending)},
            {"iterations", outcome.iterations},
            {"target", outcome.target}};
  if (outcome.point.defined()) json["point"] = Json::binary(stored(outcome.point, levels));
  return json;
}

SearchOutcome outcome_from(const Json& json, const Array& like, bool levels) {
  const int ending = json.at("ending").get<int>();
  if (ending < 0 || ending > static_cast<int>(Ending::non_finite))
    throw std::runtime_error("it names an ending that there is not");
  SearchOutcome outcome{json.at("seed").get<std::size_t>(),
                        static_cast<Ending>(ending),
                        json.at("iterations").get<std::size_t>(),
                        json.at("target").get<std::size_t>(),
                        {}};
  if (json.contains("point")) outcome.point = from_stored(json.at("point"), like, levels);
  return outcome;
}

SearchJournal::SearchJournal(const std::vector<ExploredNetwork>& networks, const Dataset& seeds,
                             const ExploreOptions& options, Progress& progress)
    : levels_(options.search.levels) {
  if (options.journal.empty()) return;
  journal_.emplace(options.journal, key_of(networks, seeds, options));
  try {
    for (const Journal::Entry& entry : journal_->found()) {
      Json outcome = from_bytes(entry.bytes);
      const auto pass = outcome.at("pass").get<std::size_t>(), seed = outcome.at("seed").get<std::size_t>();
      known_[{pass, seed}] = std::move(outcome);
    }
  } catch (const std::exception& error) {
    pass_on_condition();
    journal_->refuse(error.what());
  }
  if (!known_.empty())
    progress.notice(
        fmt::format("going on from {}: {} searches are done", options.journal.string(), known_.size()));
}

std::optional<SearchOutcome> SearchJournal::known(std::size_t pass, std::size_t seed,
                                                  const Array& like) const {
  const auto at = known_.find({pass, seed});
  if (at == known_.end()) return std::nullopt;
  try {
    return outcome_from(at->second, like, levels_);
  } catch (const std::exception& error) {
    pass_on_condition();
    journal_->refuse(error.what());
  }
}

void SearchJournal::note(std::size_t pass, const SearchOutcome& outcome) {
  if (!journal_) return;
  journal_->append(fmt::format("{}/{}", pass, outcome.seed), to_bytes(json_of(pass, outcome, levels_)));
}

}  // namespace assay::explore
