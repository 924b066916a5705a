// Top-k neuron patterns (Ma et al., DeepGauge, ASE 2018).

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include <assay/error.h>
#include <assay/extend/abilities.h>
#include <assay/extend/criteria.h>
#include "assay/coverage/criteria/same_criterion.h"
#include "assay/coverage/criteria/top_k.h"
#include "assay/support/files/hash.h"

namespace assay::coverage {
namespace {

using Json = nlohmann::json;

struct HashOfHash {
  std::size_t operator()(const Hash128& hash) const { return hash[0]; }
};

class PatternCoverage final : public Criterion, public Itemised, public Comparable, public Guiding {
 public:
  explicit PatternCoverage(const CriterionSetup& setup)
      : spec_(setup.spec.text()), layers_(setup.layers), k_(setup.options.count("k", 1)) {}

  void observe(const ActivationBatch& batch) override {
    TopK top(k_);
    std::size_t length = 0;  // of a pattern: for each layer how many, and which
    for (const std::size_t layer : layers_) length += 1 + std::min(k_, batch.layers[layer].columns);
    std::vector<std::uint32_t> patterns(batch.indices.size() * length);
    std::size_t begin = 0;
    for (const std::size_t layer : layers_) {
      top.each(batch.layers[layer], [&](std::size_t r, TopK::Positions chosen) {
        std::uint32_t* const pattern = patterns.data() + r * length + begin;
        pattern[0] = static_cast<std::uint32_t>(chosen.size());
        std::ranges::copy(chosen, pattern + 1);
        std::sort(pattern + 1, pattern + 1 + chosen.size());
      });
      begin += 1 + std::min(k_, batch.layers[layer].columns);
    }
    for (std::size_t r = 0; r < batch.indices.size(); ++r) {
      const Hash128 hash = hash_128(patterns.data() + r * length, length * sizeof(std::uint32_t));
      add(hash, static_cast<std::uint32_t>(batch.indices[r]));
      if (collected_ != nullptr) (*collected_)[batch.indices[r]].push_back(hash[0]);
    }
  }

  void collect_into(std::vector<std::vector<std::uint64_t>>* items) override { collected_ = items; }
  void each_covered(const std::function<void(std::uint64_t)>& visit) const override {
    for (const auto& [pattern, first] : first_) visit(pattern[0]);
  }

  // Any neuron that is not among the k makes another pattern when it comes to be.
  std::vector<std::vector<Aim>> aims(const ActivationBatch& batch, std::size_t row) const override {
    std::vector<std::vector<Aim>> ways;
    TopK top(k_);
    for (const std::size_t layer : layers_) {
      const auto values = batch.layers[layer].row(row);
      const auto chosen = top.of(values);
      const double last = values[chosen.back()];
      for (std::size_t n = 0; n < values.size(); ++n) {
        if (std::ranges::find(chosen, n) == chosen.end())
          ways.push_back({Aim{.layer = layer, .neuron = n, .low = last, .beyond = true}});
      }
    }
    return ways;
  }

  void merge(const Criterion& other) override {
    const auto& same = same_criterion<PatternCoverage>(other, spec_, [&](const PatternCoverage& theirs) {
      return theirs.spec_ == spec_ && theirs.layers_ == layers_;
    });
    for (const auto& [pattern, first] : same.first_) add(pattern, first);
  }

  std::vector<Coverage> result() const override {
    const std::string count = std::to_string(first_.size());
    return {{.layer = "all",
             .covered = count,
             .coverable = {},
             .value = static_cast<double>(first_.size()),
             .attainable_covered = count,
             .attainable = {},
             .attainable_value = static_cast<double>(first_.size()),
             .note = {}}};
  }

  Json save() const override {
    std::vector<std::pair<Hash128, std::uint32_t>> sorted(first_.begin(), first_.end());
    std::ranges::sort(sorted);
    std::vector<std::uint8_t> bytes(sorted.size() * entry);
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      std::memcpy(bytes.data() + i * entry, sorted[i].first.data(), 16);
      std::memcpy(bytes.data() + i * entry + 16, &sorted[i].second, 4);
    }
    return Json::binary(std::move(bytes));
  }

  void load(const Json& state) override {
    const auto& bytes = state.get_binary();
    if (bytes.size() % entry != 0) throw std::runtime_error(spec_ + ": its list of patterns is cut off");
    first_.clear();
    for (std::size_t at = 0; at < bytes.size(); at += entry) {
      Hash128 pattern;
      std::uint32_t first = 0;
      std::memcpy(pattern.data(), bytes.data() + at, 16);
      std::memcpy(&first, bytes.data() + at + 16, 4);
      if (!first_.emplace(pattern, first).second)
        throw std::runtime_error(spec_ + ": a pattern is listed twice");
    }
  }

  std::vector<Difference> difference(const Criterion& other, std::size_t examples) const override {
    const auto* there = dynamic_cast<const PatternCoverage*>(&other);
    if (there == nullptr || there->k_ != k_)
      fail(Fault::mismatch, "{} cannot be compared with another criterion or other options", spec_);
    Difference difference;
    difference.layer = "all";
    const auto one_side = [&](const PatternCoverage& a, const PatternCoverage& b, bool here) {
      std::vector<std::uint32_t> records;
      for (const auto& [pattern, first] : a.first_) {
        if (b.first_.contains(pattern)) continue;
        records.push_back(first);
      }
      std::ranges::sort(records);
      for (const std::uint32_t record : records)
        difference.add(
            examples, here, [] { return std::string("pattern of a record"); }, record);
    };
    one_side(*this, *there, true);
    one_side(*there, *this, false);
    difference.both = first_.size() - difference.only_here;
    return {difference};
  }

  std::vector<std::size_t> first_records() const override {
    std::vector<std::size_t> records;
    for (const auto& [pattern, first] : first_) records.push_back(first);
    std::ranges::sort(records);
    records.erase(std::ranges::unique(records).begin(), records.end());
    return records;
  }

 private:
  static constexpr std::size_t entry = 20;  // bytes

  void add(const Hash128& pattern, std::uint32_t record) {
    const auto [it, is_new] = first_.emplace(pattern, record);
    if (!is_new) it->second = std::min(it->second, record);
  }

  std::string spec_;
  std::vector<std::size_t> layers_;
  std::size_t k_;
  std::vector<std::vector<std::uint64_t>>* collected_ = nullptr;
  std::unordered_map<Hash128, std::uint32_t, HashOfHash> first_;  // the first record with a pattern
};

}  // namespace

CriterionInfo tknp_criterion() {
  return {
      .name = "tknp",
      .summary = "top-k neuron patterns: distinct combinations of the k most active neurons of all layers",
      .definition =
          "number of distinct tuples of sets, one set per layer: the k neurons with the greatest activation "
          "on a record (ties to the lower index); a count, not a share",
      .limits =
          "near the number of records for any network of some width; patterns are told apart by a 128-bit "
          "hash",
      .paper = "Ma et al., DeepGauge, ASE 2018",
      .options = {{"k", "3", "neurons per layer"}},
      .make = [](const CriterionSetup& setup) -> std::unique_ptr<Criterion> {
        return std::make_unique<PatternCoverage>(setup);
      }};
}

}  // namespace assay::coverage
