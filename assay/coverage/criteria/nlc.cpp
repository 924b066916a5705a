// Neural coverage NLC (Yuan et al., ICSE 2023): how far the activations of a layer spread, and along how many
// directions.

#include <algorithm>
#include <cmath>

#include <assay/abilities.h>
#include <assay/criteria.h>
#include <assay/error.h>
#include "assay/support/binary.h"
#include "assay/support/panels.h"
#include "assay/support/vectorised.h"

namespace assay::coverage {
namespace {

using Json = nlohmann::json;
using Wide = __int128;

// Sums of one layer's activations and of their products, exact: activations are rounded to whole multiples of
// `unit` first, 2^-18 of the greatest power of two within the training range, so that sums do not depend on
// their order.
struct Moments {
  double unit = 1;
  std::uint64_t records = 0, saturated = 0;
  std::vector<Wide> sums;      // [neurons]
  std::vector<Wide> products;  // of neurons i and j <= i at i (i + 1) / 2 + j
};

constexpr double most =
    1 << 21;  // multiples of the unit that an activation may have: 8 times the training range
constexpr std::size_t most_rows = 1 << 10;  // per exact matrix product in float64: 2^21 * 2^21 * 2^10 < 2^53

std::size_t pairs(std::size_t neurons) { return neurons * (neurons + 1) / 2; }

// Whole multiples of the unit, cut to `most`; returns how many were cut.
ASSAY_VECTORISED std::uint64_t round_row(const float* row, std::size_t count, double per_unit, double* out) {
  constexpr double shift = 0x1.8p52;  // adding and subtracting it rounds to whole numbers, ties to even
  std::uint64_t cut = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double multiple = std::clamp(row[i] * per_unit, -most - 1, most + 1) + shift - shift;
    cut += std::abs(multiple) > most ? 1 : 0;
    out[i] = std::clamp(multiple, -most, most);
  }
  return cut;
}

double unit_of(const LayerStatistics& statistics) {
  double greatest = 0;
  for (std::size_t n = 0; n < statistics.neurons(); ++n) {
    greatest = std::max({greatest, std::abs(static_cast<double>(statistics.low[n])),
                         std::abs(static_cast<double>(statistics.high[n]))});
  }
  return greatest > 0 ? std::ldexp(1.0, std::ilogb(greatest) + 1 - 18) : 1;
}

double to_double(Wide value) { return static_cast<double>(value); }

class NeuralCoverage final : public Criterion, public Guiding {
 public:
  explicit NeuralCoverage(const CriterionSetup& setup) : spec_(setup.spec.text()), positions_(setup.layers) {
    const std::size_t cap = setup.options.count("cap", 1);
    for (const std::size_t position : positions_) {
      const LayerStatistics& statistics = setup.profile.statistics[position];
      if (statistics.neurons() > cap) {
        fail(Fault::resources,
             "nlc: layer '{}' has {} neurons, its covariance {} entries; choose layers with nlc[layer=...] "
             "or raise nlc[cap={}]",
             statistics.layer, statistics.neurons(), statistics.neurons() * statistics.neurons(), cap);
      }
      names_.push_back(statistics.layer);
      means_.push_back(statistics.mean);
      moments_.push_back({unit_of(statistics), 0, 0, std::vector<Wide>(statistics.neurons()),
                          std::vector<Wide>(pairs(statistics.neurons()))});
    }
  }

  void observe(const ActivationBatch& batch) override {
    for (std::size_t l = 0; l < positions_.size(); ++l) {
      for (std::size_t begin = 0; begin < batch.indices.size(); begin += most_rows) {
        add(moments_[l], batch.layers[positions_[l]], begin,
            std::min(batch.indices.size(), begin + most_rows));
      }
    }
  }

  std::vector<std::vector<Aim>> aims(const ActivationBatch& batch, std::size_t row) const override {
    std::vector<std::vector<Aim>> ways;
    for (std::size_t l = 0; l < positions_.size(); ++l)
      ways.push_back(away_from_mean(positions_[l], means_[l], batch.layers[positions_[l]].row(row)));
    return ways;
  }

  void merge(const Criterion& other) override {
    const auto* same = dynamic_cast<const NeuralCoverage*>(&other);
    if (same == nullptr || same->spec_ != spec_ || same->names_ != names_) {
      fail(Fault::mismatch, "{} cannot be merged with another criterion, other options or another profile",
           spec_);
    }
    for (std::size_t l = 0; l < moments_.size(); ++l) {
      Moments& ours = moments_[l];
      const Moments& theirs = same->moments_[l];
      if (ours.unit != theirs.unit || ours.sums.size() != theirs.sums.size()) {
        fail(Fault::mismatch, "{} of layer '{}' cannot be merged: it was measured with another profile",
             spec_, names_[l]);
      }
      ours.records += theirs.records;
      ours.saturated += theirs.saturated;
      for (std::size_t i = 0; i < ours.sums.size(); ++i) ours.sums[i] += theirs.sums[i];
      for (std::size_t i = 0; i < ours.products.size(); ++i) ours.products[i] += theirs.products[i];
    }
  }

