// Sign-sign coverage (Sun et al., Testing Deep Neural Networks, 2018), after MC/DC: a neuron's change of sign
// alone, all others of its layer keeping theirs, changes the sign of a neuron of the next layer.

#include <fmt/format.h>
#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include <assay/error.h>
#include <assay/extend/abilities.h>
#include <assay/extend/criteria.h>
#include "assay/coverage/criteria/row_loops.h"
#include "assay/coverage/criteria/same_criterion.h"

namespace assay::coverage {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::uint64_t>;

std::size_t words_for(std::size_t bits) { return (bits + 63) / 64; }

// Patterns of signs of a layer, each with the neurons of the next layer that were on, and that were off, for
// some record with it; word by word in one block of memory, found by a number. A pattern's number is the sum,
// bit by bit, of those of its neurons that are on (Zobrist), so a change of one sign changes it without
// reading the rest.
class Patterns {
 public:
  using Bits = std::span<const std::uint64_t>;

  Patterns(std::size_t from, std::size_t to)
      : in_(words_for(from)), out_(words_for(to)), of_neuron_(from), slots_(16) {
    for (std::size_t n = 0; n < from; ++n) of_neuron_[n] = mixed(n);
  }

  std::size_t size() const { return numbers_.size(); }
  Bits pattern(std::size_t i) const { return words(i, 0, in_); }
  Bits on(std::size_t i) const { return words(i, in_, out_); }
  Bits off(std::size_t i) const { return words(i, in_ + out_, out_); }

  std::uint64_t number(Bits pattern) const {
    std::uint64_t number = 0;
    for (std::size_t w = 0; w < pattern.size(); ++w) {
      for (std::uint64_t rest = pattern[w]; rest != 0; rest &= rest - 1)
        number ^= of_neuron_[w * 64 + std::countr_zero(rest)];
    }
    return number;
  }
  std::uint64_t number(std::size_t i) const { return numbers_[i]; }
  std::uint64_t changed(std::uint64_t number, std::size_t neuron) const {
    return number ^ of_neuron_[neuron];
  }

  // Where a pattern stands.
  std::optional<std::size_t> find(Bits pattern, std::uint64_t number) const {
    const Slot& slot = slots_[place(pattern, number)];
    return slot.entry == 0 ? std::nullopt : std::optional<std::size_t>(slot.entry - 1);
  }
  // False for many of the patterns that are not there, by one look.
  bool may_have(std::uint64_t number) const { return slots_[first_place(number)].entry != 0; }

  void add(Bits pattern, Bits on, Bits off) {
    const std::uint64_t number = this->number(pattern);
    if (2 * (size() + 1) > slots_.size()) grow();
    Slot& slot = slots_[place(pattern, number)];
    if (slot.entry == 0) {
      for (const Bits bits : {pattern, on, off}) words_.insert(words_.end(), bits.begin(), bits.end());
      numbers_.push_back(number);
      slot = {static_cast<std::uint32_t>(number >> 32), static_cast<std::uint32_t>(size())};
      return;
    }
    std::uint64_t* const seen = words_.data() + (slot.entry - 1) * (in_ + 2 * out_) + in_;
    for (std::size_t w = 0; w < out_; ++w) {
      seen[w] |= on[w];
      seen[out_ + w] |= off[w];
    }
  }

 private:
  struct Slot {
    std::uint32_t mark = 0;   // of its number
    std::uint32_t entry = 0;  // from 1; 0: none
  };

  static std::uint64_t mixed(std::uint64_t n) {  // SplitMix64
    n = (n + 1) * 0x9E3779B97F4A7C15ULL;
    n = (n ^ (n >> 30)) * 0xBF58476D1CE4E5B9ULL;
    n = (n ^ (n >> 27)) * 0x94D049BB133111EBULL;
    return n ^ (n >> 31);
  }
  Bits words(std::size_t i, std::size_t offset, std::size_t count) const {
    return {words_.data() + i * (in_ + 2 * out_) + offset, count};
  }
  std::size_t first_place(std::uint64_t number) const { return number & (slots_.size() - 1); }
  // The slot that holds the pattern, or the free one that would.
  std::size_t place(Bits pattern, std::uint64_t number) const {
    std::size_t at = first_place(number);
    for (; slots_[at].entry != 0; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at].mark == static_cast<std::uint32_t>(number >> 32) &&
          std::ranges::equal(this->pattern(slots_[at].entry - 1), pattern))
        break;
    }
    return at;
  }
  void grow() {
    slots_.assign(2 * slots_.size(), {});
    for (std::size_t i = 0; i < size(); ++i) {
      std::size_t at = first_place(numbers_[i]);
      while (slots_[at].entry != 0) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = {static_cast<std::uint32_t>(numbers_[i] >> 32), static_cast<std::uint32_t>(i + 1)};
    }
  }

  std::size_t in_, out_;
  std::vector<std::uint64_t> of_neuron_;
  std::vector<Slot> slots_;
  std::vector<std::uint64_t> numbers_, words_;  // by entry
};

struct LayerPair {
  std::string name;
  std::size_t first = 0, second = 0;  // positions of the layers
  std::size_t from = 0, to = 0;       // neurons
  Words changing, answering;          // of these: those that are neither constant nor the same as another
  Patterns patterns;

