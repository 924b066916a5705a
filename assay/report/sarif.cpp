#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include <assay/gate.h>
#include <assay/report.h>

namespace assay::report {
namespace {

using Json = nlohmann::ordered_json;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

class Rules {
 public:
  explicit Rules(const Document& document) {
    for (const Definition& d : document.definitions) add(d.term, fmt::format("{} [{}]", d.text, d.source));
    for (const Gate& gate : document.gates) add(gate.criterion, "a gate on " + gate.criterion);
  }
  const Json& json() const { return rules_; }
  std::size_t index(const std::string& term) const {
    return static_cast<std::size_t>(std::find(ids_.begin(), ids_.end(), lower(term)) - ids_.begin());
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

Json result(const Gate& gate, const Rules& rules) {
  const std::string layer = gate.layer.empty() ? "all" : gate.layer;
  Json location = {{"name", layer}, {"fullyQualifiedName", gate.criterion + "/" + layer}, {"kind", "layer"}};
  return {{"ruleId", lower(gate.criterion)},
          {"ruleIndex", rules.index(gate.criterion)},
          {"level", "error"},
          {"message", {{"text", "GATE FAILED: " + described(gate)}}},
          {"locations", Json::array({{{"logicalLocations", Json::array({location})}}})}};
}

}  // namespace

std::string to_sarif(const Document& document) {
  const Rules rules(document);
  Json results = Json::array();
  for (const Gate& gate : document.gates) {
    if (!gate.passed) results.push_back(result(gate, rules));
  }
  const Json run = {{"tool", {{"driver", {{"name", "Assay"}, {"rules", rules.json()}}}}},
                    {"invocations", Json::array({{{"executionSuccessful", true}}})},
                    {"results", results}};
  const Json json = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                     {"version", "2.1.0"},
                     {"runs", Json::array({run})}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace assay::report
