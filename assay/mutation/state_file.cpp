// Mutation states as files.

#include <set>

#include <assay/error.h>
#include <assay/mutation_state.h>
#include "assay/mutation/state_json.h"
#include "assay/support/conditions.h"
#include "assay/support/files/binary.h"
#include "assay/support/files/format_version.h"

namespace assay::mutation {
namespace {

using Json = nlohmann::json;

constexpr int state_version = 1;
constexpr std::size_t most_classes = std::size_t{1} << 20;  // every table by class has a row for each

Json record_to_json(const MutationRecord& record) {
  Json json{record.key.content[0], record.key.content[1], record.key.repetition, record.id,
            record.expected,       record.judged};
  if (!record.item_classes.empty()) json.push_back(to_binary(record.item_classes));
  return json;
}

MutationRecord record_from(const Json& json) {
  return {
      {{json.at(0).get<std::uint64_t>(), json.at(1).get<std::uint64_t>()}, json.at(2).get<std::uint32_t>()},
      json.at(3).get<std::string>(),
      json.at(4).get<std::int64_t>(),
      json.at(5).get<bool>(),
      json.size() > 6 ? from_binary<std::int64_t>(json.at(6)) : std::vector<std::int64_t>()};
}

Json mutant_to_json(const MutantOutcome& mutant) {
  Json nearest = Json::array();
  for (const NearMiss& miss : mutant.nearest) nearest.push_back({miss.slack, miss.record});
  Json json{{"id", mutant.id},
            {"op", mutant.op},
            {"operator", mutant.operator_name},
            {"layer", mutant.layer},
            {"seed", mutant.seed},
            {"sites", mutant.sites},
            {"summary", mutant.summary},
            {"changes", mutant.changes},
            {"known", to_binary(mutant.known.words())},
            {"killed", to_binary(mutant.killed.words())},
            {"non_finite", to_binary(mutant.non_finite.words())},
            {"change", mutant.change},
            {"decisiveness", mutant.decisiveness},
            {"nearest", std::move(nearest)}};
  if (!mutant.killed_of.empty()) json["killed_of"] = killed_of_to_json(mutant);
  if (mutant.killable) json["killable"] = *mutant.killable;
  return json;
}

MutantOutcome mutant_from(const Json& json, std::size_t records) {
  MutantOutcome mutant;
  mutant.id = json.at("id").get<std::string>();
  mutant.op = json.at("op").get<std::string>();
  mutant.operator_name = json.at("operator").get<std::string>();
  mutant.layer = json.at("layer").get<std::string>();
  mutant.seed = json.at("seed").get<std::uint64_t>();
  mutant.sites = json.at("sites").get<std::int64_t>();
  mutant.summary = json.at("summary").get<std::string>();
  mutant.changes = json.at("changes").get<std::string>();
  const auto bits = [&](const char* name) {
    return Bits::from(from_binary<std::uint64_t>(json.at(name)), records);
  };
  mutant.known = bits("known");
  mutant.killed = bits("killed");
  mutant.non_finite = bits("non_finite");
  for (std::size_t r = 0; r < records; ++r) {
    if ((mutant.killed[r] && !mutant.known[r]) || (mutant.non_finite[r] && !mutant.killed[r]))
      throw std::runtime_error("it contains kills by records that were not run");
  }
  mutant.killed_of = killed_of(json, records);
  mutant.change = json.at("change").get<double>();
  mutant.decisiveness = json.at("decisiveness").get<double>();
  if (json.contains("killable")) mutant.killable = json.at("killable").get<bool>();
  for (const Json& miss : json.at("nearest")) {
    const NearMiss near{miss.at(0).get<double>(), miss.at(1).get<std::size_t>()};
    if (near.record >= records) throw std::runtime_error("it names a record that it does not hold");
    mutant.note_miss(near);
  }
  return mutant;
}

}  // namespace

Json killed_of_to_json(const MutantOutcome& mutant) {
  Json json = Json::array();
  for (const auto& [of_class, bits] : mutant.killed_of) json.push_back({of_class, to_binary(bits.words())});
  return json;
}

std::map<std::int64_t, Bits> killed_of(const Json& json, std::size_t records) {
  std::map<std::int64_t, Bits> found;
  if (!json.contains("killed_of")) return found;
  for (const Json& entry : json.at("killed_of"))
    found[entry.at(0).get<std::int64_t>()] = Bits::from(from_binary<std::uint64_t>(entry.at(1)), records);
  return found;
}

void MutationState::write(const std::filesystem::path& path) const {
  MutationState sorted = *this;
  sorted.sort();
  Json json = {{"schema", "assay/mutation"},
               {"version", state_version},
               {"model_hash", model_hash_},
               {"model", model_},
               {"classes", classes_},
               {"class_names", class_names},
               {"records", Json::array()},
               {"mutants", Json::array()},
               {"not_applicable", Json::array()}};
  json["margin"] = margin_ ? Json(*margin_) : Json();
  if (!task_.empty()) json["task"] = task_;
  if (!divergence.empty()) json["divergence"] = divergence;
  for (const MutationRecord& record : sorted.records_) json["records"].push_back(record_to_json(record));
  for (const MutantOutcome& mutant : sorted.mutants_) json["mutants"].push_back(mutant_to_json(mutant));
  for (const NotApplicable& entry : sorted.not_applicable)
    json["not_applicable"].push_back({entry.op, entry.layer, entry.reason});
  write_binary(json, path);
}

MutationState MutationState::read(const std::filesystem::path& path) {
  const Json json = read_binary(path);
  try {
    if (!json.is_object() || json.value("schema", "") != "assay/mutation")
      throw std::runtime_error("it is not a mutation state");
    if (const std::string fault = other_format(json.at("version"), state_version); !fault.empty())
      throw std::runtime_error(fault);
    const auto classes = json.at("classes").get<std::size_t>();
    if (classes == 0 || classes > most_classes)
      throw std::runtime_error(fmt::format("it has {} classes, not 1 to {}", classes, most_classes));
    MutationState state(
        json.at("model_hash").get<std::string>(), json.at("model").get<std::string>(), classes,
        json.at("margin").is_null() ? std::nullopt : std::optional(json.at("margin").get<double>()),
        json.value("task", ""));
    state.class_names = json.at("class_names").get<std::vector<std::string>>();
    state.divergence = json.value("divergence", "");
    for (const Json& entry : json.at("records")) {
      const MutationRecord record = record_from(entry);
      if (record.judged && (record.expected < 0 || static_cast<std::size_t>(record.expected) >= classes))
        throw std::runtime_error("a record has a class that the network does not have");
      if (state.add(record) + 1 != state.records_.size())
        throw std::runtime_error("a record is listed twice");
    }
    for (const Json& entry : json.at("mutants")) {
      if (state.add(mutant_from(entry, state.records_.size())) + 1 != state.mutants_.size())
        throw std::runtime_error("a mutant is listed twice");
    }
    for (const Json& entry : json.at("not_applicable")) {
      state.not_applicable.push_back(
          {entry.at(0).get<std::string>(), entry.at(1).get<std::string>(), entry.at(2).get<std::string>()});
    }
    return state;
  } catch (const std::exception& error) {
    pass_on_condition();
    fail(Fault::data, "{}: the mutation state cannot be used: {}", path.string(), error.what());
  }
}

}  // namespace assay::mutation
