// k-multisection neuron coverage (Ma et al., DeepGauge, ASE 2018).

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <assay/extend/abilities.h>
#include <assay/extend/criteria.h>
#include "assay/coverage/criteria/items.h"
#include "assay/support/numbers/vectorised.h"

namespace assay::coverage {
namespace {

// The section of each value, as the whole part of a number; -1 where it lies in none, and for neurons without
// sections. `scale`: sections / (high - low), or 0 for neurons without.
ASSAY_VECTORISED void sections_of(const float* values, const float* low, const float* high,
                                  const double* scale, std::size_t count, double sections,
                                  double* __restrict out) {
  for (std::size_t n = 0; n < count; ++n) {
    const bool inside = (values[n] >= low[n]) & (values[n] <= high[n]) & (scale[n] > 0);
    const double range = inside ? static_cast<double>(high[n]) - low[n] : 1;
    const double place = sections * (static_cast<double>(values[n]) - low[n]) / range;
    out[n] = inside ? std::min(place, sections - 1) : -1.0;
  }
}

// The same without a division; returns false where rounding may have taken a value across a border.
ASSAY_VECTORISED bool sections_by_scale(const float* values, const float* low, const float* high,
                                        const double* scale, std::size_t count, double sections,
                                        double* __restrict out) {
  constexpr double shift = 0x1.8p52;  // adding and subtracting it rounds to integers
  const double rounding = 1e-15 * sections, last = sections - 1;
  int doubtful = 0;
  for (std::size_t n = 0; n < count; ++n) {
    const double place = (static_cast<double>(values[n]) - low[n]) * scale[n];
    const bool inside = (values[n] >= low[n]) & (values[n] <= high[n]) & (scale[n] > 0);
    const double border = place + shift - shift;
    doubtful |= static_cast<int>((border >= 1) & (border <= last) & (std::abs(place - border) <= rounding));
    out[n] = inside ? std::min(place, last) : -1.0;
  }
  return doubtful == 0;
}

class MultisectionCoverage final : public ItemCriterion {
 public:
  explicit MultisectionCoverage(const CriterionSetup& setup)
      : ItemCriterion(setup, setup.options.count("sections", 1), Keep::bit),
        sections_(static_cast<double>(items_per_neuron())) {
    for (LayerItems& layer : layers()) {
      const LayerStatistics& statistics = setup.profile.statistics[layer.position];
      low_.push_back(statistics.low);
      high_.push_back(statistics.high);
      for (std::size_t n = 0; n < layer.neurons; ++n) narrow(layer, statistics, n);
      std::vector<double>& scale = scale_.emplace_back();
      for (std::size_t n = 0; n < layer.neurons; ++n) {
        const bool counts = layer.counted.empty() || layer.counted[n];
        scale.push_back(counts ? sections_ / (static_cast<double>(statistics.high[n]) - statistics.low[n])
                               : 0);
      }
    }
  }

  void observe(const ActivationBatch& batch) override {
    for (std::size_t l = 0; l < layers().size(); ++l) {
      LayerItems& layer = layers()[l];
      std::vector<double> sections(layer.neurons);
      for (std::size_t r = 0; r < batch.indices.size(); ++r) {
        const float *const values = batch.layers[layer.position].row(r).data(), *const low = low_[l].data(),
                           *const high = high_[l].data();
        const double* const scale = scale_[l].data();
        if (!sections_by_scale(values, low, high, scale, layer.neurons, sections_, sections.data()))
          sections_of(values, low, high, scale, layer.neurons, sections_, sections.data());
        cover_one_each(layer, sections, batch.indices[r]);
      }
    }
  }

 protected:
  std::string item_name(std::size_t item) const override { return fmt::format("section {}", item); }

  Wanted wanted(const LayerItems& layer, const ActivationBatch& batch, std::size_t row) const override {
    const std::size_t l = &layer - layers().data();
    return [this, &layer, l,
            values = batch.layers[layer.position].row(row)](std::size_t n) -> std::optional<Aim> {
      const double low = low_[l][n], width = (high_[l][n] - low) / sections_;
      if (!(width > 0)) return std::nullopt;
      const auto last = static_cast<std::int64_t>(items_per_neuron()) - 1;
      const auto here = static_cast<std::int64_t>(
          std::clamp(std::floor((values[n] - low) / width), 0.0, static_cast<double>(last)));
      const auto is_open = [&](std::int64_t s) {
        return s >= 0 && s <= last && open(layer, n * items_per_neuron() + static_cast<std::size_t>(s));
      };
      for (std::int64_t away = 0; away <= last; ++away) {
        for (const std::int64_t s : {here - away, here + away}) {
          if (is_open(s)) return Aim{.low = low + width * s, .high = low + width * (s + 1)};
        }
      }
      return std::nullopt;
    };
  }

 private:
  std::size_t section(float value, float low, float high) const {
    double found = -1;
    const double scale = 1;
    sections_of(&value, &low, &high, &scale, 1, sections_, &found);
    return static_cast<std::size_t>(found);
  }

  // A constant neuron has no sections; where sections are narrower than float32, some hold no number at all.
  void narrow(LayerItems& layer, const LayerStatistics& statistics, std::size_t n) {
    const float low = statistics.low[n], high = statistics.high[n];
    if (low == high) {
      if (layer.counted.empty()) layer.counted.assign(layer.neurons, true);
      layer.counted[n] = false;
      return;
    }
    const float ulp = std::nextafter(std::max(std::abs(low), std::abs(high)), INFINITY) -
                      std::max(std::abs(low), std::abs(high));
    if ((static_cast<double>(high) - low) / sections_ > 2.0 * ulp) return;
    if (layer.attainable.empty()) layer.attainable.assign(layer.neurons * items_per_neuron(), true);
    std::vector<bool> holds(items_per_neuron(), false);
    for (float value = low; value <= high; value = std::nextafter(value, INFINITY))
      holds[section(value, low, high)] = true;
    for (std::size_t i = 0; i < holds.size(); ++i) {
      if (!holds[i]) layer.attainable[n * items_per_neuron() + i] = false;
    }
  }

  double sections_;
  std::vector<std::vector<float>> low_, high_;
  std::vector<std::vector<double>> scale_;
};

}  // namespace

CriterionInfo kmnc_criterion() {
  return {.name = "kmnc",
          .summary =
              "k-multisection neuron coverage: parts of each neuron's training range that records fall into",
          .definition =
              "each neuron's range over the training set is cut into `sections` equal parts, section min(k - "
              "1, floor(k (a - low) / (high - low))); "
              "sections that hold the activation of at least one record, divided by all sections. "
              "Activations outside the range count nowhere; "
              "neurons that are constant in training have no sections",
          .limits = "ranges come from extremes of the training set, so a single outlier moves every section",
          .paper = "Ma et al., DeepGauge, ASE 2018",
          .options = {{"sections", "1000", "parts of each neuron's range"}},
          .of_neurons = true,
          .make = [](const CriterionSetup& setup) -> std::unique_ptr<Criterion> {
            return std::make_unique<MultisectionCoverage>(setup);
          }};
}

}  // namespace assay::coverage