  // Bits of covered pairs, row by row of the first layer.
  std::vector<Words> covered() const {
    std::vector<Words> rows(from, Words(words_for(to)));
    Words flipped;
    for (std::size_t p = 0; p < patterns.size(); ++p) {
      const auto pattern = patterns.pattern(p), on = patterns.on(p), off = patterns.off(p);
      flipped.assign(pattern.begin(), pattern.end());
      for (std::size_t i = 0; i < from; ++i) {
        const std::uint64_t bit = std::uint64_t{1} << (i & 63);
        if ((pattern[i >> 6] & bit) != 0)
          continue;  // each pair of patterns once, from the side where i is off
        const std::uint64_t number = patterns.changed(patterns.number(p), i);
        if (!patterns.may_have(number)) continue;
        flipped[i >> 6] ^= bit;
        if (const auto partner = patterns.find(flipped, number)) {
          const auto on_there = patterns.on(*partner), off_there = patterns.off(*partner);
          for (std::size_t w = 0; w < rows[i].size(); ++w)
            rows[i][w] |= (on[w] & off_there[w]) | (off[w] & on_there[w]);
        }
        flipped[i >> 6] ^= bit;
      }
    }
    return rows;
  }
};

std::uint64_t count_bits(const Words& words) {
  std::uint64_t count = 0;
  for (const std::uint64_t word : words) count += std::popcount(word);
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
      pairs_.push_back({first.layer + " -> " + second.layer, setup.layers[i], setup.layers[i + 1],
                        first.neurons(), second.neurons(), attainable_of(first), attainable_of(second),
                        Patterns(first.neurons(), second.neurons())});
    }
    if (pairs_.empty())
      fail(Fault::usage, "ss looks at pairs of consecutive layers, but only one layer counts");
  }

  void observe(const ActivationBatch& batch) override {
    Words patterns = signs_of(batch.layers[pairs_.front().first]), off;
    for (LayerPair& pair : pairs_) {
      Words next = signs_of(batch.layers[pair.second]);
      const std::size_t in = words_for(pair.from), out = words_for(pair.to);
      for (std::size_t r = 0; r < batch.indices.size(); ++r) {
        const std::span pattern = std::span(patterns).subspan(r * in, in),
                        on = std::span(next).subspan(r * out, out);
        off.assign(on.begin(), on.end());
        for (std::uint64_t& word : off) word = ~word;
        if (pair.to % 64 != 0) off.back() &= (std::uint64_t{1} << (pair.to % 64)) - 1;
        pair.patterns.add(pattern, on, off);
      }
      patterns = std::move(next);
    }
  }

  // A neuron whose change of sign alone gives a pattern that no record has.
  std::vector<std::vector<Aim>> aims(const ActivationBatch& batch, std::size_t row) const override {
    std::vector<std::vector<Aim>> ways;
    for (const LayerPair& pair : pairs_) {
      const auto values = batch.layers[pair.first].row(row);
      Words pattern = signs_of(Activations{1, values.size(), {values.begin(), values.end()}});
      const std::uint64_t number = pair.patterns.number(pattern);
      for (std::size_t n = 0; n < pair.from; ++n) {
        const std::uint64_t bit = std::uint64_t{1} << (n & 63);
        pattern[n >> 6] ^= bit;
        const bool on = (pattern[n >> 6] & bit) != 0;
        if (!pair.patterns.find(pattern, pair.patterns.changed(number, n)))
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
      const Patterns& there = same.pairs_[p].patterns;
      for (std::size_t i = 0; i < there.size(); ++i)
        pairs_[p].patterns.add(there.pattern(i), there.on(i), there.off(i));
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
      std::vector<std::size_t> order(pair.patterns.size());
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
        return std::ranges::lexicographical_compare(pair.patterns.pattern(a), pair.patterns.pattern(b));
      });
      std::vector<std::uint8_t> bytes;
      for (const std::size_t i : order) {
        for (const auto words : {pair.patterns.pattern(i), pair.patterns.on(i), pair.patterns.off(i)}) {
          const auto* begin = reinterpret_cast<const std::uint8_t*>(words.data());
          bytes.insert(bytes.end(), begin, begin + words.size() * 8);
        }
      }
      json.push_back(Json::binary(std::move(bytes)));
    }
    return json;
  }

  void load(const Json& state) override {
    require_layers(state, pairs_.size(), spec_);
    for (std::size_t p = 0; p < pairs_.size(); ++p) {
      LayerPair& pair = pairs_[p];
      const auto& bytes = state[p].get_binary();
      const std::size_t in = words_for(pair.from), out = words_for(pair.to), entry = 8 * (in + 2 * out);
      if (bytes.size() % entry != 0)
        throw std::runtime_error(spec_ + ": its list of sign patterns is cut off");
      pair.patterns = Patterns(pair.from, pair.to);
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
        pair.patterns.add(pattern, on, off);
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
    const auto fits = [](const LayerPair& a, const LayerPair& b) {
      return a.name == b.name && a.from == b.from && a.to == b.to;
    };
    return same_criterion<SignSignCoverage>(other, spec_, [&](const SignSignCoverage& theirs) {
      return theirs.spec_ == spec_ && std::ranges::equal(pairs_, theirs.pairs_, fits);
    });
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
              "the order of computation, even next to a branch",
          .paper = "Sun et al., Testing Deep Neural Networks, arXiv:1803.04792",
          .options = {},
          .make = [](const CriterionSetup& setup) -> std::unique_ptr<Criterion> {
            return std::make_unique<SignSignCoverage>(setup);
          }};
}

}  // namespace assay::coverage
