// Coverage states as files.

#include <set>

#include <assay/coverage_state.h>
#include <assay/error.h>
#include "assay/coverage/learning/profile_json.h"
#include "assay/support/conditions.h"
#include "assay/support/files/binary.h"
#include "assay/support/files/format_version.h"

namespace assay::coverage {
namespace {

using Json = nlohmann::json;

constexpr int state_version = 1;

Json part_to_json(const CoveragePart& part) {
  Json json = {
      {"context", part.context},     {"data_hash", part.data_hash},    {"data", part.data},
      {"data_size", part.data_size}, {"walked", part.walked.ranges()}, {"records", part.records},
      {"labelled", part.labelled},   {"correct", part.correct},        {"non_finite", part.non_finite},
      {"classes", Json::array()}};
  for (const auto& [only_class, list] : part.criteria) {
    Json states = Json::array();
    for (const auto& criterion : list) states.push_back(criterion->save());
    json["classes"].push_back({only_class, std::move(states)});
  }
  if (!part.ids.empty()) json["ids"] = part.ids;
  return json;
}

// Objects that were given for a criterion are not in the file.
Spec known_criterion(const std::string& text) {
  Spec spec = parse_spec("criterion", text);
  if (!criteria().contains(spec.name))
    throw std::runtime_error(
        fmt::format("it has a criterion '{}', which is not in the catalogue; add a user-defined one first "
                    "(coverage::criteria().add() in C++, assay.register() in Python)",
                    spec.name));
  return spec;
}

}  // namespace

Json CoverageState::save() const {
  Json json = {
      {"schema", "assay/coverage"},    {"version", state_version}, {"profile", to_json(*profile_, false)},
      {"profile_hash", profile_hash_}, {"by_class", by_class_},    {"criteria", Json::array()},
      {"parts", Json::array()}};
  for (const Spec& spec : specs_) json["criteria"].push_back(spec.text());
  for (const auto& part : parts_) json["parts"].push_back(part_to_json(*part));
  return json;
}

void CoverageState::read_part(const Json& json) {
  const auto size = json.at("data_size").get<std::size_t>();
  CoveragePart& part =
      this->part(json.at("context").get<std::string>(), json.at("data_hash").get<std::string>(),
                 json.at("data").get<std::string>(), size);
  if (part.records > 0 || !part.walked.ranges().empty())
    throw std::runtime_error("a data set is listed twice");
  for (const Json& range : json.at("walked")) {
    const auto begin = range.at(0).get<std::size_t>(), end = range.at(1).get<std::size_t>();
    if (begin >= end || end > size)
      throw std::runtime_error("the records it has seen are not in the data set");
    part.walked.add(begin, end);
  }
  part.records = json.at("records").get<std::uint64_t>();
  part.labelled = json.at("labelled").get<std::uint64_t>();
  part.correct = json.at("correct").get<std::uint64_t>();
  part.non_finite = json.at("non_finite").get<std::vector<std::size_t>>();
  if (part.records + part.non_finite.size() != part.walked.size() || part.correct > part.labelled ||
      part.labelled > part.records) {
    throw std::runtime_error("its counts of records contradict each other");
  }
  for (const Json& entry : json.at("classes")) {
    auto& list = criteria(part, entry.at(0).get<std::int64_t>());
    const Json& states = entry.at(1);
    if (states.size() != list.size()) throw std::runtime_error("it has other criteria than it says");
    for (std::size_t c = 0; c < list.size(); ++c) list[c]->load(states[c]);
  }
  if (json.contains("ids")) part.ids = json.at("ids").get<std::map<std::size_t, std::string>>();
  if (!part.ids.empty() && part.ids.rbegin()->first >= size)
    throw std::runtime_error("it names records that are not in the data set");
}

void CoverageState::load(const Json& json) {
  std::vector<std::string> specs;
  for (const Spec& spec : specs_) specs.push_back(spec.text());
  if (json.at("profile_hash") != profile_hash_ || json.at("criteria") != Json(specs) ||
      json.at("by_class") != by_class_)
    throw std::runtime_error("it was measured with another profile or other criteria");
  parts_.clear();
  read_parts(json);
}

void CoverageState::read_parts(const Json& json) {
  for (const Json& part : json.at("parts")) read_part(part);
}

void CoverageState::write(const std::filesystem::path& path) const { write_binary(save(), path); }

CoverageState CoverageState::read(const std::filesystem::path& path, std::shared_ptr<const Profile> profile) {
  const Json json = read_binary(path);
  try {
    if (!json.is_object() || json.value("schema", "") != "assay/coverage")
      throw std::runtime_error("it is not a coverage state");
    if (const std::string fault = other_format(json.at("version"), state_version); !fault.empty())
      throw std::runtime_error(fault);
    const auto hash = json.at("profile_hash").get<std::string>();
    if (profile && profile->hash() != hash) {
      fail(Fault::mismatch,
           "{}: the state was measured with another profile; use that profile, or another state file",
           path.string());
    }
    if (!profile) profile = std::make_shared<const Profile>(profile_from(json.at("profile")));
    std::vector<CriterionChoice> choices;
    for (const Json& spec : json.at("criteria"))
      choices.emplace_back(known_criterion(spec.get<std::string>()));
    CoverageState state(std::move(profile), std::move(choices), json.at("by_class").get<bool>());
    state.profile_hash_ = hash;
    state.read_parts(json);
    return state;
  } catch (const Error& error) {
    pass_on_condition();
    if (error.fault() == Fault::mismatch) throw;
    fail(Fault::data, "{}: the coverage state cannot be used: {}", path.string(), error.message());
  } catch (const std::exception& error) {
    pass_on_condition();
    fail(Fault::data, "{}: the coverage state cannot be used: {}", path.string(), error.what());
  }
}

}  // namespace assay::coverage
