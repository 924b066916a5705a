#pragma once

// What is learned once from the training set and reused for every test set: ranges of all neurons, the
// important neurons of the subject layers with the clusters of their activations, traces for surprise. A
// profile knows its network and data and is refused for any other network.

#include <algorithm>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <assay/extend/clustering.h>
#include <assay/layer.h>

namespace assay::coverage {

// The activations of one layer's neurons over the training set.
struct LayerStatistics {
  std::string layer, op;                // name, operator with its activation function
  std::vector<float> low, high;         // per neuron
  std::vector<double> mean, deviation;  // population standard deviation
  std::vector<std::uint32_t>
      same_as;  // the first neuron of the layer with the same activation on every record
  // Bounds of the layer's activation function: 0 and infinity for ReLU.
  double floor = -std::numeric_limits<double>::infinity(), ceiling = std::numeric_limits<double>::infinity();
  // Quantiles per neuron, by the share of the training records that are at most as active; those requested.
  std::map<double, std::vector<float>> quantiles = {};
  std::vector<std::size_t> chosen = {};  // the neurons that count, ascending; empty: all

  std::size_t neurons() const { return low.size(); }
  std::size_t counted() const { return chosen.empty() ? neurons() : chosen.size(); }
  bool counts(std::size_t neuron) const {
    return chosen.empty() || std::binary_search(chosen.begin(), chosen.end(), neuron);
  }
  bool constant(std::size_t neuron) const { return low[neuron] == high[neuron]; }
  bool duplicate(std::size_t neuron) const { return same_as[neuron] != neuron; }
};

struct ImportantNeuron {
  std::size_t neuron = 0;           // index in the layer
  double relevance = 0;             // over the training set, the ranking criterion
  clustering::Clustering clusters;  // of its activations over the training set
  // Records by activation: below the neuron's range, equal parts of it, above it (histogram_bin).
  std::vector<std::uint32_t> histogram;
};

struct LayerClusters {
  std::string layer;
  std::vector<ImportantNeuron> important;  // by descending relevance
  std::size_t auto_m = 0;                  // the fewest that hold the share of relevance requested
  // Those that training records reach, ascending, where requested: the cluster of each neuron, a byte each.
  std::vector<std::string> combinations = {};
};

// Activations of a layer for every training record, for surprise.
struct LayerTraces {
  std::string layer;
  std::size_t dimensions = 0;
  std::vector<float> values;                    // [records, dimensions]
  std::vector<std::int64_t> predicted, labels;  // per record; empty where there are none

  // What is computed from the traces once and shared, such as a search structure, by name. Thread-safe.
  template <typename T>
  std::shared_ptr<const T> derived(const std::string& name,
                                   const std::function<std::shared_ptr<const T>()>& make) const {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<const void>& known = derived_[name];
    if (!known) known = make();
    return std::static_pointer_cast<const T>(known);
  }

 private:
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::shared_ptr<const void>> derived_;
};

// Statistics of input elements, if they are numbers: to detect other preprocessing.
struct InputSummary {
  std::size_t records = 0;  // 0: none, or records of tokens
  double low = 0, high = 0, mean = 0;
};

struct Profile {
  std::string model_hash, data_hash, data;  // of network and training set
  std::size_t records = 0;                  // that were learned from
  // How it was learned, by the names of options: "reduction": {"mean"}. Empty in profiles of earlier
  // programs.
  std::map<std::string, std::vector<std::string>> settings;
  InputSummary inputs;
  std::vector<std::uint64_t> contents;  // hash of each training record, ascending; not in a state's profile
  Reduction reduction = Reduction::mean;
  std::vector<LayerStatistics> statistics;  // of the layers that count, in the order of computation
  std::string method, clusterer;            // definitions behind `clusters`, as text
  std::vector<LayerClusters> clusters;
  std::vector<std::string> traced;  // layers with traces, which a profile inside a state no longer holds
  std::vector<std::shared_ptr<const LayerTraces>> traces;

  // Position of a layer in `statistics`; throws Error{usage} naming the nearest.
  std::size_t position(const std::string& layer) const;
  // Of everything in it, traces included; ties states to the profile they were measured with.
  std::string hash() const;
};

// The bin of an activation among `bins`: 0 below `low`, the last above `high`, equal parts of [low, high]
// between them.
std::size_t histogram_bin(float value, float low, float high, std::size_t bins);

// CBOR with a checksum, written under a temporary name and renamed. read_profile() throws Error{data} for
// files that are damaged.
void write_profile(const Profile& profile, const std::filesystem::path& path);
Profile read_profile(const std::filesystem::path& path);

}  // namespace assay::coverage
