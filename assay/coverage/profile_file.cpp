#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

#include "assay/coverage/profile.h"
#include "assay/support/error.h"
#include "assay/support/file.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

constexpr int version = 1;

std::string to_text(Reduction reduction) { return reduction == Reduction::max ? "max" : "mean"; }

Reduction reduction_from(const std::string& text) {
  if (text == "max") return Reduction::max;
  if (text != "mean") throw std::runtime_error("its reduction is neither mean nor max");
  return Reduction::mean;
}

Json to_json(const ImportantNeuron& neuron) {
  return {{"neuron", neuron.neuron}, {"relevance", neuron.relevance}, {"centroids", neuron.clusters.centroids}, {"sizes", neuron.clusters.sizes},
          {"silhouette", neuron.clusters.silhouette}, {"within", neuron.clusters.within}};
}

ImportantNeuron neuron_from(const Json& json, std::size_t neurons) {
  ImportantNeuron neuron;
  neuron.neuron = json.at("neuron").get<std::size_t>();
  neuron.relevance = json.at("relevance").get<double>();
  neuron.clusters.centroids = json.at("centroids").get<std::vector<double>>();
  neuron.clusters.sizes = json.at("sizes").get<std::vector<std::size_t>>();
  neuron.clusters.silhouette = json.at("silhouette").get<double>();
  neuron.clusters.within = json.at("within").get<double>();
  const auto& centroids = neuron.clusters.centroids;
  const bool sound = neuron.neuron < neurons && !centroids.empty() && centroids.size() == neuron.clusters.sizes.size() && centroids.size() < 256 &&
                     std::is_sorted(centroids.begin(), centroids.end()) && std::all_of(centroids.begin(), centroids.end(), [](double c) { return std::isfinite(c); });
  if (!sound) throw std::runtime_error("a neuron's clusters are not sound");
  return neuron;
}

LayerProfile layer_from(const Json& json) {
  LayerProfile layer;
  layer.layer = json.at("layer").get<std::string>();
  layer.neurons = json.at("neurons").get<std::size_t>();
  layer.ms = json.at("ms").get<std::vector<std::size_t>>();
  for (const Json& neuron : json.at("important")) layer.important.push_back(neuron_from(neuron, layer.neurons));
  for (std::size_t i = 0; i < layer.important.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (layer.important[i].neuron == layer.important[j].neuron) throw std::runtime_error("a neuron is listed twice");
    }
  }
  if (layer.ms.empty()) throw std::runtime_error("a layer has no m");
  for (const std::size_t m : layer.ms) {
    if (m < 1 || m > layer.important.size()) throw std::runtime_error("m exceeds the important neurons");
  }
  return layer;
}

}  // namespace

void write_profile(const Profile& profile, const std::filesystem::path& path) {
  Json json = {{"schema", "assay/profile"}, {"version", version}, {"model_hash", profile.model_hash}, {"data_hash", profile.data_hash},
               {"data", profile.data}, {"method", profile.method}, {"clusterer", profile.clusterer}, {"reduction", to_text(profile.reduction)}};
  json["layers"] = Json::array();
  for (const LayerProfile& layer : profile.layers) {
    Json neurons = Json::array();
    for (const ImportantNeuron& neuron : layer.important) neurons.push_back(to_json(neuron));
    json["layers"].push_back({{"layer", layer.layer}, {"neurons", layer.neurons}, {"ms", layer.ms}, {"important", std::move(neurons)}});
  }
  write_file(path, json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

Profile read_profile(const std::filesystem::path& path) {
  const std::string text = read_file(path, std::uint64_t{1} << 30);
  try {
    const Json json = Json::parse(text);
    if (json.at("schema") != "assay/profile") throw std::runtime_error("it is not a profile");
    if (json.at("version") != version) throw std::runtime_error(fmt::format("its version is {}, this program reads {}", json.at("version").dump(), version));
    Profile profile{json.at("model_hash"), json.at("data_hash"), json.at("data"), json.at("method"), json.at("clusterer"),
                    reduction_from(json.at("reduction")), {}};
    for (const Json& layer : json.at("layers")) profile.layers.push_back(layer_from(layer));
    return profile;
  } catch (const std::exception& error) {
    fail(Fault::data, "{}: the profile cannot be used: {}; learn it again with --train", path.string(), error.what());
  }
}

}  // namespace assay