  std::vector<Coverage> result() const override {
    std::vector<Coverage> rows;
    double all = 0;
    for (std::size_t l = 0; l < moments_.size(); ++l) {
      const double value = spread(moments_[l]);
      all += value;
      rows.push_back(row(names_[l], value));
      if (moments_[l].saturated > 0)
        rows.back().note =
            fmt::format("{} activations beyond 8 times the training range were cut", moments_[l].saturated);
    }
    rows.push_back(row("all", all));
    return rows;
  }

  Json save() const override {
    Json json = Json::array();
    for (const Moments& m : moments_) {
      json.push_back({{"records", m.records},
                      {"saturated", m.saturated},
                      {"sums", to_binary(m.sums)},
                      {"products", to_binary(m.products)}});
    }
    return json;
  }

  void load(const Json& state) override {
    if (!state.is_array() || state.size() != moments_.size())
      throw std::runtime_error(spec_ + ": it has other layers than its profile");
    for (std::size_t l = 0; l < moments_.size(); ++l) {
      moments_[l].records = state[l].at("records").get<std::uint64_t>();
      moments_[l].saturated = state[l].at("saturated").get<std::uint64_t>();
      moments_[l].sums = from_binary<Wide>(state[l].at("sums"), moments_[l].sums.size());
      moments_[l].products = from_binary<Wide>(state[l].at("products"), moments_[l].products.size());
    }
  }

 private:
  static Coverage row(std::string layer, double value) {
    return {.layer = std::move(layer),
            .covered = {},
            .coverable = {},
            .value = value,
            .attainable_covered = {},
            .attainable = {},
            .attainable_value = value,
            .note = {}};
  }

  static void add(Moments& moments, const Activations& activations, std::size_t begin, std::size_t end) {
    const std::size_t neurons = activations.columns;
    std::vector<double> multiples(neurons), products(neurons * neurons, 0.0);
    Panels whole(neurons, end - begin);
    for (std::size_t r = begin; r < end; ++r) {
      moments.saturated += round_row(activations.row(r).data(), neurons, 1 / moments.unit,
                                     multiples.data());  // a power of two: exact
      for (std::size_t i = 0; i < neurons; ++i) {
        whole.at(i, r - begin) = multiples[i];
        moments.sums[i] += static_cast<std::int64_t>(multiples[i]);
      }
    }
    add_own_products(whole, 1, products.data(), neurons, 1);  // whole numbers below 2^53: exact
    for (std::size_t i = 0; i < neurons; ++i) {
      for (std::size_t j = 0; j <= i; ++j)
        moments.products[pairs(i) + j] += static_cast<std::int64_t>(products[i * neurons + j]);
    }
    moments.records += end - begin;
  }

  // Sum of the absolute entries of the covariance (over n, not n - 1), divided by their number.
  static double spread(const Moments& m) {
    const std::size_t neurons = m.sums.size();
    if (m.records == 0 || neurons == 0) return 0;
    double total = 0;
    for (std::size_t i = 0; i < neurons; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        const double entry = std::abs(
            to_double(static_cast<Wide>(m.records) * m.products[pairs(i) + j] - m.sums[i] * m.sums[j]));
        total += i == j ? entry : 2 * entry;
      }
    }
    const auto n = static_cast<double>(m.records), count = static_cast<double>(neurons);
    return total * m.unit * m.unit / (n * n) / (count * count);
  }

  std::string spec_;
  std::vector<std::size_t> positions_;
  std::vector<std::vector<double>> means_;  // over the training set
  std::vector<std::string> names_;
  std::vector<Moments> moments_;
};

}  // namespace

CriterionInfo nlc_criterion() {
  return {.name = "nlc",
          .summary = "neural coverage: the spread of each layer's activations, correlations included",
          .definition =
              "sum over layers of the mean absolute entry of the covariance matrix of the layer's neurons "
              "over the test set (divided by n, from zero); "
              "activations are rounded to 2^-18 of the greatest training activation so that sums are exact; "
              "a figure without a greatest value",
          .limits =
              "grows with the scale of activations, so figures of two networks do not compare; may fall when "
              "records are added",
          .paper = "Yuan et al., Revisiting Neuron Coverage for DNN Testing, ICSE 2023",
          .options = {{"cap", "4096", "most neurons that a layer may have"}},
          .make = [](const CriterionSetup& setup) -> std::unique_ptr<Criterion> {
            return std::make_unique<NeuralCoverage>(setup);
          }};
}

}  // namespace assay::coverage
