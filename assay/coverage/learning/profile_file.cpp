// Profiles as JSON values and files.

#include <algorithm>
#include <cmath>
#include <functional>
#include <ostream>
#include <set>
#include <streambuf>

#include <assay/error.h>
#include <assay/profile.h>
#include "assay/coverage/learning/profile_json.h"
#include "assay/support/conditions.h"
#include "assay/support/files/binary.h"
#include "assay/support/files/format_version.h"
#include "assay/support/files/hash.h"

namespace assay::coverage {
namespace {

using Json = nlohmann::json;

constexpr int profile_version = 2;
constexpr std::size_t most_clusters = 255;

const char* const reductions[] = {"mean", "max", "min", "every_position"};

std::string to_text(Reduction reduction) { return reductions[static_cast<std::size_t>(reduction)]; }

Reduction reduction_from(const std::string& text) {
  const auto found = std::ranges::find(reductions, text);
  if (found == std::end(reductions)) throw std::runtime_error("its reduction '" + text + "' is not known");
  return static_cast<Reduction>(found - std::begin(reductions));
}

Json to_json(const LayerStatistics& layer) {
  Json json{{"layer", layer.layer},
            {"op", layer.op},
            {"low", to_binary(layer.low)},
            {"high", to_binary(layer.high)},
            {"mean", to_binary(layer.mean)},
            {"deviation", to_binary(layer.deviation)},
            {"same_as", to_binary(layer.same_as)},
            {"bounds", to_binary(std::vector{layer.floor, layer.ceiling})}};
  for (const auto& [share, values] : layer.quantiles) json["quantiles"].push_back({share, to_binary(values)});
  if (!layer.chosen.empty()) json["chosen"] = layer.chosen;
  return json;
}

LayerStatistics statistics_from(const Json& json) {
  LayerStatistics layer;
  layer.layer = json.at("layer").get<std::string>();
  layer.op = json.at("op").get<std::string>();
  layer.low = from_binary<float>(json.at("low"));
  const std::size_t neurons = layer.low.size();
  layer.high = from_binary<float>(json.at("high"), neurons);
  layer.mean = from_binary<double>(json.at("mean"), neurons);
  layer.deviation = from_binary<double>(json.at("deviation"), neurons);
  layer.same_as = from_binary<std::uint32_t>(json.at("same_as"), neurons);
  const std::vector<double> bounds = from_binary<double>(json.at("bounds"), 2);
  layer.floor = bounds[0];
  layer.ceiling = bounds[1];
  for (const Json& entry : json.value("quantiles", Json::array()))
    layer.quantiles[entry.at(0).get<double>()] = from_binary<float>(entry.at(1), neurons);
  for (std::size_t n = 0; n < neurons; ++n) {
    const bool sound = std::isfinite(layer.low[n]) && std::isfinite(layer.high[n]) &&
                       layer.low[n] <= layer.high[n] && std::isfinite(layer.mean[n]) &&
                       std::isfinite(layer.deviation[n]) && layer.deviation[n] >= 0 && layer.same_as[n] <= n;
    if (!sound) throw std::runtime_error("the range of a neuron is not sound");
  }
  if (json.contains("chosen")) layer.chosen = json.at("chosen").get<std::vector<std::size_t>>();
  const bool ascending =
      std::ranges::adjacent_find(layer.chosen, std::greater_equal<>()) == layer.chosen.end();
  if (!ascending || (!layer.chosen.empty() && layer.chosen.back() >= neurons))
    throw std::runtime_error("the neurons that count are not sound");
  return layer;
}

Json to_json(const LayerClusters& layer) {
  Json neurons = Json::array();
  for (const ImportantNeuron& neuron : layer.important) {
    neurons.push_back({{"neuron", neuron.neuron},
                       {"relevance", neuron.relevance},
                       {"centroids", neuron.clusters.centroids},
                       {"sizes", neuron.clusters.sizes},
                       {"silhouette", neuron.clusters.silhouette},
                       {"within", neuron.clusters.within},
                       {"histogram", to_binary(neuron.histogram)}});
  }
  Json json{{"layer", layer.layer}, {"auto_m", layer.auto_m}, {"important", std::move(neurons)}};
  if (!layer.combinations.empty()) {
    std::string all;
    for (const std::string& combination : layer.combinations) all += combination;
    json["combinations"] = Json::binary({all.begin(), all.end()});
  }
  return json;
}

ImportantNeuron neuron_from(const Json& json, std::size_t neurons) {
  ImportantNeuron neuron;
  neuron.neuron = json.at("neuron").get<std::size_t>();
  neuron.relevance = json.at("relevance").get<double>();
  neuron.clusters.centroids = json.at("centroids").get<std::vector<double>>();
  neuron.clusters.sizes = json.at("sizes").get<std::vector<std::size_t>>();
  neuron.clusters.silhouette = json.at("silhouette").get<double>();
  neuron.clusters.within = json.at("within").get<double>();
  neuron.histogram = from_binary<std::uint32_t>(json.at("histogram"));
  const auto& centroids = neuron.clusters.centroids;
  const bool ascending = std::ranges::adjacent_find(centroids, std::greater_equal<>()) == centroids.end();
  const bool sound = neuron.neuron < neurons && !centroids.empty() &&
                     centroids.size() == neuron.clusters.sizes.size() && centroids.size() <= most_clusters &&
                     ascending && std::ranges::all_of(centroids, [](double c) { return std::isfinite(c); });
  if (!sound) throw std::runtime_error("a neuron's clusters are not sound");
  return neuron;
}

std::vector<std::string> combinations_from(const Json& json, const LayerClusters& layer) {
  const auto& all = json.get_binary();
  const std::size_t width = layer.important.size();
  std::vector<std::string> combinations;
  for (std::size_t at = 0; at + width <= all.size(); at += width) {
    for (std::size_t n = 0; n < width; ++n) {
      if (all[at + n] >= layer.important[n].clusters.centroids.size())
        throw std::runtime_error("a combination names clusters that do not exist");
    }
    combinations.emplace_back(all.begin() + at, all.begin() + at + width);
  }
  if (all.size() % width != 0 || combinations.empty() || !std::ranges::is_sorted(combinations))
    throw std::runtime_error("its combinations are not sound");
  return combinations;
}

LayerClusters clusters_from(const Json& json, const Profile& profile) {
  LayerClusters layer;
  layer.layer = json.at("layer").get<std::string>();
  layer.auto_m = json.at("auto_m").get<std::size_t>();
  const auto statistics = std::ranges::find(profile.statistics, layer.layer, &LayerStatistics::layer);
  if (statistics == profile.statistics.end())
    throw std::runtime_error("a layer has clusters but no statistics");
  for (const Json& neuron : json.at("important"))
    layer.important.push_back(neuron_from(neuron, statistics->neurons()));
  std::set<std::size_t> distinct;
  for (const ImportantNeuron& neuron : layer.important) distinct.insert(neuron.neuron);
  if (distinct.size() != layer.important.size()) throw std::runtime_error("a neuron is listed twice");
  if (layer.important.empty() || layer.auto_m > layer.important.size())
    throw std::runtime_error("a layer has too few important neurons");
  if (json.contains("combinations")) layer.combinations = combinations_from(json.at("combinations"), layer);
  return layer;
}

Json to_json(const LayerTraces& traces) {
  return {{"layer", traces.layer},
          {"dimensions", traces.dimensions},
          {"values", to_binary(traces.values)},
          {"predicted", to_binary(traces.predicted)},
          {"labels", to_binary(traces.labels)}};
}

std::shared_ptr<const LayerTraces> traces_from(const Json& json) {
  auto traces = std::make_shared<LayerTraces>();
  traces->layer = json.at("layer").get<std::string>();
  traces->dimensions = json.at("dimensions").get<std::size_t>();
  traces->values = from_binary<float>(json.at("values"));
  traces->predicted = from_binary<std::int64_t>(json.at("predicted"));
  traces->labels = from_binary<std::int64_t>(json.at("labels"));
  if (traces->dimensions == 0 || traces->values.size() % traces->dimensions != 0)
    throw std::runtime_error("its traces are not sound");
  const std::size_t records = traces->values.size() / traces->dimensions;
  const auto fits = [&](const std::vector<std::int64_t>& classes) {
    return classes.empty() || classes.size() == records;
  };
  if (!fits(traces->predicted) || !fits(traces->labels))
    throw std::runtime_error("its traces and their classes differ in number");
  if (!std::ranges::all_of(traces->values, [](float v) { return std::isfinite(v); }))
    throw std::runtime_error("its traces are not finite");
  return traces;
}

// Bytes written are hashed and not kept.
struct HashingBuffer final : std::streambuf {
  std::streamsize xsputn(const char* bytes, std::streamsize count) override {
    hasher.bytes(bytes, count);
    return count;
  }
  int_type overflow(int_type byte) override {
    const char one = traits_type::to_char_type(byte);
    hasher.bytes(&one, 1);
    return byte;
  }
  Hasher hasher;
};

}  // namespace

Json to_json(const Profile& profile, bool with_traces) {
  Json json = {{"schema", "assay/profile"},
               {"version", profile_version},
               {"model_hash", profile.model_hash},
               {"data_hash", profile.data_hash},
               {"data", profile.data},
               {"records", profile.records},
               {"reduction", to_text(profile.reduction)},
               {"method", profile.method},
               {"clusterer", profile.clusterer},
               {"traced", profile.traced},
               {"statistics", Json::array()},
               {"clusters", Json::array()},
               {"traces", Json::array()}};
  // Profiles of earlier programs have none of these, and keep their hash.
  if (!profile.settings.empty()) json["settings"] = profile.settings;
  if (profile.inputs.records > 0)
    json["inputs"] = {profile.inputs.records, profile.inputs.low, profile.inputs.high, profile.inputs.mean};
  if (with_traces && !profile.contents.empty()) json["contents"] = to_binary(profile.contents);
  for (const LayerStatistics& layer : profile.statistics) json["statistics"].push_back(to_json(layer));
  for (const LayerClusters& layer : profile.clusters) json["clusters"].push_back(to_json(layer));
  if (with_traces) {
    for (const auto& traces : profile.traces) json["traces"].push_back(to_json(*traces));
  }
  return json;
}

void require_neurons_of_layer(const LayerTraces& traces, std::span<const LayerStatistics> statistics) {
  const auto layer = std::ranges::find(statistics, traces.layer, &LayerStatistics::layer);
  if (layer != statistics.end() && !traces.values.empty() && layer->neurons() != traces.dimensions)
    throw std::runtime_error("its traces are of another number of neurons than their layer");
}

Profile profile_from(const Json& json) {
  if (!json.is_object() || json.value("schema", "") != "assay/profile")
    throw std::runtime_error("it is not a profile");
  if (const std::string fault = other_format(json.at("version"), profile_version); !fault.empty())
    throw std::runtime_error(fault);
  Profile profile;
  profile.model_hash = json.at("model_hash").get<std::string>();
  profile.data_hash = json.at("data_hash").get<std::string>();
  profile.data = json.at("data").get<std::string>();
  profile.records = json.at("records").get<std::size_t>();
  profile.reduction = reduction_from(json.at("reduction").get<std::string>());
  profile.method = json.at("method").get<std::string>();
  profile.clusterer = json.at("clusterer").get<std::string>();
  profile.traced = json.at("traced").get<std::vector<std::string>>();
  if (json.contains("settings"))
    profile.settings = json.at("settings").get<std::map<std::string, std::vector<std::string>>>();
  if (json.contains("inputs")) {
    const Json& inputs = json.at("inputs");
    profile.inputs = {inputs.at(0).get<std::size_t>(), inputs.at(1).get<double>(), inputs.at(2).get<double>(),
                      inputs.at(3).get<double>()};
  }
  if (json.contains("contents")) {
    profile.contents = from_binary<std::uint64_t>(json.at("contents"));
    if (!std::ranges::is_sorted(profile.contents))
      throw std::runtime_error("the hashes of its records are not sound");
  }
  for (const Json& layer : json.at("statistics")) profile.statistics.push_back(statistics_from(layer));
  for (const Json& layer : json.at("clusters")) profile.clusters.push_back(clusters_from(layer, profile));
  for (const Json& traces : json.at("traces")) {
    profile.traces.push_back(traces_from(traces));
    require_neurons_of_layer(*profile.traces.back(), profile.statistics);
  }
  return profile;
}

std::string Profile::hash() const {
  HashingBuffer buffer;
  std::ostream stream(&buffer);
  Json::to_cbor(to_json(*this, true), stream);
  return buffer.hasher.hex();
}

void write_profile(const Profile& profile, const std::filesystem::path& path) {
  write_binary(to_json(profile, true), path);
}

Profile read_profile(const std::filesystem::path& path) {
  const Json json = read_binary(path);
  try {
    return profile_from(json);
  } catch (const std::exception& error) {
    pass_on_condition();
    fail(Fault::data, "{}: the profile cannot be used: {}; learn it again {}", path.string(), error.what(),
         About{"from the training data", "with {train}"});
  }
}

}  // namespace assay::coverage
