#include "assay/coverage/criteria/items.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include <assay/error.h>
#include <assay/extend/abilities.h>
#include <assay/extend/criteria.h>
#include "assay/coverage/criteria/same_criterion.h"
#include "assay/support/files/binary.h"
#include "assay/support/numbers/exact_count.h"
#include "assay/support/text/text.h"

namespace assay::coverage {
namespace {

using Json = nlohmann::json;

std::string reasons(const LayerStatistics& layer) {
  std::size_t constant = 0, duplicate = 0;
  for (std::size_t n = 0; n < layer.neurons(); ++n) {
    if (!layer.counts(n)) continue;
    if (layer.constant(n))
      ++constant;
    else if (layer.duplicate(n))
      ++duplicate;
  }
  std::vector<std::string> texts;
  if (constant > 0) texts.push_back(fmt::format("{} constant in training", constant));
  if (duplicate > 0) texts.push_back(fmt::format("{} the same as another", duplicate));
  return joined(texts);
}

// Counts decide; a custom criterion may leave the value beside them out.
void make_consistent(Coverage& row, const std::string& name) {
  constexpr double rounding = 1e-9;
  const auto covered = ExactCount::parse(row.covered), coverable = ExactCount::parse(row.coverable);
  if (!covered || !coverable) return;
  if (*covered > *coverable)
    fail(Fault::usage, "criterion {}: result() gives {} of {} for '{}', more than there is", name,
         row.covered, row.coverable, row.layer);
  if (coverable->is_zero() || !std::isfinite(coverable->to_double())) return;
  const double ratio = covered->to_double() / coverable->to_double();
  if (!(std::fabs(row.value - ratio) <= rounding)) row.value = ratio;
}

}  // namespace

std::vector<Coverage> result_of(const Criterion& criterion, const std::string& name) {
  std::vector<Coverage> rows = criterion.result();
  if (rows.empty())
    fail(Fault::usage, "criterion {}: result() gives nothing; give a row for a layer or \"all\"", name);
  const auto whole = [](const std::string& count) {
    return count.find_first_not_of("0123456789") == std::string::npos;
  };
  for (Coverage& row : rows) {
    if (!whole(row.covered) || !whole(row.coverable) || (row.covered.empty() && !row.coverable.empty()))
      fail(Fault::usage, "criterion {}: result() gives {} of {} for '{}'; whole numbers are wanted", name,
           row.covered, row.coverable, row.layer);
    make_consistent(row, name);
  }
  return rows;
}

Coverage coverage_of(std::string layer, std::uint64_t covered, std::uint64_t coverable) {
  return coverage_of(std::move(layer), covered, coverable, covered, coverable);
}

Coverage coverage_of(std::string layer, std::uint64_t covered, std::uint64_t coverable,
                     std::uint64_t attainable_covered, std::uint64_t attainable) {
  const auto share = [](std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0.0 : static_cast<double>(part) / whole;
  };
  return {.layer = std::move(layer),
          .covered = std::to_string(covered),
          .coverable = std::to_string(coverable),
          .value = share(covered, coverable),
          .attainable_covered = std::to_string(attainable_covered),
          .attainable = std::to_string(attainable),
          .attainable_value = share(attainable_covered, attainable),
          .note = {}};
}

void Difference::add(std::size_t most, bool here, const std::function<std::string()>& item,
                     std::optional<std::size_t> record, std::optional<std::size_t> neuron) {
  std::uint64_t& count = here ? only_here : only_there;
  if (count++ < most) examples.push_back({here, item(), record});
  if (record) ++(here ? records_here : records_there)[*record];
  if (!neuron) return;
  Sides& sides = neurons[*neuron];
  ++(here ? sides.here : sides.there);
}

ItemCriterion::ItemCriterion(const CriterionSetup& setup, std::size_t items_per_neuron, Keep keep)
    : spec_(setup.spec.text()), per_neuron_(items_per_neuron), keep_(keep) {
  for (const std::size_t position : setup.layers) {
    const LayerStatistics& statistics = setup.profile.statistics[position];
    const std::uint64_t offset =
        layers_.empty() ? 0 : layers_.back().offset + layers_.back().neurons * per_neuron_;
    LayerItems layer{.name = statistics.layer,
                     .position = position,
                     .neurons = statistics.neurons(),
                     .offset = offset,
                     .bits = {},
                     .first = {},
                     .counted = {},
                     .attainable = {},
                     .note = reasons(statistics)};
    if (!statistics.chosen.empty()) {
      layer.counted.assign(layer.neurons, false);
      for (const std::size_t n : statistics.chosen) layer.counted[n] = true;
    }
    if (!layer.note.empty()) {
      layer.attainable.assign(layer.neurons * per_neuron_, true);
      for (std::size_t n = 0; n < layer.neurons; ++n) {
        if (!statistics.constant(n) && !statistics.duplicate(n)) continue;
        std::fill_n(layer.attainable.begin() + n * per_neuron_, per_neuron_, false);
      }
    }
    allocate(layer);
    layers_.push_back(std::move(layer));
  }
}

ItemCriterion::ItemCriterion(const CriterionSetup& setup, std::span<const WholeLayer> layers)
    : spec_(setup.spec.text()), per_neuron_(1), keep_(Keep::first_record), adds_up_(false) {
  std::uint64_t offset = 0;
  for (const WholeLayer& whole : layers) {
    LayerItems layer{.name = setup.profile.statistics[whole.position].layer,
                     .position = whole.position,
                     .neurons = whole.items,
                     .offset = offset,
                     .bits = {},
                     .first = {},
                     .counted = {},
                     .attainable = {},
                     .note = {}};
    allocate(layer);
    offset += whole.items;
    layers_.push_back(std::move(layer));
  }
}

void ItemCriterion::allocate(LayerItems& layer) {
  const std::size_t items = layer.neurons * per_neuron_;
  if (keep_ == Keep::bit)
    layer.bits.assign((items + 63) / 64, 0);
  else
    layer.first.assign(items, none);
}

void ItemCriterion::cover_one_each(LayerItems& layer, std::span<const double> items, std::size_t record) {
  std::uint64_t* const bits = layer.bits.data();
  const std::size_t per_neuron = per_neuron_;
  for (std::size_t n = 0; n < items.size(); ++n) {
    if (items[n] < 0) continue;
    const std::size_t item = n * per_neuron + static_cast<std::size_t>(static_cast<std::int64_t>(items[n]));
    bits[item >> 6] |= std::uint64_t{1} << (item & 63);
    if (collected_ != nullptr) (*collected_)[record].push_back(layer.offset + item);
  }
}

void ItemCriterion::cover_above(LayerItems& layer, const ActivationBatch& batch, Bound kind,
                                std::span<const float> bounds) {
  const Activations& activations = batch.layers[layer.position];
  if (collected_ == nullptr && layer.counted.empty())
    return first_above(activations, batch.indices, kind, bounds, layer.first);
  for (std::size_t r = 0; r < activations.rows; ++r) {
    const auto row = activations.row(r);
    for (std::size_t n = 0; n < row.size(); ++n) {
      if (row[n] > bounds[kind == Bound::of_neuron ? n : r]) cover(layer, n, batch.indices[r]);
    }
  }
}

const ItemCriterion& ItemCriterion::same_kind(const Criterion& other) const {
  const auto fits = [](const LayerItems& a, const LayerItems& b) {
    return a.name == b.name && a.neurons == b.neurons;
  };
  return same_criterion<ItemCriterion>(other, spec_, [&](const ItemCriterion& theirs) {
    return theirs.spec_ == spec_ && theirs.per_neuron_ == per_neuron_ &&
           std::ranges::equal(layers_, theirs.layers_, fits);
  });
}

void ItemCriterion::merge(const Criterion& other) {
  const ItemCriterion& same = same_kind(other);
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    LayerItems& ours = layers_[l];
    const LayerItems& theirs = same.layers_[l];
    for (std::size_t i = 0; i < ours.bits.size(); ++i) ours.bits[i] |= theirs.bits[i];
    for (std::size_t i = 0; i < ours.first.size(); ++i)
      ours.first[i] = std::min(ours.first[i], theirs.first[i]);
  }
}

