#include "assay/evidence/bill_of_materials.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include <assay/report.h>
#include "assay/support/files/hash.h"

namespace assay::evidence {
namespace {

using Json = nlohmann::ordered_json;

const report::Cell* fact_of(const report::Document& document, std::string_view id) {
  const auto found = std::ranges::find(document.facts, id, &report::Fact::id);
  return found == document.facts.end() ? nullptr : &found->value;
}

// A UUID (RFC 4122, version 8: of our own making) that follows from the contents.
std::string serial_number(const Manifest& manifest) {
  std::string all = manifest.title + manifest.created;
  for (const InputFile& input : manifest.inputs) all += input.sha256;
  std::string hex = hash_hex(all);
  hex[12] = '8';
  hex[16] = 'a';
  return "urn:uuid:" + hex.substr(0, 8) + "-" + hex.substr(8, 4) + "-" + hex.substr(12, 4) + "-" +
         hex.substr(16, 4) + "-" + hex.substr(20, 12);
}

Json metrics(std::span<const StepResult> results) {
  Json list = Json::array();
  for (const StepResult& result : results) {
    for (const char* id : {"test_accuracy", "test_mean_squared_error", "mutation_score"}) {
      const report::Cell* value = fact_of(result.document, id);
      const auto* number = value == nullptr ? nullptr : std::get_if<double>(value);
      if (number != nullptr)
        list.push_back({{"type", id}, {"value", fmt::format("{}", *number)}, {"slice", result.step.name}});
    }
  }
  return list;
}

Json model_card(std::span<const StepResult> results, const Json& datasets) {
  Json card = {{"modelParameters", Json::object()}, {"quantitativeAnalysis", Json::object()}};
  for (const StepResult& result : results) {
    if (result.step.command != "model") continue;
    for (const auto& [id, key] : {std::pair{"inputs", "inputs"}, std::pair{"outputs", "outputs"}}) {
      const report::Cell* value = fact_of(result.document, id);
      const auto* text = value == nullptr ? nullptr : std::get_if<std::string>(value);
      if (text != nullptr) card["modelParameters"][key] = Json::array({{{"format", *text}}});
    }
  }
  card["modelParameters"]["datasets"] = datasets;
  card["quantitativeAnalysis"]["performanceMetrics"] = metrics(results);
  return card;
}

}  // namespace

std::string bill_of_materials(const Manifest& manifest, std::span<const StepResult> results) {
  Json components = Json::array(), datasets = Json::array(), data = Json::array();
  for (const InputFile& input : manifest.inputs) {
    if (input.role == "network") continue;
    const std::string reference = "data:" + input.sha256;
    const bool known =
        std::ranges::any_of(data, [&](const Json& one) { return one["bom-ref"] == reference; });
    if (!known) {
      datasets.push_back({{"ref", reference}});
      data.push_back({{"type", "data"},
                      {"bom-ref", reference},
                      {"name", input.path},
                      {"description", input.role},
                      {"hashes", Json::array({{{"alg", "SHA-256"}, {"content", input.sha256}}})},
                      {"data", Json::array({{{"type", "dataset"}, {"name", input.role}}})}});
    }
  }
  for (const InputFile& input : manifest.inputs) {
    if (input.role != "network") continue;
    components.push_back({{"type", "machine-learning-model"},
                          {"bom-ref", "model:" + input.sha256},
                          {"name", input.path},
                          {"hashes", Json::array({{{"alg", "SHA-256"}, {"content", input.sha256}}})},
                          {"modelCard", model_card(results, datasets)}});
  }
  for (Json& one : data) components.push_back(std::move(one));
  Json tool = {{"type", "application"}, {"name", "assay"}};
  for (const auto& [name, version] : manifest.program) {
    if (name == "assay") tool["version"] = version;
  }
  const Json json = {{"$schema", "http://cyclonedx.org/schema/bom-1.6.schema.json"},
                     {"bomFormat", "CycloneDX"},
                     {"specVersion", "1.6"},
                     {"serialNumber", serial_number(manifest)},
                     {"version", 1},
                     {"metadata",
                      {{"timestamp", manifest.created},
                       {"tools", {{"components", Json::array({tool})}}},
                       {"component", {{"type", "application"}, {"name", manifest.title}}}}},
                     {"components", std::move(components)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace assay::evidence
