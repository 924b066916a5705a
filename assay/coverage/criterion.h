#pragma once

// A coverage criterion turns the activations of a test set into covered and coverable items.
//
// observe() may be called with the batches in any order and split in any way; merge() is commutative and associative, and
// a fresh criterion is its identity: a test set may be split over threads, machines and time without changing the result,
// not even a bit of what save() gives. Not thread-safe; give each thread its own and merge.

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/engine/session.h"

namespace assay {

// Some records of a test set as criteria see them, all activations finite. Layers are those of the profile, in its order.
struct ActivationBatch {
  std::span<const std::size_t> indices;                    // positions of the records in the data set
  std::span<const Activations> layers;                     // [records, neurons] each
  // Least and greatest element of the whole layer per record, [layers][records]; empty unless a criterion asked.
  std::span<const std::vector<float>> least = {}, greatest = {};
  std::span<const std::int64_t> predicted = {}, labels = {};  // class per record; empty where there are none
};

// Items covered of items coverable. Counts are exact decimal integers of any size, because a product of cluster counts
// can exceed 64 bits.
struct Coverage {
  std::string layer;                        // a layer's name, or "all" for all layers together
  std::string covered = "0", coverable;     // `coverable` is empty for measures without a greatest value
  double value = 0;                         // covered / coverable in float64 (0 when nothing is coverable), or the measure
  // The same without the items that cannot be covered, or that are the same as others; as above when there are none.
  std::string attainable_covered, attainable;
  double attainable_value = 0;
  std::string note;                         // what was left out of the attainable items, and what fell outside
};

// What one state covers and another does not.
struct Difference {
  std::string layer;
  std::uint64_t both = 0, only_here = 0, only_there = 0;
  // Examples of items that are covered on one side only, each with the first record that covers it where that is known.
  struct Item {
    bool here = false;
    std::string item;
    std::optional<std::size_t> record;
  };
  std::vector<Item> examples;
  // How many such items each side has, by neuron where items belong to neurons, and by their first record where that is
  // known; entries with neither are left out.
  struct Sides {
    std::uint64_t here = 0, there = 0;
  };
  std::map<std::size_t, Sides> neurons;
  std::map<std::size_t, std::uint64_t> records_here, records_there;

  // Counts an item that one side covers; an example while there are fewer than `most` of that side.
  void add(std::size_t most, bool here, const std::function<std::string()>& item, std::optional<std::size_t> record,
           std::optional<std::size_t> neuron = {});
};

// One number per record that a criterion computes on the way ("lsa").
struct RecordValues {
  std::string name;
  std::vector<std::pair<std::size_t, double>> values;  // by ascending record
};

// Where the activation of a neuron should go so that a record covers something new: into [low, high], either of which may be
// infinite. `beyond`: further is better still.
struct Aim {
  std::size_t layer = 0, neuron = 0;   // layer: position in the profile
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
  bool beyond = false;
};

class Criterion {
 public:
  virtual ~Criterion() = default;
  virtual void observe(const ActivationBatch& batch) = 0;
  // REQUIRES: `other` is the same criterion with the same options and profile; throws Error{mismatch} otherwise.
  virtual void merge(const Criterion& other) = 0;
  // Layer by layer, and "all" last where adding layers up makes sense.
  virtual std::vector<Coverage> result() const = 0;

  // Everything observed, in a canonical form; load() replaces what this fresh criterion holds and throws
  // std::runtime_error for what does not fit it.
  virtual nlohmann::json save() const = 0;
  virtual void load(const nlohmann::json& state) = 0;

  // Compares with the same criterion on other records or another network; at most `examples` per layer and side.
  virtual std::vector<Difference> difference(const Criterion& other, std::size_t examples) const = 0;

  // Whether ActivationBatch::least and greatest are needed.
  virtual bool wants_extremes() const { return false; }
  // Covered and coverable items of each neuron of a layer (by position in the profile), where items belong to neurons.
  struct NeuronCoverage {
    std::uint32_t covered = 0, coverable = 0;
    std::optional<std::size_t> first;   // the first record that covered one of them, where it is known
  };
  virtual std::vector<NeuronCoverage> neurons(std::size_t) const { return {}; }
  virtual std::optional<RecordValues> values() const { return std::nullopt; }
  // Records that were the first to cover something, ascending, each once; those of merged criteria are among those of the parts.
  virtual std::vector<std::size_t> first_records() const { return {}; }
  // From now on observe() also appends the ids of the items that a record covers to items[record]; false, and nothing
  // happens, where records do not cover items one by one. Not saved.
  virtual bool collect_into(std::vector<std::vector<std::uint64_t>>*) { return false; }
  // Ways in which one record of the batch could come to cover what nothing covers yet: each entry names activations that
  // together would do, or point there where items do not belong to single neurons. Empty when nothing is left. What a search
  // for new inputs climbs towards.
  virtual std::vector<std::vector<Aim>> aims(const ActivationBatch& batch, std::size_t row) const = 0;
};

// Every neuron of a layer further from its mean over the training set than it is.
std::vector<Aim> away_from_mean(std::size_t layer, std::span<const double> mean, std::span<const float> activations);

// The "all" of layers whose counts add up.
Coverage coverage_of(std::string layer, std::uint64_t covered, std::uint64_t coverable);
Coverage coverage_of(std::string layer, std::uint64_t covered, std::uint64_t coverable, std::uint64_t attainable_covered,
                     std::uint64_t attainable);

}  // namespace assay
