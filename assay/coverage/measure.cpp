#include <assay/coverage.h>

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include <assay/error.h>
#include <assay/evaluate.h>
#include <assay/selection.h>
#include "assay/coverage/learning/profile_json.h"
#include "assay/coverage/measurer.h"
#include "assay/coverage/rank_journals.h"
#include "assay/coverage/shared_measure.h"
#include "assay/data/given.h"
#include "assay/support/conditions.h"
#include "assay/support/files/binary.h"
#include "assay/support/files/hash.h"
#include "assay/support/ranks/ranks.h"
#include "assay/support/text/so_many.h"

namespace assay::coverage {
namespace {

using Json = nlohmann::json;

// Identity of this run.
JournalKey key_of(const Session& session, const CoverageState& state, const Dataset& test,
                  const MeasureOptions& options) {
  std::string criteria;
  for (const Spec& spec : state.specs()) criteria += (criteria.empty() ? "" : ", ") + spec.text();
  return JournalKey("coverage run")
      .add("network", session.graph().hash())
      .add("profile", state.profile_hash())
      .add("list of criteria", criteria)
      .add("choice of classes", state.by_class() ? "each" : "all")
      .add("test set", test.hash())
      .add("context", options.context)
      .add("shard", fmt::format("{}/{}", options.shard, options.shards))
      .add("batch size", batch_for(session, test.size(), options))
      .add("number of points of growth", options.growth_points)
      .add("memory of records", options.remember_records ? "yes" : "no")
      .add("choice of items", options.items ? options.items->text() : "none")
      .add("state to add to", state.parts().empty() ? "none" : hash_hex(to_bytes(state.save())));
}

// Goes on from where a single process came to. Returns what it saw.
Json go_on(const Journal& journal, const Json& entry, CoverageState& state, Progress& progress) {
  Json seen;
  try {
    state.load(entry.at("state"));
    seen = entry.at("seen");
  } catch (const std::exception& error) {
    pass_on_condition();
    journal.refuse(error.what());
  }
  progress.notice(
      fmt::format("going on from {}: {} done", journal.path().string(), so_many(state.records(), "record")));
  return seen;
}

// What the journals of an earlier run hold: {"base": that of a single process, "parts": those of ranks}. What
// other ranks have left is taken over into the first one's journal.
Json found_in(Journal& journal, const JournalKey& key) {
  Json found = Json::object();
  const auto add = [&](const Journal& from) {
    if (from.found().empty()) return;
    try {
      const Journal::Entry& entry = from.found().back();
      Json json = from_bytes(entry.bytes);
      if (entry.id == "state") {
        found["base"] = std::move(json);
        return;
      }
      if (json.contains("base")) found["base"] = std::move(json.at("base"));
      for (Json& part : json.at("parts")) found["parts"].push_back(std::move(part));
    } catch (const std::exception& error) {
      pass_on_condition();
      from.refuse(error.what());
    }
  };
  add(journal);
  const std::vector<std::filesystem::path> others = rank_journals(journal.path());
  for (const std::filesystem::path& other : others) add(Journal(other, key));
  if (others.empty()) return found;
  if (!found.empty()) journal.replace("parts", to_bytes(found));
  for (const std::filesystem::path& other : others) Journal::remove(other);
  return found;
}

void require_items_fit(const Profile& profile, const MeasureOptions& options) {
  const auto learned = profile.settings.find("items");
  const std::string of = learned == profile.settings.end() ? "" : learned->second.at(0),
                    here = options.items ? options.items->text() : "";
  if (of == here) return;
  const auto told = [](const std::string& items) {
    return items.empty() ? std::string("records") : items + " items of each record";
  };
  fail(Fault::mismatch, "the profile was learned from {}, and {} are to be measured by it; {}", told(of),
       told(here),
       About{"choose the same items", of.empty() ? "leave out {items}" : "give {items=" + of + "}"});
}

}  // namespace

double RecordFacts::doubt(const std::string& name) const {
  std::size_t place = 0;
  for (const selection::Doubt& known : selection::doubts()) {
    if (known.name == name) break;
    ++place;
  }
  if (place >= doubts.size()) selection::doubts().find(name);  // names what there is
  return doubts.at(place);
}

Observations measure(const Session& session, CoverageState& state, DatasetPtr test,
                     const MeasureOptions& asked, Progress& progress) {
  given_data(test);
  MeasureOptions options = asked;
  // Facts of records are by their classes; outputs for each position name none.
  options.remember_records = asked.remember_records && class_count(session) > 0;
  require_profile_fits(state.profile(), session.graph().hash(), session.graph().name());
  require_items_fit(state.profile(), options);
  if (options.shards == 0 || options.shard == 0 || options.shard > options.shards) {
    fail(Fault::usage, "there is no shard {} of {}; shards count from 1", options.shard, options.shards);
  }
  if (!options.journal.empty() && options.remember_items)
    fail(Fault::usage, "covered items are not kept in a journal; measure without one, or without items");
  const JournalKey key =
      options.journal.empty() ? JournalKey("coverage run") : key_of(session, state, *test, options);
  std::optional<Journal> journal;
  Json found = Json::object();
  if (!options.journal.empty() && ranks().first()) {
    journal.emplace(options.journal, key);
    found = found_in(*journal, key);
  }
  if (!ranks().alone() || found.contains("parts"))
    return measure_shared(session, state, std::move(test), options, key, found, journal ? &*journal : nullptr,
                          progress);
  std::optional<Json> seen;
  if (found.contains("base")) seen = go_on(*journal, found.at("base"), state, progress);
  return Measurer(session, state, std::move(test), options, journal ? &*journal : nullptr, seen)
      .run(progress);
}

}  // namespace assay::coverage
