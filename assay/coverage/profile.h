#pragma once

// What is learned once from the training set and reused for every test set: the important neurons of each subject
// layer and the clusters of their activations. A profile knows the network and data it came from and is refused for
// any other network.

#include <filesystem>
#include <string>
#include <vector>

#include "assay/clustering/clusterer.h"
#include "assay/relevance/importance.h"

namespace assay {

struct ImportantNeuron {
  std::size_t neuron = 0;      // index in the layer
  double relevance = 0;        // over the training set, the ranking criterion
  Clustering clusters;         // of its activations over the training set
};

struct LayerProfile {
  std::string layer;                        // name
  std::size_t neurons = 0;                  // in the layer
  std::vector<ImportantNeuron> important;   // by descending relevance, as many as the largest m
  std::vector<std::size_t> ms;              // the numbers of neurons that coverage is measured for
};

struct Profile {
  std::string model_hash, data_hash, data;  // of network and training set
  std::string method, clusterer;            // definitions, as text
  Reduction reduction = Reduction::mean;
  std::vector<LayerProfile> layers;
};

struct ProfileOptions {
  std::vector<std::size_t> ms{6, 8, 10, 12};  // empty: chosen by `share`, at most `cap`
  double share = 0.9;
  std::size_t cap = 12;
  ImportanceOptions importance;
  std::string clusterer = "kmeans";
  ClusterOptions clusters;
  Reduction reduction = Reduction::mean;
};

// Learns the profile of the layers; also returns the importance analysis it rests on. Activations of all training
// records are clustered (those that are not finite are left out and counted in `non_finite`).
struct Learned {
  Profile profile;
  Importance importance;
  std::size_t non_finite = 0;
};
Learned learn_profile(const Session& session, DatasetPtr training, std::span<const Layer> layers, const ProfileOptions& options,
                      Progress& progress);

// JSON, written under a temporary name and renamed. read_profile() throws Error{data} for files that are damaged.
void write_profile(const Profile& profile, const std::filesystem::path& path);
Profile read_profile(const std::filesystem::path& path);

// Throws Error{mismatch} when the profile was learned from another network.
void require_profile_fits(const Profile& profile, const Session& session);

}  // namespace assay