std::vector<Coverage> ItemCriterion::result() const {
  std::vector<Coverage> rows;
  std::uint64_t sums[4] = {};
  bool any_note = false;
  for (const LayerItems& layer : layers_) {
    std::uint64_t here[4] = {};  // covered, coverable, attainable covered, attainable
    const std::size_t items = layer.neurons * per_neuron_;
    if (layer.counted.empty() && layer.attainable.empty() && keep_ == Keep::bit) {
      for (const std::uint64_t word : layer.bits) here[0] += std::popcount(word);
      here[1] = here[3] = items;
      here[2] = here[0];
    } else {
      for (std::size_t i = 0; i < items; ++i) {
        const bool counts = layer.counted.empty() || layer.counted[i / per_neuron_];
        if (!counts) continue;
        const bool is_covered = covered(layer, i), can = layer.attainable.empty() || layer.attainable[i];
        here[0] += is_covered;
        here[1] += 1;
        here[2] += is_covered && can;
        here[3] += can;
      }
    }
    rows.push_back(coverage_of(layer.name, here[0], here[1], here[2], here[3]));
    const std::string more = remark(rows.size() - 1);
    rows.back().note = layer.note + (layer.note.empty() || more.empty() ? "" : "; ") + more;
    any_note |= here[3] != here[1];
    for (int i = 0; i < 4; ++i) sums[i] += here[i];
  }
  if (adds_up_) {
    rows.push_back(coverage_of("all", sums[0], sums[1], sums[2], sums[3]));
    if (any_note)
      rows.back().note = fmt::format("items that cannot be covered or repeat others: {}", sums[1] - sums[3]);
  }
  return rows;
}

