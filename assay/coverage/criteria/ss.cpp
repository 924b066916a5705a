// Sign-sign coverage (Sun et al., Testing Deep Neural Networks, 2018), after MC/DC: a neuron's change of sign
// alone, all others of its layer keeping theirs, changes the sign of a neuron of the next layer.

#include <fmt/format.h>
#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include <assay/error.h>
#include <assay/extend/abilities.h>
#include <assay/extend/criteria.h>

namespace assay::coverage {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::uint64_t>;

std::size_t words_for(std::size_t bits) { return (bits + 63) / 64; }

Words signs_of(std::span<const float> row) {
  Words words(words_for(row.size()));
  for (std::size_t i = 0; i < row.size(); ++i)
    words[i >> 6] |= static_cast<std::uint64_t>(row[i] > 0) << (i & 63);
  return words;
}

struct HashOfWords {
  std::size_t operator()(const Words& words) const {
    std::uint64_t hash = 0;
    for (std::size_t i = 0; i < words.size(); ++i)
      hash += (words[i] ^ (words[i] >> 29)) * (0x9E3779B97F4A7C15ULL + 2 * i);
    return hash ^ (hash >> 32);
  }
};

// For each pattern of signs of a layer: which neurons of the next layer were on, and which off, for some
// record with it.
struct LayerPair {
  std::string name;
  std::size_t first = 0, second = 0;  // positions of the layers
  std::size_t from = 0, to = 0;       // neurons
  Words changing, answering;          // of these: those that are neither constant nor the same as another
  struct Seen {
    Words on, off;
  };
  std::unordered_map<Words, Seen, HashOfWords> patterns;

  void add(const Words& pattern, const Words& on, const Words& off) {
    const auto [it, is_new] = patterns.try_emplace(pattern, Seen{on, off});
    if (is_new) return;
    for (std::size_t w = 0; w < on.size(); ++w) {
      it->second.on[w] |= on[w];
      it->second.off[w] |= off[w];
    }
  }

  // Bits of covered pairs, row by row of the first layer.
  std::vector<Words> covered() const {
    std::vector<Words> rows(from, Words(words_for(to)));
    for (const auto& [pattern, seen] : patterns) {
      Words flipped = pattern;
      for (std::size_t i = 0; i < from; ++i) {
        const std::uint64_t bit = std::uint64_t{1} << (i & 63);
        if ((pattern[i >> 6] & bit) != 0)
          continue;  // each pair of patterns once, from the side where i is off
        flipped[i >> 6] ^= bit;
        if (const auto partner = patterns.find(flipped); partner != patterns.end()) {
          for (std::size_t w = 0; w < rows[i].size(); ++w) {
            rows[i][w] |= (seen.on[w] & partner->second.off[w]) | (seen.off[w] & partner->second.on[w]);
          }
        }
        flipped[i >> 6] ^= bit;
      }
    }
    return rows;
  }
};

std::uint64_t count_bits(const Words& words) {
  std::uint64_t count = 0;
  for (const std::uint64_t word : words) count += static_cast<std::uint64_t>(std::popcount(word));
  return count;
}

std::uint64_t count_bits(const std::vector<Words>& rows) {
  std::uint64_t count = 0;
  for (const Words& row : rows) count += count_bits(row);
  return count;
}

// Neurons whose items are attainable (docs/algorithms/criteria.md).
Words attainable_of(const LayerStatistics& layer) {
  Words words(words_for(layer.neurons()));
  for (std::size_t n = 0; n < layer.neurons(); ++n)
    words[n >> 6] |= static_cast<std::uint64_t>(!layer.constant(n) && !layer.duplicate(n)) << (n & 63);
  return words;
}

class SignSignCoverage final : public Criterion, public Comparable, public Guiding {
 public:
  explicit SignSignCoverage(const CriterionSetup& setup) : spec_(setup.spec.text()) {
    for (std::size_t i = 0; i + 1 < setup.layers.size(); ++i) {
      const LayerStatistics &first = setup.profile.statistics[setup.layers[i]],
                            &second = setup.profile.statistics[setup.layers[i + 1]];
      pairs_.push_back({first.layer + " -> " + second.layer,
                        setup.layers[i],
                        setup.layers[i + 1],
                        first.neurons(),
                        second.neurons(),
                        attainable_of(first),
                        attainable_of(second),
                        {}});
    }
    if (pairs_.empty())
      fail(Fault::usage, "ss looks at pairs of consecutive layers, but only one layer counts");
  }

