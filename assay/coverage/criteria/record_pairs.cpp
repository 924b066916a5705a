#include "assay/coverage/criteria/record_pairs.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include <assay/error.h>
#include "assay/coverage/criteria/same_criterion.h"

namespace assay::coverage {
namespace {

using Json = nlohmann::json;
constexpr std::size_t no_neuron = -1;

std::uint64_t ones(const std::vector<bool>& bits) { return std::ranges::count(bits, true); }

std::vector<bool> pattern_of(const std::vector<float>& row, std::size_t neurons) {
  std::vector<bool> pattern(neurons);
  for (std::size_t n = 0; n < neurons; ++n) pattern[n] = row[n] > 0;
  return pattern;
}

std::vector<std::uint8_t> bytes_of(const std::vector<bool>& bits) { return {bits.begin(), bits.end()}; }

bool can_change(const LayerStatistics& layer, std::size_t neuron) {
  return !layer.constant(neuron) && !layer.duplicate(neuron);
}

// Throws Error{usage} unless it is above 1.
double factor_option(const CriterionSetup& setup, const std::string& name) {
  const double factor = setup.options.number(name);
  if (!(factor > 1)) fail(Fault::usage, "{}: {} is {}; it must be above 1", setup.spec.text(), name, factor);
  return factor;
}

}  // namespace

RecordPairs::RecordPairs(const CriterionSetup& setup, const PairConditions& conditions)
    : spec_(setup.spec.text()), conditions_(conditions) {
  for (std::size_t l = 0; l + 1 < setup.layers.size(); ++l) {
    const LayerStatistics &first = setup.profile.statistics[setup.layers[l]],
                          &second = setup.profile.statistics[setup.layers[l + 1]];
    LayerPair pair{first.layer + " -> " + second.layer,
                   setup.layers[l],
                   setup.layers[l + 1],
                   first.neurons(),
                   second.neurons(),
                   {},
                   {},
                   0,
                   {}};
    pair.open = pair.from * pair.to;
    pair.covered.resize(pair.open);
    for (std::size_t item = 0; item < pair.open; ++item)
      pair.attainable.push_back(can_change(first, item / pair.to) && can_change(second, item % pair.to));
    pairs_.push_back(std::move(pair));
  }
  if (pairs_.empty())
    fail(Fault::usage, "{} looks at pairs of consecutive layers, but only one layer counts", spec_);
}

bool RecordPairs::changes(Change change, double factor, float a, float b) const {
  if ((a > 0) != (b > 0)) return change == Change::sign;
  if (change == Change::sign || a == b) return false;
  const double first = std::abs(a), second = std::abs(b);
  return std::max(first, second) >= factor * std::min(first, second);
}

// Item (i, j) for each j of the next layer that changes.
void RecordPairs::cover(LayerPair& pair, const Row& a, const Row& b, std::size_t i) const {
  for (std::size_t j = 0; j < pair.to; ++j) {
    const std::size_t item = i * pair.to + j;
    if (pair.covered[item]) continue;
    if (!changes(conditions_.effect, conditions_.effect_factor, a[pair.from + j], b[pair.from + j])) continue;
    pair.covered[item] = true;
    --pair.open;
  }
}

// `flipped`: the only neuron of the first layer that differs in sign, if any does.
void RecordPairs::compare(LayerPair& pair, const Row& a, const Row& b, std::size_t flipped) const {
  if (flipped != no_neuron) return cover(pair, a, b, flipped);
  for (std::size_t i = 0; i < pair.from; ++i) {
    if (changes(conditions_.cause, conditions_.cause_factor, a[i], b[i])) cover(pair, a, b, i);
  }
}

void RecordPairs::add(LayerPair& pair, Row row) const {
  Pattern pattern = pattern_of(row, pair.from);
  const auto with_all = [&](const Pattern& partners, std::size_t flipped) {
    const auto found = pair.records.find(partners);
    if (found == pair.records.end()) return;
    for (const Row& other : found->second) {
      if (pair.open == 0) return;
      compare(pair, row, other, flipped);
    }
  };
  if (conditions_.cause == Change::value) with_all(pattern, no_neuron);
  for (std::size_t i = 0; conditions_.cause == Change::sign && i < pair.from; ++i) {
    pattern[i].flip();
    with_all(pattern, i);
    pattern[i].flip();
  }
  pair.records[std::move(pattern)].push_back(std::move(row));
}

void RecordPairs::observe(const ActivationBatch& batch) {
  for (LayerPair& pair : pairs_) {
    for (std::size_t r = 0; r < batch.indices.size(); ++r) {
      const auto first = batch.layers[pair.first].row(r), second = batch.layers[pair.second].row(r);
      Row row(first.begin(), first.end());
      row.insert(row.end(), second.begin(), second.end());
      add(pair, std::move(row));
    }
  }
}

void RecordPairs::merge(const Criterion& other) {
  const RecordPairs& same = same_kind(other);
  for (std::size_t p = 0; p < pairs_.size(); ++p) {
    for (std::size_t item = 0; item < pairs_[p].covered.size(); ++item) {
      if (!same.pairs_[p].covered[item] || pairs_[p].covered[item]) continue;
      pairs_[p].covered[item] = true;
      --pairs_[p].open;
    }
    for (const auto& [pattern, rows] : same.pairs_[p].records) {
      for (const Row& row : rows) add(pairs_[p], row);
    }
  }
}

std::vector<Coverage> RecordPairs::result() const {
  std::vector<Coverage> rows;
  std::uint64_t covered = 0, coverable = 0, attained = 0, attainable = 0;
  for (const LayerPair& pair : pairs_) {
    Items both = pair.covered;
    for (std::size_t item = 0; item < both.size(); ++item) both[item] = both[item] && pair.attainable[item];
    const std::uint64_t here = ones(pair.covered), reach = ones(pair.attainable), reached = ones(both);
    rows.push_back(coverage_of(pair.name, here, pair.covered.size(), reached, reach));
    covered += here;
    coverable += pair.covered.size();
    attained += reached;
    attainable += reach;
  }
  rows.push_back(coverage_of("all", covered, coverable, attained, attainable));
  return rows;
}

// By layer pair: what is covered, and all rows in ascending order of their bytes.
Json RecordPairs::save() const {
  Json json = Json::array();
  for (const LayerPair& pair : pairs_) {
    std::vector<std::string> rows;
    for (const auto& [pattern, records] : pair.records) {
      for (const Row& row : records)
        rows.emplace_back(reinterpret_cast<const char*>(row.data()), row.size() * sizeof(float));
    }
    std::ranges::sort(rows);
    std::vector<std::uint8_t> bytes;
    for (const std::string& row : rows) bytes.insert(bytes.end(), row.begin(), row.end());
    json.push_back(
        {{"covered", Json::binary(bytes_of(pair.covered))}, {"rows", Json::binary(std::move(bytes))}});
  }
  return json;
}

void RecordPairs::load(const Json& state) {
  require_layers(state, pairs_.size(), spec_);
  for (std::size_t p = 0; p < pairs_.size(); ++p) {
    LayerPair& pair = pairs_[p];
    const auto& covered = state[p].at("covered").get_binary();
    const auto& bytes = state[p].at("rows").get_binary();
    const std::size_t row_bytes = (pair.from + pair.to) * sizeof(float);
    if (covered.size() != pair.covered.size() || bytes.size() % row_bytes != 0)
      throw std::runtime_error(spec_ + ": its activations are cut off");
    for (std::size_t item = 0; item < covered.size(); ++item) pair.covered[item] = covered[item] != 0;
    pair.open = pair.covered.size() - ones(pair.covered);
    pair.records.clear();
    for (std::size_t at = 0; at < bytes.size(); at += row_bytes) {
      Row row(pair.from + pair.to);
      std::memcpy(row.data(), bytes.data() + at, row_bytes);
      Pattern pattern = pattern_of(row, pair.from);
      pair.records[std::move(pattern)].push_back(std::move(row));
    }
  }
}

std::vector<Difference> RecordPairs::difference(const Criterion& other, std::size_t examples) const {
  const auto* there = dynamic_cast<const RecordPairs*>(&other);
  if (there == nullptr) fail(Fault::mismatch, "{} cannot be compared with another criterion", spec_);
  std::vector<Difference> differences;
  for (const LayerPair& pair : pairs_) {
    const auto match = std::ranges::find(there->pairs_, pair.name, &LayerPair::name);
    if (match == there->pairs_.end() || match->from != pair.from || match->to != pair.to) continue;
    Difference difference;
    difference.layer = pair.name;
    for (std::size_t item = 0; item < pair.covered.size(); ++item) {
      const bool here = pair.covered[item], beyond = match->covered[item];
      if (here && beyond) ++difference.both;
      if (here == beyond) continue;
      const std::size_t i = item / pair.to, j = item % pair.to;
      difference.add(
          examples, here, [&] { return fmt::format("neuron {} on neuron {}", i, j); }, {}, i);
    }
    differences.push_back(std::move(difference));
  }
  return differences;
}

// Where the activation of a neuron should go to be one that changed.
Aim RecordPairs::aim_of(const LayerPair& pair, std::size_t neuron, float value) const {
  Aim aim{.layer = pair.first, .neuron = neuron};
  const double beyond = conditions_.cause_factor * value;
  if (conditions_.cause == Change::sign && value > 0)
    aim.high = 0;
  else if (conditions_.cause == Change::value && value < 0)
    aim.high = beyond;
  else
    aim.low = conditions_.cause == Change::sign ? 0 : beyond;
  aim.beyond = aim.high > 0;
  return aim;
}

std::vector<std::vector<Aim>> RecordPairs::aims(const ActivationBatch& batch, std::size_t row) const {
  std::vector<std::vector<Aim>> ways;
  for (const LayerPair& pair : pairs_) {
    const auto values = batch.layers[pair.first].row(row);
    for (std::size_t i = 0; i < pair.from; ++i) {
      const auto begin = pair.covered.begin() + i * pair.to;
      const bool all = std::all_of(begin, begin + pair.to, [](bool is) { return is; });
      if (!all) ways.push_back({aim_of(pair, i, values[i])});
    }
  }
  return ways;
}

const RecordPairs& RecordPairs::same_kind(const Criterion& other) const {
  const auto fits = [](const LayerPair& a, const LayerPair& b) {
    return a.name == b.name && a.from == b.from && a.to == b.to;
  };
  return same_criterion<RecordPairs>(other, spec_, [&](const RecordPairs& theirs) {
    return theirs.spec_ == spec_ && std::ranges::equal(pairs_, theirs.pairs_, fits);
  });
}

CriterionInfo pair_criterion(Change cause, Change effect, std::string name, std::string summary,
                             std::string definition) {
  std::vector<SpecOption> options;
  const auto add_factor = [&](const char* option, const char* neuron) {
    options.push_back(
        {option, "2",
         fmt::format("how many times the activation of the {} neuron has to be that of the other record",
                     neuron)});
  };
  if (cause == Change::value) add_factor("factor", "first");
  if (effect == Change::value) add_factor("effect", "second");
  return {
      .name = std::move(name),
      .summary = std::move(summary),
      .definition = std::move(definition),
      .limits =
          "keeps the activations of all records, 4 bytes each and layer pair, and compares records that are "
          "alike: slow where few neurons make few patterns of signs of many records; layers are consecutive "
          "in the order of computation, even next to a branch",
      .paper = "Sun et al., Testing Deep Neural Networks, arXiv:1803.04792",
      .options = std::move(options),
      .keeps_activations = true,
      .make = [cause, effect](const CriterionSetup& setup) -> std::unique_ptr<Criterion> {
        PairConditions conditions{.cause = cause, .effect = effect};
        if (cause == Change::value) conditions.cause_factor = factor_option(setup, "factor");
        if (effect == Change::value) conditions.effect_factor = factor_option(setup, "effect");
        return std::make_unique<RecordPairs>(setup, conditions);
      }};
}

}  // namespace assay::coverage
