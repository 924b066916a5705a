// Neural coverage NLC (Yuan et al., ICSE 2023): how far the activations of a layer spread, and along how many
// directions.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include <assay/error.h>
#include <assay/extend/abilities.h>
#include <assay/extend/criteria.h>
#include "assay/coverage/criteria/same_criterion.h"
#include "assay/support/files/binary.h"
#include "assay/support/numbers/vectorised.h"
#include "assay/support/text/panels.h"

namespace assay::coverage {
namespace {

using Json = nlohmann::json;
using Wide = __int128;

constexpr double most =
    1 << 21;  // multiples of the unit that an activation may have: 8 times the training range
constexpr std::size_t most_rows = 1 << 10;  // per exact matrix product in float64: 2^21 * 2^21 * 2^10 < 2^53
constexpr std::size_t block_rows = 1 << 7;  // at a time, so that panels stay in the first-level cache

std::size_t pairs(std::size_t neurons) { return neurons * (neurons + 1) / 2; }

// What one layer's activations add up to, exactly: they are rounded to whole multiples of `unit` first, 2^-18
// of the greatest power of two within the training range, so that sums do not depend on their order. As many
// records as there are neurons are kept as they are, which takes less memory than the sums of products.
class Moments {
 public:
  Moments(double unit, std::size_t neurons) : unit_(unit), sums_(neurons) {}

  double unit() const { return unit_; }
  std::uint64_t records() const { return records_; }
  std::uint64_t saturated() const { return saturated_; }
  std::size_t neurons() const { return sums_.size(); }

  // Rows [begin, end), at most `most_rows`.
  void add(const Activations& activations, std::size_t begin, std::size_t end);
  void merge(const Moments& other);
  // Sum of the absolute entries of the covariance (over n, not n - 1), divided by their number.
  double spread() const;
  Json save() const;
  void load(const Json& state);

 private:
  using Row = std::span<const std::int32_t>;
  Row row(std::size_t r) const { return std::span(rows_).subspan(r * neurons(), neurons()); }
  bool holds_rows() const { return products_.empty(); }
  // From rows to sums of products.
  void fold();
  // Of at most `most_rows` rows, [neurons, neurons]: integers below 2^53, so exact.
  std::vector<double> no_products() const { return std::vector<double>(neurons() * neurons(), 0.0); }
  void add_products(const std::vector<double>& products);

  double unit_;
  std::uint64_t records_ = 0, saturated_ = 0;
  std::vector<Wide> sums_;          // [neurons]
  std::vector<std::int32_t> rows_;  // [records, neurons], or empty
  std::vector<Wide> products_;      // of neurons i and j <= i at i (i + 1) / 2 + j, or empty
};

// Whole multiples of the unit, cut to `most`, of `count` neighbours in rows that are so many `neurons` apart;
// returns how many were cut.
ASSAY_VECTORISED std::uint64_t round_rows(const float* values, std::size_t rows, std::size_t neurons,
                                          std::size_t count, double per_unit, double* __restrict out) {
  constexpr double shift = 0x1.8p52;  // adding and subtracting it rounds to integers, ties to even
  std::uint64_t cut = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t i = 0; i < count; ++i) {
      // Conditions on values, not std::clamp(), whose references keep compilers from using vectors.
      double multiple = values[r * neurons + i] * per_unit;
      multiple = multiple < -most - 1 ? -most - 1 : multiple;
      multiple = (multiple > most + 1 ? most + 1 : multiple) + shift - shift;
      cut += std::abs(multiple) > most ? 1 : 0;
      multiple = multiple < -most ? -most : multiple;
      out[r * Panels::width + i] = multiple > most ? most : multiple;
    }
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

void Moments::add(const Activations& activations, std::size_t begin, std::size_t end) {
  records_ += end - begin;
  if (holds_rows() && records_ > neurons()) fold();
  std::vector<double> products = holds_rows() ? std::vector<double>() : no_products();
  for (std::size_t first = begin; first < end; first += block_rows) {
    const std::size_t rows = std::min(block_rows, end - first);
    Panels multiples(neurons(), rows);
    for (std::size_t i = 0; i < neurons(); i += Panels::width)
      saturated_ += round_rows(activations.row(first).data() + i, rows, neurons(),
                               std::min(Panels::width, neurons() - i), 1 / unit_,
                               &multiples.at(i, 0));  // a power of two: exact
    const std::vector<double> sums = multiples.sums();
    for (std::size_t i = 0; i < neurons(); ++i) sums_[i] += static_cast<std::int64_t>(sums[i]);
    if (!holds_rows()) {
      add_own_products(multiples, 1, products.data(), neurons(), 1);
      continue;
    }
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t i = 0; i < neurons(); ++i)
        rows_.push_back(static_cast<std::int32_t>(multiples.at(i, r)));
    }
  }
  if (!holds_rows()) add_products(products);
}

void Moments::fold() {
  products_.assign(pairs(neurons()), 0);
  const std::size_t records = neurons() == 0 ? 0 : rows_.size() / neurons();
  for (std::size_t begin = 0; begin < records; begin += most_rows) {
    Panels multiples(neurons(), std::min(most_rows, records - begin));
    for (std::size_t r = 0; r < multiples.depth(); ++r) {
      for (std::size_t i = 0; i < neurons(); ++i) multiples.at(i, r) = row(begin + r)[i];
    }
    std::vector<double> products = no_products();
    add_own_products(multiples, 1, products.data(), neurons(), 1);
    add_products(products);
  }
  rows_ = {};
}

