// Criteria on layers of many widths, whose loops go by blocks of neurons, against plain second writings of
// their definitions: what each neuron has covered, and by which record first. Activations stand on borders,
// beside them and far from them.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <assay/extend/abilities.h>
#include "tests/coverage/build.h"

namespace assay::coverage {
namespace {

constexpr std::size_t records = 21;

class WideLayer : public testing::TestWithParam<std::size_t> {
 protected:
  WideLayer() {
    const std::size_t width = GetParam();
    Rng rng(width);
    for (const std::string name : {"first", "second"}) {
      LayerStatistics layer{name, "Gemm", {}, {}, {}, {}, {}};
      Activations activations{records, width, std::vector<float>(records * width)};
      for (std::size_t n = 0; n < width; ++n) {
        const auto low = n % 3 == 0 ? 0.0F : static_cast<float>(rng.normal());
        const float high = n % 11 == 10 ? low : low + static_cast<float>(std::abs(rng.normal()));
        layer.low.push_back(low);
        layer.high.push_back(high);
        layer.mean.push_back((low + high) / 2);
        layer.deviation.push_back((high - low) / 4);
        layer.same_as.push_back(static_cast<std::uint32_t>(n));
        for (std::size_t r = 0; r < records; ++r)
          activations.values[r * width + n] = somewhere(rng, low, high);
      }
      profile_.statistics.push_back(std::move(layer));
      least_.emplace_back();
      greatest_.emplace_back();
      for (std::size_t r = 0; r < records; ++r) {
        least_.back().push_back(std::ranges::min(activations.row(r)));
        greatest_.back().push_back(std::ranges::max(activations.row(r)));
      }
      layers_.push_back(std::move(activations));
    }
    // Not in ascending order.
    for (std::size_t r = 0; r < records; ++r) indices_.push_back(100 + r * 8 % records);
  }

  // On a border of a tenth, beside one, or anywhere, also beyond the range.
  static float somewhere(Rng& rng, float low, float high) {
    const double tenth = low + std::floor(rng.uniform() * 12 - 1) * (static_cast<double>(high) - low) / 10;
    const auto border = static_cast<float>(tenth);
    switch (static_cast<int>(rng.uniform() * 5)) {
      case 0:
        return border;
      case 1:
        return std::nextafter(border, low);
      case 2:
        return std::nextafter(border, high);
      case 3:
        return rng.uniform() < 0.5 ? low : high;
      default:
        return static_cast<float>(low + (rng.uniform() * 1.5 - 0.25) * (static_cast<double>(high) - low));
    }
  }

  // Calls visit(layer, neuron, activation, record) for everything.
  template <typename Visit>
  void for_all(const Visit& visit) const {
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      for (std::size_t r = 0; r < records; ++r) {
        for (std::size_t n = 0; n < GetParam(); ++n) visit(l, n, layers_[l].row(r)[n], r);
      }
    }
  }

  std::unique_ptr<Criterion> after(const std::string& spec) const {
    auto criterion = test::criterion(spec, profile_);
    criterion->observe({indices_, layers_, least_, greatest_});
    return criterion;
  }

  using Firsts =
      std::map<std::pair<std::size_t, std::size_t>, std::size_t>;  // layer and neuron: first record
  static void note(Firsts& firsts, std::size_t layer, std::size_t neuron, std::size_t record) {
    const auto [it, is_new] = firsts.emplace(std::pair(layer, neuron), record);
    if (!is_new) it->second = std::min(it->second, record);
  }
  void expect_firsts(const std::string& spec, const Firsts& firsts) const {
    const auto criterion = after(spec);
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      const auto neurons = ability<Itemised>(*criterion)->neurons(l);
      for (std::size_t n = 0; n < GetParam(); ++n) {
        const auto expected = firsts.find({l, n});
        EXPECT_EQ(neurons[n].first, expected == firsts.end() ? std::nullopt : std::optional(expected->second))
            << spec << " neuron " << n;
      }
    }
  }

  Profile profile_;
  std::vector<Activations> layers_;
  std::vector<std::vector<float>> least_, greatest_;
  std::vector<std::size_t> indices_;
};

TEST_P(WideLayer, NeuronsAboveAThreshold) {
  for (const double threshold : {0.0, 0.3, 0.75}) {
    Firsts by_layer, raw;
    for_all([&](std::size_t l, std::size_t n, float a, std::size_t r) {
      const double low = least_[l][r], range = greatest_[l][r] - low;
      if ((range > 0 ? (a - low) / range : 0) > threshold) note(by_layer, l, n, indices_[r]);
      if (a > threshold) note(raw, l, n, indices_[r]);
    });
    expect_firsts(fmt::format("nc[threshold={}]", threshold), by_layer);
    expect_firsts(fmt::format("nc[threshold={},scale=none]", threshold), raw);
  }
}

TEST_P(WideLayer, NeuronsBeyondTheirRange) {
  for (const double widen : {0.0, 0.3}) {
    Firsts above, either;
    for_all([&](std::size_t l, std::size_t n, float a, std::size_t r) {
      const LayerStatistics& layer = profile_.statistics[l];
      const bool is_above = a > layer.high[n] + widen * layer.deviation[n],
                 is_below = a < layer.low[n] - widen * layer.deviation[n];
      if (is_above) note(above, l, n, indices_[r]);
      if (is_above || is_below) note(either, l, n, indices_[r]);
    });
    expect_firsts(fmt::format("snac[widen={}]", widen), above);
    expect_firsts(fmt::format("nbc[widen={}]", widen), either);
  }
}