  void observe(const ActivationBatch& batch) override {
    for (LayerPair& pair : pairs_) {
      for (std::size_t r = 0; r < batch.indices.size(); ++r) {
        const Words on = signs_of(batch.layers[pair.second].row(r));
        Words off = on;
        for (std::uint64_t& word : off) word = ~word;
        if (pair.to % 64 != 0) off.back() &= (std::uint64_t{1} << (pair.to % 64)) - 1;
        pair.add(signs_of(batch.layers[pair.first].row(r)), on, off);
      }
    }
  }

  // A neuron whose change of sign alone gives a pattern that no record has.
  std::vector<std::vector<Aim>> aims(const ActivationBatch& batch, std::size_t row) const override {
    std::vector<std::vector<Aim>> ways;
    for (const LayerPair& pair : pairs_) {
      Words pattern = signs_of(batch.layers[pair.first].row(row));
      for (std::size_t n = 0; n < pair.from; ++n) {
        const std::uint64_t bit = std::uint64_t{1} << (n & 63);
        pattern[n >> 6] ^= bit;
        const bool on = (pattern[n >> 6] & bit) != 0;
        if (!pair.patterns.contains(pattern))
          ways.push_back({on ? Aim{.layer = pair.first, .neuron = n, .low = 0, .beyond = true}
                             : Aim{.layer = pair.first, .neuron = n, .high = 0}});
        pattern[n >> 6] ^= bit;
      }
    }
    return ways;
  }

  void merge(const Criterion& other) override {
    const SignSignCoverage& same = same_kind(other);
    for (std::size_t p = 0; p < pairs_.size(); ++p) {
      for (const auto& [pattern, seen] : same.pairs_[p].patterns) pairs_[p].add(pattern, seen.on, seen.off);
    }
  }

  std::vector<Coverage> result() const override {
    std::vector<Coverage> rows;
    std::uint64_t covered = 0, coverable = 0, attained = 0, attainable = 0;
    for (const LayerPair& pair : pairs_) {
      std::vector<Words> bits = pair.covered();
      const std::uint64_t here = count_bits(bits), all = static_cast<std::uint64_t>(pair.from) * pair.to,
                          within_reach = count_bits(pair.changing) * count_bits(pair.answering);
      std::uint64_t of_these = 0;
      for (std::size_t i = 0; i < pair.from; ++i) {
        if ((pair.changing[i >> 6] >> (i & 63) & 1) == 0) continue;
        for (std::size_t w = 0; w < bits[i].size(); ++w) bits[i][w] &= pair.answering[w];
        of_these += count_bits(bits[i]);
      }
      rows.push_back(coverage_of(pair.name, here, all, of_these, within_reach));
      if (within_reach < all)
        rows.back().note = fmt::format(
            "{} pairs with a neuron that is constant in training or the same as another", all - within_reach);
      covered += here;
      coverable += all;
      attained += of_these;
      attainable += within_reach;
    }
    rows.push_back(coverage_of("all", covered, coverable, attained, attainable));
    return rows;
  }

  Json save() const override {
    Json json = Json::array();
    for (const LayerPair& pair : pairs_) {
      std::vector<const std::pair<const Words, LayerPair::Seen>*> sorted;
      for (const auto& entry : pair.patterns) sorted.push_back(&entry);
      std::ranges::sort(sorted, {}, [](const auto* entry) { return entry->first; });
      std::vector<std::uint8_t> bytes;
      for (const auto* entry : sorted) {
        for (const Words* words : {&entry->first, &entry->second.on, &entry->second.off}) {
          const auto* begin = reinterpret_cast<const std::uint8_t*>(words->data());
          bytes.insert(bytes.end(), begin, begin + words->size() * 8);
        }
      }
      json.push_back(Json::binary(std::move(bytes)));
    }
    return json;
  }

