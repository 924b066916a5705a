#include "apps/assay/unit_choice.h"

#include <algorithm>
#include <charconv>
#include <map>

#include <assay/error.h>
#include "assay/support/text.h"

namespace assay::app {
namespace {

constexpr std::size_t most_units = std::size_t{1} << 24;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::size_t unit_number(const std::string& text, const std::string& whole) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number >= most_units)
    fail(Fault::usage, "'{}' does not name units as 0-15+20 does", whole);
  return number;
}

// "layer=lstm,gate=forget" -> by key; a text without keys is a layer.
std::map<std::string, std::string> keys_of(const std::string& text) {
  static const std::vector<std::string> known{"layer", "gate", "units", "model", "name"};
  std::map<std::string, std::string> keys;
  for (const std::string& part : split(text, ',')) {
    const std::size_t equals = part.find('=');
    const std::string key = equals == std::string::npos ? "layer" : part.substr(0, equals);
    if (std::ranges::find(known, key) == known.end())
      fail(Fault::usage, "--units '{}': '{}' is none of {}{}", text, key, joined(known),
           did_you_mean(key, known));
    if (!keys.emplace(key, equals == std::string::npos ? part : part.substr(equals + 1)).second)
      fail(Fault::usage, "--units '{}': {} is there twice", text, key);
  }
  if (keys["layer"].empty()) fail(Fault::usage, "--units '{}': which layer? give layer=NAME", text);
  return keys;
}

}  // namespace

std::vector<std::size_t> parse_unit_numbers(const std::string& text) {
  std::vector<std::size_t> numbers;
  for (const std::string& part : split(text, '+')) {
    const std::size_t dash = part.find('-');
    const std::size_t first = unit_number(part.substr(0, dash), text),
                      last = dash == std::string::npos ? first : unit_number(part.substr(dash + 1), text);
    if (last < first) fail(Fault::usage, "'{}': {} is not a range of units", text, part);
    for (std::size_t n = first; n <= last; ++n) numbers.push_back(n);
  }
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

std::vector<inspection::UnitGroup> parse_units(const std::string& text,
                                               const std::vector<inspection::InspectedModel>& models) {
  const std::map<std::string, std::string> keys = keys_of(text);
  const auto value = [&](const std::string& key) {
    return keys.contains(key) ? keys.at(key) : std::string();
  };
  std::vector<inspection::UnitGroup> groups;
  for (std::size_t m = 0; m < models.size(); ++m) {
    if (!value("model").empty() && value("model") != models[m].name) continue;
    const std::string layer = models[m].session->layer(value("layer")).name;
    for (const std::string& gate : split(value("gate"), '+')) {
      std::string name = value("name");
      if (name.empty()) name = layer;
      if (!gate.empty()) name += "/" + gate;
      if (!value("units").empty() && value("name").empty()) name += ":" + value("units");
      groups.push_back(
          {name, m, layer, gate,
           value("units").empty() ? std::vector<std::size_t>() : parse_unit_numbers(value("units"))});
    }
  }
  if (groups.empty()) {
    std::vector<std::string> names;
    for (const auto& model : models) names.push_back(model.name);
    fail(Fault::usage, "--units '{}': no network is named '{}'; there are {}", text, value("model"),
         joined(names));
  }
  return groups;
}

std::vector<inspection::UnitGroup> weighted_layers(const std::vector<inspection::InspectedModel>& models) {
  std::vector<inspection::UnitGroup> groups;
  for (std::size_t m = 0; m < models.size(); ++m) {
    for (const Layer& layer : models[m].session->layers()) {
      if (layer.carries_weights) groups.push_back({layer.name, m, layer.name});
    }
  }
  return groups;
}

}  // namespace assay::app