TEST_P(WideLayer, Sections) {
  for (const int k : {1, 10, 1000}) {
    std::map<std::pair<std::size_t, std::size_t>, std::set<int>> covered;
    for_all([&](std::size_t l, std::size_t n, float a, std::size_t) {
      const double low = profile_.statistics[l].low[n], high = profile_.statistics[l].high[n];
      if (low < high && a >= low && a <= high)
        covered[{l, n}].insert(std::min(k - 1, static_cast<int>(std::floor(k * (a - low) / (high - low)))));
    });
    const auto criterion = after(fmt::format("kmnc[sections={}]", k));
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      const auto neurons = ability<Itemised>(*criterion)->neurons(l);
      for (std::size_t n = 0; n < GetParam(); ++n)
        EXPECT_EQ(neurons[n].covered, covered[std::pair(l, n)].size()) << k << " neuron " << n;
    }
  }
}

TEST_P(WideLayer, TopAndBottomNeurons) {
  for (const std::size_t k : {1, 3, 20}) {
    Firsts top, bottom;
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      for (std::size_t r = 0; r < records; ++r) {
        const auto row = layers_[l].row(r);
        std::vector<std::size_t> falling(row.size());
        for (std::size_t n = 0; n < row.size(); ++n) falling[n] = n;
        auto rising = falling;
        std::ranges::stable_sort(falling, [&](std::size_t a, std::size_t b) { return row[a] > row[b]; });
        std::ranges::stable_sort(rising, [&](std::size_t a, std::size_t b) { return row[a] < row[b]; });
        for (std::size_t i = 0; i < std::min(k, row.size()); ++i) {
          note(top, l, falling[i], indices_[r]);
          note(bottom, l, rising[i], indices_[r]);
        }
      }
    }
    expect_firsts(fmt::format("tknc[k={}]", k), top);
    expect_firsts(fmt::format("bknc[k={}]", k), bottom);
  }
}

TEST_P(WideLayer, PairsOfSigns) {
  // Signs that differ in one neuron of the first layer, for each neuron.
  const std::size_t width = GetParam();
  std::vector<Activations> layers{{width + 1, width, {}}, {width + 1, width, {}}};
  std::vector<std::size_t> indices;
  std::uint64_t expected = 0;
  for (std::size_t r = 0; r <= width; ++r) {
    indices.push_back(r);
    for (std::size_t n = 0; n < width; ++n) {
      layers[0].values.push_back((n % 2 == 0) != (n + 1 == r) ? 1.0F : n % 3 == 0 ? 0.0F : -1.0F);
      layers[1].values.push_back(n * r % 5 < 2 ? 0.5F : -0.5F);
      expected += r > 0 && (n * r % 5 < 2) != true;  // of record 0 all are on
    }
  }
  const auto criterion = test::criterion("ss", profile_);
  criterion->observe({indices, layers});
  EXPECT_EQ(criterion->result().back().covered, std::to_string(expected));
}

INSTANTIATE_TEST_SUITE_P(Widths, WideLayer, testing::Values(1, 2, 15, 16, 17, 31, 33, 64, 65, 130, 1100));

// Where a threshold scales back to 0, a thousand million float32 round to it.
TEST(Criteria, ThresholdsMayLieAtZero) {
  for (const auto& [low, high, threshold] :
       {std::tuple(-3.0F, 1.0F, 0.75), std::tuple(-1.0F, 1.0F, 0.5), std::tuple(-1.0F, 3.0F, 0.25)}) {
    const std::vector<float> values{low,    high,   0,      1e-45F,  -1e-45F, 1e-20F, 1e-16F, 2e-16F,
                                    3e-16F, 5e-16F, 1e-15F, -1e-15F, 1e-7F,   -1e-7F, -0.0F};
    Profile profile;
    LayerStatistics layer{"n", "Gemm", {}, {}, {}, {}, {}};
    for (std::size_t n = 0; n < values.size(); ++n) {
      layer.low.push_back(low);
      layer.high.push_back(high);
      layer.same_as.push_back(static_cast<std::uint32_t>(n));
    }
    layer.mean = layer.deviation = std::vector<double>(values.size());
    profile.statistics.push_back(std::move(layer));
    const auto criterion = test::criterion(fmt::format("nc[threshold={}]", threshold), profile);
    const std::size_t record = 0;
    const Activations activations{1, values.size(), values};
    const std::vector<std::vector<float>> least{{low}}, greatest{{high}};
    criterion->observe({std::span(&record, 1), std::span(&activations, 1), least, greatest});
    const auto neurons = ability<Itemised>(*criterion)->neurons(0);
    for (std::size_t n = 0; n < values.size(); ++n) {
      const bool expected =
          (values[n] - static_cast<double>(low)) / (static_cast<double>(high) - low) > threshold;
      EXPECT_EQ(neurons[n].covered, expected ? 1 : 0) << values[n] << " of " << low << " to " << high;
    }
  }
}

TEST(Criteria, ThresholdsMayBeBeyondAllActivations) {
  const Profile profile = test::profile();
  const test::Suite suite = test::Suite::random(4, 1);
  for (const auto& [spec, covered] :
       std::map<std::string, std::string>{{"nc[threshold=1e30]", "0"}, {"nc[threshold=-1e30]", "11"}}) {
    const auto criterion = test::criterion(spec, profile);
    suite.give(*criterion);
    EXPECT_EQ(test::row(*criterion, "all").covered, covered) << spec;
  }
}

}  // namespace
}  // namespace assay::coverage