  void load(const Json& state) override {
    if (!state.is_array() || state.size() != pairs_.size())
      throw std::runtime_error(spec_ + ": it has other layers than its profile");
    for (std::size_t p = 0; p < pairs_.size(); ++p) {
      LayerPair& pair = pairs_[p];
      const auto& bytes = state[p].get_binary();
      const std::size_t in = words_for(pair.from), out = words_for(pair.to), entry = 8 * (in + 2 * out);
      if (bytes.size() % entry != 0)
        throw std::runtime_error(spec_ + ": its list of sign patterns is cut off");
      pair.patterns.clear();
      for (std::size_t at = 0; at < bytes.size(); at += entry) {
        Words pattern(in), on(out), off(out);
        std::memcpy(pattern.data(), bytes.data() + at, 8 * in);
        std::memcpy(on.data(), bytes.data() + at + 8 * in, 8 * out);
        std::memcpy(off.data(), bytes.data() + at + 8 * (in + out), 8 * out);
        const auto spare = [](const Words& words, std::size_t bits) {
          return bits % 64 != 0 && words.back() >> (bits % 64) != 0;
        };
        if (spare(pattern, pair.from) || spare(on, pair.to) || spare(off, pair.to))
          throw std::runtime_error(spec_ + ": it names neurons that do not exist");
        pair.add(pattern, on, off);
      }
    }
  }

  std::vector<Difference> difference(const Criterion& other, std::size_t examples) const override {
    const auto* there = dynamic_cast<const SignSignCoverage*>(&other);
    if (there == nullptr) fail(Fault::mismatch, "{} cannot be compared with another criterion", spec_);
    std::vector<Difference> differences;
    for (const LayerPair& pair : pairs_) {
      const auto match = std::ranges::find(there->pairs_, pair.name, &LayerPair::name);
      if (match == there->pairs_.end() || match->from != pair.from || match->to != pair.to) continue;
      Difference difference;
      difference.layer = pair.name;
      const std::vector<Words> ours = pair.covered(), theirs = match->covered();
      for (std::size_t i = 0; i < pair.from; ++i) {
        for (std::size_t j = 0; j < pair.to; ++j) {
          const bool here = (ours[i][j >> 6] >> (j & 63) & 1) != 0,
                     beyond = (theirs[i][j >> 6] >> (j & 63) & 1) != 0;
          if (here && beyond) ++difference.both;
          if (here == beyond) continue;
          difference.add(
              examples, here, [&] { return fmt::format("neuron {} on neuron {}", i, j); }, {}, i);
        }
      }
      differences.push_back(std::move(difference));
    }
    return differences;
  }

 private:
  const SignSignCoverage& same_kind(const Criterion& other) const {
    const auto* same = dynamic_cast<const SignSignCoverage*>(&other);
    const auto fits = [](const LayerPair& a, const LayerPair& b) {
      return a.name == b.name && a.from == b.from && a.to == b.to;
    };
    if (same == nullptr || same->spec_ != spec_ || !std::ranges::equal(pairs_, same->pairs_, fits)) {
      fail(Fault::mismatch, "{} cannot be merged with another criterion, other options or another profile",
           spec_);
    }
    return *same;
  }

  std::string spec_;
  std::vector<LayerPair> pairs_;
};

}  // namespace

CriterionInfo ss_criterion() {
  return {.name = "ss",
          .summary =
              "sign-sign coverage: a neuron's change of sign alone changes the sign of a neuron of the next "
              "layer",
          .definition =
              "pairs (i, j) of neurons of consecutive layers for which two records exist whose signs "
              "(activation > 0) in the first layer differ at i and "
              "nowhere else, and whose signs differ at j; divided by all pairs",
          .limits =
              "two records seldom differ in one sign only where layers are wide; layers are consecutive in "
              "the order of computation, also beside a branch",
          .paper = "Sun et al., Testing Deep Neural Networks, arXiv:1803.04792",
          .options = {},
          .make = [](const CriterionSetup& setup) -> std::unique_ptr<Criterion> {
            return std::make_unique<SignSignCoverage>(setup);
          }};
}

}  // namespace assay::coverage