void Moments::add_products(const std::vector<double>& products) {
  for (std::size_t i = 0; i < neurons(); ++i) {
    for (std::size_t j = 0; j <= i; ++j)
      products_[pairs(i) + j] += static_cast<std::int64_t>(products[i * neurons() + j]);
  }
}

void Moments::merge(const Moments& other) {
  records_ += other.records_;
  saturated_ += other.saturated_;
  for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += other.sums_[i];
  if (holds_rows() && other.holds_rows() && records_ <= neurons()) {
    rows_.insert(rows_.end(), other.rows_.begin(), other.rows_.end());
    return;
  }
  if (holds_rows()) fold();
  if (other.holds_rows()) {
    Moments folded = other;
    folded.fold();
    for (std::size_t i = 0; i < products_.size(); ++i) products_[i] += folded.products_[i];
  } else {
    for (std::size_t i = 0; i < products_.size(); ++i) products_[i] += other.products_[i];
  }
}

double Moments::spread() const {
  if (records_ == 0 || neurons() == 0) return 0;
  if (holds_rows()) {
    Moments folded = *this;
    folded.fold();
    return folded.spread();
  }
  double total = 0;
  for (std::size_t i = 0; i < neurons(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const double entry =
          std::abs(to_double(static_cast<Wide>(records_) * products_[pairs(i) + j] - sums_[i] * sums_[j]));
      total += i == j ? entry : 2 * entry;
    }
  }
  const double n = records_, count = neurons();
  return total * unit_ * unit_ / (n * n) / (count * count);
}

Json Moments::save() const {
  Json json{{"records", records_}, {"saturated", saturated_}, {"sums", to_binary(sums_)}};
  if (holds_rows()) {
    std::vector<std::size_t> order(neurons() == 0 ? 0 : rows_.size() / neurons());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
      return std::ranges::lexicographical_compare(row(a), row(b));
    });
    std::vector<std::int32_t> sorted;
    sorted.reserve(rows_.size());
    for (const std::size_t r : order) sorted.insert(sorted.end(), row(r).begin(), row(r).end());
    json["rows"] = to_binary(sorted);
    return json;
  }
  const std::vector<std::int64_t> narrow(products_.begin(), products_.end());
  if (std::ranges::equal(narrow, products_))
    json["products_64"] = to_binary(narrow);
  else
    json["products"] = to_binary(products_);
  return json;
}

void Moments::load(const Json& state) {
  records_ = state.at("records").get<std::uint64_t>();
  saturated_ = state.at("saturated").get<std::uint64_t>();
  sums_ = from_binary<Wide>(state.at("sums"), neurons());
  rows_ = {};
  products_ = {};
  if (state.contains("rows")) {
    if (records_ > neurons()) throw std::runtime_error("nlc: it has more records than it may keep");
    rows_ = from_binary<std::int32_t>(state.at("rows"), records_ * neurons());
    const auto sound = [](std::int32_t multiple) { return multiple >= -most && multiple <= most; };
    if (!std::ranges::all_of(rows_, sound)) throw std::runtime_error("nlc: an activation is out of range");
  } else if (state.contains("products_64")) {
    const auto narrow = from_binary<std::int64_t>(state.at("products_64"), pairs(neurons()));
    products_.assign(narrow.begin(), narrow.end());
  } else {
    products_ = from_binary<Wide>(state.at("products"), pairs(neurons()));
  }
}

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
      moments_.emplace_back(unit_of(statistics), statistics.neurons());
    }
  }

  void observe(const ActivationBatch& batch) override {
    for (std::size_t l = 0; l < positions_.size(); ++l) {
      for (std::size_t begin = 0; begin < batch.indices.size(); begin += most_rows) {
        moments_[l].add(batch.layers[positions_[l]], begin,
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
    const auto& same = same_criterion<NeuralCoverage>(other, spec_, [&](const NeuralCoverage& theirs) {
      return theirs.spec_ == spec_ && theirs.names_ == names_;
    });
    for (std::size_t l = 0; l < moments_.size(); ++l) {
      const Moments& theirs = same.moments_[l];
      if (moments_[l].unit() != theirs.unit() || moments_[l].neurons() != theirs.neurons()) {
        fail(Fault::mismatch, "{} of layer '{}' cannot be merged: it was measured with another profile",
             spec_, names_[l]);
      }
      moments_[l].merge(theirs);
    }
  }

  std::vector<Coverage> result() const override {
    std::vector<Coverage> rows;
    double all = 0;
    for (std::size_t l = 0; l < moments_.size(); ++l) {
      const double value = moments_[l].spread();
      all += value;
      rows.push_back(row(names_[l], value));
      if (moments_[l].saturated() > 0)
        rows.back().note =
            fmt::format("{} activations beyond 8 times the training range were cut", moments_[l].saturated());
    }
    rows.push_back(row("all", all));
    return rows;
  }

  Json save() const override {
    Json json = Json::array();
    for (const Moments& moments : moments_) json.push_back(moments.save());
    return json;
  }

  void load(const Json& state) override {
    require_layers(state, moments_.size(), spec_);
    for (std::size_t l = 0; l < moments_.size(); ++l) moments_[l].load(state[l]);
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
              "over the test set (divided by n, from zero); activations are rounded to 2^-18 of the greatest "
              "training activation so that sums are exact; a figure without a greatest value",
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
