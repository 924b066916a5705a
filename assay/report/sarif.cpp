#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include <assay/gate.h>
#include <assay/report.h>
#include "assay/support/text/uri.h"

namespace assay::report {
namespace {

using Json = nlohmann::ordered_json;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

std::string uri_of(const std::string& path) {
  return (path.starts_with('/') ? "file://" : "") + encoded_path(path);
}

class Rules {
 public:
  explicit Rules(const Document& document) {
    for (const Definition& d : document.definitions) add(d.term, fmt::format("{} [{}]", d.text, d.source));
    for (const Gate& gate : document.gates) add(gate.criterion, "a gate on " + gate.criterion);
    for (const Warning& w : document.warnings) add(w.id, "what makes figures doubtful");
  }
  const Json& json() const { return rules_; }
  std::size_t index(const std::string& term) const {
    return std::find(ids_.begin(), ids_.end(), lower(term)) - ids_.begin();
  }

 private:
  void add(const std::string& term, const std::string& text) {
    if (index(term) < ids_.size()) return;
    ids_.push_back(lower(term));
    rules_.push_back({{"id", ids_.back()},
                      {"name", term},
                      {"shortDescription", {{"text", term}}},
                      {"fullDescription", {{"text", text}}},
                      {"defaultConfiguration", {{"level", "error"}}}});
  }
  std::vector<std::string> ids_;
  Json rules_ = Json::array();
};

// The file that the results are about. Viewers want a place in one; binary files have a first line as well.
Json physical_location(const Document& document) {
  for (const char* key : {"model_file", "data_file"}) {
    for (const auto& [name, value] : document.provenance) {
      const auto* file = std::get_if<std::string>(&value);
      if (name == key && file != nullptr && !file->empty())
        return {{"artifactLocation", {{"uri", uri_of(*file)}}}, {"region", {{"startLine", 1}}}};
    }
  }
  return {};
}

Json location_of(const Document& document, const Json& logical) {
  Json location = {{"logicalLocations", Json::array({logical})}};
  if (const Json physical = physical_location(document); !physical.is_null())
    location["physicalLocation"] = physical;
  return Json::array({location});
}

Json result(const Document& document, const Gate& gate, const Rules& rules) {
  const std::string layer = gate.layer.empty() ? "all" : gate.layer;
  Json location = {{"name", layer}, {"fullyQualifiedName", gate.criterion + "/" + layer}, {"kind", "layer"}};
  return {{"ruleId", lower(gate.criterion)},
          {"ruleIndex", rules.index(gate.criterion)},
          {"level", "error"},
          {"message", {{"text", "GATE FAILED: " + described(gate)}}},
          {"locations", location_of(document, location)}};
}

Json result(const Document& document, const Warning& warning, const Rules& rules) {
  const Json location = {{"name", document.command}, {"kind", "module"}};
  const std::string cause = warning.cause.empty() ? "" : "; likely cause: " + warning.cause.text();
  return {{"ruleId", lower(warning.id)},
          {"ruleIndex", rules.index(warning.id)},
          {"level", "warning"},
          {"message", {{"text", warning.text.text() + cause}}},
          {"locations", location_of(document, location)}};
}

}  // namespace

std::string to_sarif(const Document& document) {
  const Rules rules(document);
  Json results = Json::array();
  for (const Gate& gate : document.gates) {
    if (!gate.passed) results.push_back(result(document, gate, rules));
  }
  for (const Warning& warning : document.warnings) results.push_back(result(document, warning, rules));
  const Json run = {{"tool", {{"driver", {{"name", "Assay"}, {"rules", rules.json()}}}}},
                    {"invocations", Json::array({{{"executionSuccessful", true}}})},
                    {"results", results}};
  const Json json = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                     {"version", "2.1.0"},
                     {"runs", Json::array({run})}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace assay::report
