#include "assay/coverage/criteria/surprise_criterion.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <assay/error.h>
#include <assay/extend/abilities.h>
#include <assay/extend/criteria.h>
#include "assay/support/files/binary.h"
#include "assay/support/text/so_many.h"
#include "assay/support/text/text.h"

namespace assay::coverage {
namespace {

using Json = nlohmann::json;

constexpr std::size_t most_waiting = 8192;  // records

// A record with several rows, which are its items, is as surprising as the most surprising of them.
void keep_greatest(std::map<std::size_t, double>& values, std::size_t record, double value) {
  const auto [found, added] = values.emplace(record, value);
  if (!added && (std::isnan(found->second) || value > found->second)) found->second = value;
}

bool by_label(const SpecOptions& options) {
  static const std::array<std::string, 2> words{"predicted", "labels"};
  return options.word("classes", words) == words[1];
}

}  // namespace

std::vector<WholeLayer> traced_layers(const CriterionSetup& setup, std::size_t items) {
  std::vector<WholeLayer> layers;
  for (const std::size_t position : setup.layers) {
    const std::string& name = setup.profile.statistics[position].layer;
    if (std::ranges::find(setup.profile.traced, name) != setup.profile.traced.end())
      layers.push_back({position, items});
  }
  if (layers.empty())
    fail(Fault::mismatch, "{}: the profile has no traces of these layers; learn it again with {}",
         setup.spec.text(), setup.spec.name);
  return layers;
}

std::shared_ptr<const LayerTraces> traces_of(const Profile& profile, const std::string& layer) {
  const auto found =
      std::ranges::find(profile.traces, layer, [](const auto& traces) { return traces->layer; });
  return found == profile.traces.end() ? nullptr : *found;
}

std::vector<SpecOption> surprise_options(const std::string& upper) {
  return {{"upper", upper, "greatest surprise in a bucket; records above it are reported"},
          {"lower", "0", "least surprise; records at or below it are reported"},
          {"buckets", "1000", "equal parts of (lower, upper]"},
          {"classes", "predicted",
           "whose training traces a record is compared with: of the class predicted, or labels"}};
}

SurpriseCriterion::SurpriseCriterion(const CriterionSetup& setup)
    : ItemCriterion(setup, traced_layers(setup, setup.options.count("buckets", 1))),
      lower_(setup.options.number("lower")),
      upper_(setup.options.number("upper")),
      buckets_(setup.options.count("buckets", 1)),
      by_label_(by_label(setup.options)),
      waiting_(layers().size()),
      values_(layers().size()) {
  if (!(lower_ < upper_)) fail(Fault::usage, "{}: upper must be greater than lower", spec());
  for (const LayerItems& layer : layers()) {
    means_.push_back(setup.profile.statistics[layer.position].mean);
    traces_.push_back(traces_of(setup.profile, layer.name));
  }
}

std::vector<std::int32_t> SurpriseCriterion::training_classes(const LayerTraces& training) const {
  const std::vector<std::int64_t>& classes = by_label_ ? training.labels : training.predicted;
  if (classes.empty()) return std::vector<std::int32_t>(training.values.size() / training.dimensions, 0);
  return {classes.begin(), classes.end()};
}

std::vector<SingularCovariance> SurpriseCriterion::singular_covariances() const {
  std::vector<SingularCovariance> found;
  for (std::size_t l = 0; l < traces_.size(); ++l) {
    if (!traces_[l]) continue;
    for (const auto& [of_class, added] : regularised(*traces_[l]))
      found.push_back({layers()[l].name, of_class, added});
  }
  return found;
}

std::vector<std::vector<Aim>> SurpriseCriterion::aims(const ActivationBatch& batch, std::size_t row) const {
  settle();
  std::vector<std::vector<Aim>> ways;
  for (std::size_t l = 0; l < layers().size(); ++l) {
    const LayerItems& layer = layers()[l];
    bool any_open = false;
    for (std::size_t item = 0; item < buckets_ && !any_open; ++item) any_open = open(layer, item);
    if (any_open)
      ways.push_back(away_from_mean(layer.position, means_[l], batch.layers[layer.position].row(row)));
  }
  return ways;
}

void SurpriseCriterion::observe(const ActivationBatch& batch) {
  const std::span<const std::int64_t> classes = by_label_ ? batch.labels : batch.predicted;
  if (by_label_ && classes.empty())
    fail(Fault::data, "{}: the records have no labels; use classes=predicted", spec());
  for (std::size_t l = 0; l < layers().size(); ++l) {
    if (!traces_[l])
      fail(Fault::mismatch,
           "{}: the state holds no training traces; measure with the profile it was made with", spec());
    Waiting& waiting = waiting_[l];
    const Activations& activations = batch.layers[layers()[l].position];
    waiting.records.insert(waiting.records.end(), batch.indices.begin(), batch.indices.end());
    waiting.values.insert(waiting.values.end(), activations.values.begin(), activations.values.end());
    for (std::size_t r = 0; r < batch.indices.size(); ++r)
      waiting.classes.push_back(classes.empty() ? 0 : static_cast<std::int32_t>(classes[r]));
  }
  if (waiting_[0].records.size() >= most_waiting) settle();
}

void SurpriseCriterion::settle() const {
  auto& self = const_cast<SurpriseCriterion&>(*this);  // covers items that were observed before
  for (std::size_t l = 0; l < waiting_.size(); ++l) {
    const Waiting waiting = std::exchange(waiting_[l], {});
    if (waiting.records.empty()) continue;
    const std::vector<double> scores =
        score(*traces_[l], {waiting.values, traces_[l]->dimensions, waiting.classes});
    for (std::size_t i = 0; i < scores.size(); ++i) {
      keep_greatest(values_[l], waiting.records[i], scores[i]);
      const surprise::SurpriseBucket bucket = surprise::surprise_bucket(scores[i], lower_, upper_, buckets_);
      if (bucket.place == surprise::BucketPlace::inside)
        self.cover(self.layers()[l], bucket.index, waiting.records[i]);
    }
  }
}

void SurpriseCriterion::merge(const Criterion& other) {
  settle();
  const auto* same = dynamic_cast<const SurpriseCriterion*>(&other);
  if (same != nullptr) same->settle();
  ItemCriterion::merge(other);
  for (std::size_t l = 0; same != nullptr && l < values_.size(); ++l) {
    for (const auto& [record, value] : same->values_[l]) keep_greatest(values_[l], record, value);
  }
}

std::vector<Coverage> SurpriseCriterion::result() const {
  settle();
  return ItemCriterion::result();
}

Json SurpriseCriterion::save() const {
  settle();
  Json values = Json::array();
  for (const auto& of_layer : values_) {
    std::vector<std::uint64_t> records;
    std::vector<double> numbers;
    for (const auto& [record, value] : of_layer) {
      records.push_back(record);
      numbers.push_back(value);
    }
    values.push_back({to_binary(records), to_binary(numbers)});
  }
  return {{"buckets", ItemCriterion::save()}, {"values", std::move(values)}};
}

void SurpriseCriterion::load(const Json& state) {
  ItemCriterion::load(state.at("buckets"));
  const Json& values = state.at("values");
  if (values.size() != values_.size())
    throw std::runtime_error(spec() + ": it has other layers than its profile");
  for (std::size_t l = 0; l < values_.size(); ++l) {
    const std::vector<std::uint64_t> records = from_binary<std::uint64_t>(values[l].at(0));
    const std::vector<double> numbers = from_binary<double>(values[l].at(1), records.size());
    values_[l].clear();
    for (std::size_t i = 0; i < records.size(); ++i) values_[l].emplace(records[i], numbers[i]);
  }
}

std::vector<Difference> SurpriseCriterion::difference(const Criterion& other, std::size_t examples) const {
  settle();
  if (const auto* there = dynamic_cast<const SurpriseCriterion*>(&other)) there->settle();
  return ItemCriterion::difference(other, examples);
}

RecordValues SurpriseCriterion::values() const {
  settle();
  return {spec(), {values_[0].begin(), values_[0].end()}};
}

std::vector<std::size_t> SurpriseCriterion::first_records() const {
  settle();
  return ItemCriterion::first_records();
}

std::string SurpriseCriterion::whole_item_name(const LayerItems&, std::size_t item) const {
  const double width = (upper_ - lower_) / buckets_;
  return fmt::format("({:g}, {:g}]", lower_ + width * item, lower_ + width * (item + 1));
}

std::string SurpriseCriterion::remark(std::size_t layer) const {
  std::size_t above = 0, below = 0, undefined = 0;
  for (const auto& [record, value] : values_[layer]) {
    if (!std::isfinite(value))
      ++undefined;
    else if (value > upper_)
      ++above;
    else if (value <= lower_)
      ++below;
  }
  std::vector<std::string> texts;
  if (above > 0) texts.push_back(fmt::format("{} above {:g}", so_many(above, "record"), upper_));
  if (below > 0) texts.push_back(fmt::format("{} at or below {:g}", below, lower_));
  if (undefined > 0) texts.push_back(fmt::format("{} without a finite value", undefined));
  return joined(texts);
}

}  // namespace assay::coverage
