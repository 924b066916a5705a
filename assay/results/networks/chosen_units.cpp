#include "assay/results/networks/chosen_units.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>

#include <assay/error.h>
#include <assay/report.h>
#include "assay/engine/layers/unit_views.h"
#include "assay/report/document_file.h"
#include "assay/results/networks/inspection.h"
#include "assay/support/text/parse.h"
#include "assay/support/text/text.h"
#include "assay/support/text/unit_numbers.h"

namespace assay::results {
namespace {

using Keys = std::map<std::string, std::string>;

const About choice_of_units{"choice of units", "{units}"};

std::string value(const Keys& keys, const std::string& key) {
  const auto found = keys.find(key);
  return found == keys.end() ? std::string() : found->second;
}

// "layer=lstm,gate=forget" -> by key; a text without keys is a layer. The names of hypotheses and files may
// have commas.
Keys keys_of(const std::string& text) {
  static const std::vector<std::string> known{"layer", "gate",       "units",   "model", "name",
                                              "from",  "hypothesis", "measure", "top"};
  Keys keys;
  std::string* last = nullptr;
  for (const std::string& part : parts_of(text, ",")) {
    const std::size_t equals = part.find('=');
    const std::string key = equals == std::string::npos ? "layer" : part.substr(0, equals);
    const bool is_key =
        std::ranges::find(known, key) != known.end() && (equals != std::string::npos || !last);
    if (!is_key && last != nullptr && (keys.contains("hypothesis") || keys.contains("from"))) {
      *last += "," + part;
      continue;
    }
    if (!is_key)
      fail(Fault::usage, "{} '{}': '{}' is not one of {}{}", choice_of_units, text, key, joined(known),
           did_you_mean(key, known));
    const auto [entry, is_new] =
        keys.emplace(key, equals == std::string::npos ? part : part.substr(equals + 1));
    if (!is_new) fail(Fault::usage, "{} '{}': {} is there twice", choice_of_units, text, key);
    last = &entry->second;
  }
  const bool from = keys.contains("from");
  for (const char* key : {"layer", "gate", "units"}) {
    if (from && keys.contains(key))
      fail(Fault::usage, "{} '{}': a document says which units; leave out {}", choice_of_units, text, key);
  }
  for (const char* key : {"hypothesis", "measure", "top"}) {
    if (!from && keys.contains(key))
      fail(Fault::usage, "{} '{}': {} is for the result of an inspection; add from=FILE", choice_of_units,
           text, key);
  }
  if (!from && value(keys, "layer").empty())
    fail(Fault::usage, "{} '{}': which layer? give layer=NAME", choice_of_units, text);
  return keys;
}

UnitQuestion question_of(const Keys& keys, const std::string& text) {
  UnitQuestion question{value(keys, "hypothesis"), value(keys, "measure")};
  question.model = value(keys, "model");
  if (!keys.contains("top")) return question;
  const std::string top = value(keys, "top");
  const auto number = number_of<std::size_t>(top);
  if (!number || *number == 0)
    fail(Fault::usage, "{} '{}': top={} is not a number of units", choice_of_units, text, top);
  question.top = *number;
  return question;
}

// "lstm/forget" of a network with a layer "lstm" -> lstm, forget.
std::pair<std::string, std::string> layer_and_gate(const Session& session, const std::string& place) {
  const auto known = [&](const std::string& name) {
    return std::ranges::find(session.layers(), name, &Layer::name) != session.layers().end();
  };
  const std::size_t slash = place.rfind('/');
  if (known(place) || slash == std::string::npos || !known(place.substr(0, slash)))
    return {session.layer(place).name, ""};
  return {place.substr(0, slash), place.substr(slash + 1)};
}

void require_same_network(const report::Document& document, const Session& session, const std::string& text,
                          const std::string& file) {
  for (const auto& [key, found] : document.provenance) {
    const auto* const hash = std::get_if<std::string>(&found);
    if (key != "model_hash" || hash == nullptr || *hash == session.graph().hash()) continue;
    fail(Fault::mismatch,
         "{} '{}': {} is of another network (hash {}) than '{}' ({}); inspect this one, or name "
         "layer "
         "and units",
         choice_of_units, text, file, *hash, session.graph().name(), session.graph().hash());
  }
}

// Groups of the units that a document names. Units of a network that is not here by that name are those of
// the only one here.
std::vector<inspection::UnitGroup> units_from(const std::string& text, const Keys& keys,
                                              const std::vector<inspection::InspectedModel>& models) {
  const std::string file = value(keys, "from");
  const report::Document document = report::read_document_file(file);
  if (models.size() == 1) require_same_network(document, *models[0].session, text, file);
  const auto units = units_of(document, question_of(keys, text));
  if (units.empty()) fail(Fault::usage, "{} '{}': {} names no unit", choice_of_units, text, file);
  std::size_t model = 0;
  if (models.size() > 1) {
    const auto found = std::ranges::find(models, units.front().model, &inspection::InspectedModel::name);
    if (found == models.end())
      fail(Fault::usage, "{} '{}': units of network '{}', which was not given", choice_of_units, text,
           units.front().model);
    model = found - models.begin();
  }
  std::vector<inspection::UnitGroup> groups;
  std::string place;
  for (const NamedUnit& unit : units) {
    if (groups.empty() || unit.layer != place) {
      const auto [layer, gate] = layer_and_gate(*models[model].session, unit.layer);
      std::string name = value(keys, "name");
      name += (name.empty() ? "" : "/") + unit.layer;
      groups.push_back({name, model, layer, gate});
      place = unit.layer;
    }
    groups.back().units.push_back(unit.unit);
  }
  return groups;
}

}  // namespace

std::vector<inspection::UnitGroup> parse_units(const std::string& text,
                                               const std::vector<inspection::InspectedModel>& models) {
  const Keys keys = keys_of(text);
  if (keys.contains("from")) return units_from(text, keys, models);
  const std::string model = value(keys, "model"), units = value(keys, "units");
  std::vector<inspection::UnitGroup> groups;
  for (std::size_t m = 0; m < models.size(); ++m) {
    if (!model.empty() && model != models[m].name) continue;
    const std::string layer = models[m].session->layer(value(keys, "layer")).name;
    for (const std::string& gate : parts_of(value(keys, "gate"), "+")) {
      std::string name = value(keys, "name");
      if (name.empty()) name = layer;
      if (!gate.empty()) name += "/" + gate;
      if (!units.empty() && value(keys, "name").empty()) name += ":" + units;
      groups.push_back(
          {name, m, layer, gate, units.empty() ? std::vector<std::size_t>() : parse_unit_numbers(units)});
    }
  }
  if (groups.empty()) {
    std::vector<std::string> names;
    for (const auto& other : models) names.push_back(other.name);
    fail(Fault::usage, "{} '{}': no network is named '{}'; there are {}", choice_of_units, text, model,
         joined(names));
  }
  return groups;
}

std::vector<inspection::UnitGroup> usual_groups(const std::vector<inspection::InspectedModel>& models) {
  std::vector<inspection::UnitGroup> groups;
  for (std::size_t m = 0; m < models.size(); ++m) {
    std::vector<Layer> layers = unit_view_layers(*models[m].session);
    const std::vector<Layer>& all = models[m].session->layers();
    const auto take = [&](auto counts) {
      if (layers.empty()) std::ranges::copy_if(all, std::back_inserter(layers), counts);
    };
    // Products of two activations have none.
    take([](const Layer& layer) { return layer.carries_weights && layer.parameters > 0; });
    take(&Layer::carries_weights);
    for (const Layer& layer : layers)
      groups.push_back({.name = layer.name, .model = m, .layer = layer.name, .usual = true});
  }
  return groups;
}

std::map<std::string, std::vector<std::size_t>> chosen_units(const std::vector<std::string>& texts,
                                                             const std::shared_ptr<const Session>& session) {
  std::map<std::string, std::vector<std::size_t>> chosen;
  for (const std::string& text : texts) {
    for (const inspection::UnitGroup& group : parse_units(text, {{"", session}})) {
      if (!group.gate.empty())
        fail(Fault::usage,
             "{} '{}': a gate of '{}' is not a neuron of the layer; only inspect looks at gates",
             choice_of_units, text, group.layer);
      const std::size_t neurons = session->layer(group.layer).neurons;
      if (!group.units.empty() && group.units.back() >= neurons)
        fail(Fault::usage, "{} '{}': layer '{}' has units 0 to {}", choice_of_units, text, group.layer,
             neurons - 1);
      std::vector<std::size_t>& units = chosen[group.layer];
      const std::size_t before = units.size();
      units.insert(units.end(), group.units.begin(), group.units.end());
      if (group.units.empty()) {
        units.resize(before + neurons);
        std::iota(units.begin() + before, units.end(), std::size_t{0});
      }
    }
  }
  for (auto& [layer, units] : chosen) {
    std::ranges::sort(units);
    units.erase(std::unique(units.begin(), units.end()), units.end());
  }
  return chosen;
}

}  // namespace assay::results