Json ItemCriterion::save() const {
  Json json = Json::array();
  for (const LayerItems& layer : layers_)
    json.push_back(keep_ == Keep::bit ? to_binary(layer.bits) : to_binary(layer.first));
  return json;
}

void ItemCriterion::load(const Json& state) {
  require_layers(state, layers_.size(), spec_);
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    if (keep_ == Keep::bit)
      layers_[l].bits = from_binary<std::uint64_t>(state[l], layers_[l].bits.size());
    else
      layers_[l].first = from_binary<std::uint32_t>(state[l], layers_[l].first.size());
    const std::size_t spare = layers_[l].neurons * per_neuron_ & 63;
    if (keep_ == Keep::bit && spare != 0 && layers_[l].bits.back() >> spare != 0)
      throw std::runtime_error(spec_ + ": items that do not exist are covered");
  }
}

std::vector<Difference> ItemCriterion::difference(const Criterion& other, std::size_t examples) const {
  const auto* there = dynamic_cast<const ItemCriterion*>(&other);
  if (there == nullptr || there->per_neuron_ != per_neuron_) {
    fail(Fault::mismatch, "{} cannot be compared with another criterion or other options", spec_);
  }
  std::vector<Difference> differences;
  for (const LayerItems& ours : layers_) {
    const auto match = std::ranges::find(there->layers_, ours.name, &LayerItems::name);
    if (match == there->layers_.end() || match->neurons != ours.neurons) continue;
    Difference difference;
    difference.layer = ours.name;
    for (std::size_t i = 0; i < ours.neurons * per_neuron_; ++i) {
      const bool here = covered(ours, i), beyond = there->covered(*match, i);
      if (here && beyond) ++difference.both;
      if (here == beyond) continue;
      const std::size_t neuron = i / per_neuron_;
      const auto name = [&] {
        if (!adds_up_) return whole_item_name(ours, i);
        return per_neuron_ == 1 ? fmt::format("neuron {}", neuron)
                                : fmt::format("neuron {}, {}", neuron, item_name(i % per_neuron_));
      };
      const LayerItems& owner = here ? ours : *match;
      difference.add(examples, here, name,
                     keep_ == Keep::first_record ? std::optional<std::size_t>(owner.first[i]) : std::nullopt,
                     adds_up_ ? std::optional(neuron) : std::nullopt);
    }
    differences.push_back(std::move(difference));
  }
  return differences;
}

std::vector<std::vector<Aim>> ItemCriterion::aims(const ActivationBatch& batch, std::size_t row) const {
  std::vector<std::vector<Aim>> ways;
  for (const LayerItems& layer : layers_) {
    const Wanted find = wanted(layer, batch, row);
    for (std::size_t n = 0; n < layer.neurons; ++n) {
      std::optional<Aim> aim = find(n);
      if (!aim) continue;
      aim->layer = layer.position;
      aim->neuron = n;
      ways.push_back({*aim});
    }
  }
  return ways;
}

std::vector<Aim> away_from_mean(std::size_t layer, std::span<const double> mean,
                                std::span<const float> activations) {
  std::vector<Aim> aims;
  for (std::size_t n = 0; n < activations.size(); ++n) {
    Aim aim{.layer = layer, .neuron = n, .beyond = true};
    (activations[n] < mean[n] ? aim.high : aim.low) = mean[n];
    aims.push_back(aim);
  }
  return aims;
}

std::vector<std::size_t> ItemCriterion::first_records() const {
  std::set<std::size_t> records;
  for (const LayerItems& layer : layers_) {
    for (const std::uint32_t record : layer.first) {
      if (record != none) records.insert(record);
    }
  }
  return {records.begin(), records.end()};
}

void ItemCriterion::each_covered(const std::function<void(std::uint64_t)>& visit) const {
  for (const LayerItems& layer : layers_) {
    for (std::size_t i = 0; i < layer.neurons * per_neuron_; ++i) {
      if (covered(layer, i)) visit(layer.offset + i);
    }
  }
}

std::vector<Itemised::NeuronCoverage> ItemCriterion::neurons(std::size_t position) const {
  const auto layer = std::ranges::find(layers_, position, &LayerItems::position);
  if (!adds_up_ || layer == layers_.end()) return {};
  std::vector<NeuronCoverage> result(layer->neurons);
  for (std::size_t n = 0; n < layer->neurons; ++n) {
    NeuronCoverage& neuron = result[n];
    if (!layer->counted.empty() && !layer->counted[n]) continue;
    neuron.coverable = static_cast<std::uint32_t>(per_neuron_);
    for (std::size_t i = n * per_neuron_; i < (n + 1) * per_neuron_; ++i) {
      if (!covered(*layer, i)) continue;
      ++neuron.covered;
      if (keep_ == Keep::first_record)
        neuron.first = std::min<std::size_t>(neuron.first.value_or(none), layer->first[i]);
    }
  }
  return result;
}

}  // namespace assay::coverage
