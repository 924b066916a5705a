#pragma once

// Optional abilities of criteria: cover items one by one, compare states, guide a search, give each record a
// value.

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <assay/error.h>
#include <assay/extend/criterion.h>

namespace assay::coverage {

// The difference between two states.
struct Difference {
  std::string layer;
  std::uint64_t both = 0, only_here = 0, only_there = 0;
  // Examples of items that are covered on one side only, each with the first record that covers it where that
  // is known.
  struct Item {
    bool here = false;
    std::string item;
    std::optional<std::size_t> record;
  };
  std::vector<Item> examples;
  // How many such items each side has, by neuron where items belong to neurons, and by their first record
  // where that is known; entries with neither are left out.
  struct Sides {
    std::uint64_t here = 0, there = 0;
  };
  std::map<std::size_t, Sides> neurons;
  std::map<std::size_t, std::uint64_t> records_here, records_there;

  // Counts an item that one side covers; an example while there are fewer than `most` of that side.
  void add(std::size_t most, bool here, const std::function<std::string()>& item,
           std::optional<std::size_t> record, std::optional<std::size_t> neuron = {});
};

// One number per record that a criterion computes on the way ("lsa").
struct RecordValues {
  std::string name;
  std::vector<std::pair<std::size_t, double>> values;  // by ascending record
};

// Where the activation of a neuron should go so that a record covers something new: into [low, high], either
// of which may be infinite. `beyond`: further is better still.
struct Aim {
  std::size_t layer = 0, neuron = 0;  // layer: position in the profile
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
  bool beyond = false;
};

// Optional abilities: a criterion derives from these too. `lack` is the message for criteria without the
// ability, after their name.

// Records cover items, one by one.
class Itemised {
 public:
  static constexpr std::string_view lack = "has no items that records cover one by one";
  virtual ~Itemised() = default;
  // From now on observe() also appends the ids of the items that a record covers to items[record]. Not saved.
  virtual void collect_into(std::vector<std::vector<std::uint64_t>>* items) = 0;
  // Calls `visit` with the id of every item that is covered, as collect_into() gives them, in no order.
  virtual void each_covered(const std::function<void(std::uint64_t)>& visit) const = 0;
  // Records that were the first to cover something, ascending, each once; those of merged criteria are among
  // those of the parts. Empty where that is not known.
  virtual std::vector<std::size_t> first_records() const = 0;
  // Covered and coverable items of each neuron of a layer (by position in the profile), where items belong to
  // neurons.
  struct NeuronCoverage {
    std::uint32_t covered = 0, coverable = 0;
    std::optional<std::size_t> first;  // the first record that covered one of them, where it is known
  };
  virtual std::vector<NeuronCoverage> neurons(std::size_t) const { return {}; }
};

// States can be compared.
class Comparable {
 public:
  static constexpr std::string_view lack = "cannot say what one state covers and another does not";
  virtual ~Comparable() = default;
  // Compares with the same criterion on other records or another network; at most `examples` per layer and
  // side. Throws Error{mismatch} for another criterion.
  virtual std::vector<Difference> difference(const Criterion& other, std::size_t examples) const = 0;
};

// A search for new inputs can climb towards what is not covered.
class Guiding {
 public:
  static constexpr std::string_view lack = "does not say where a search should go";
  virtual ~Guiding() = default;
  // Ways in which one record of the batch could come to cover what nothing covers yet: each entry names
  // activations that together would do, or point there where items do not belong to single neurons. Empty
  // when nothing is left.
  virtual std::vector<std::vector<Aim>> aims(const ActivationBatch& batch, std::size_t row) const = 0;
};

// Each record has a value.
class Valued {
 public:
  static constexpr std::string_view lack = "gives no value for each record";
  virtual ~Valued() = default;
  virtual RecordValues values() const = 0;
};

// Null for a criterion that cannot do it.
template <typename Ability>
const Ability* ability(const Criterion& criterion) {
  return dynamic_cast<const Ability*>(&criterion);
}
template <typename Ability>
Ability* ability(Criterion& criterion) {
  return dynamic_cast<Ability*>(&criterion);
}

// Throws Error{usage} for a criterion that cannot do it; `name` for the message.
template <typename Ability>
const Ability& required(const Criterion& criterion, std::string_view name) {
  if (const Ability* able = ability<Ability>(criterion)) return *able;
  fail(Fault::usage, "{} {}; choose another criterion", name, Ability::lack);
}

// Every neuron of a layer further from its mean over the training set than it is.
std::vector<Aim> away_from_mean(std::size_t layer, std::span<const double> mean,
                                std::span<const float> activations);

}  // namespace assay::coverage
