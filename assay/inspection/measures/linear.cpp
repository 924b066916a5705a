// Linear regression of a hypothesis on all units, from sums alone.

#include <assay/array_math.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "assay/inspection/statistics/held_out.h"
#include "assay/inspection/statistics/intervals.h"
#include "assay/inspection/statistics/moments.h"
#include "assay/inspection/statistics/packed.h"
#include "assay/support/numbers/distributions.h"
#include "assay/support/text/panels.h"
#include "assay/support/thread_pool.h"

namespace assay::inspection {
namespace {

constexpr std::size_t rows_together = 1024;
constexpr double default_tolerance = 0.01;  // of R squared
const std::vector<BehaviourKind> linear_kinds{BehaviourKind::binary, BehaviourKind::numeric};

using Reals = std::vector<double>;

void add_reals(Reals& to, const Reals& from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}

// Sums over rows of the units alone.
struct UnitSums {
  double n = 0;
  Reals x, xx;  // [units], [units, units]
};

// Sums over rows of one hypothesis.
struct HypothesisSums {
  double n = 0, y = 0, yy = 0;
  Reals xy;                   // [units]
  std::vector<UnitSums> own;  // one where some of its rows are don't-cares; else those of all rows hold
};

struct LinearSums {
  UnitSums all;
  std::vector<HypothesisSums> hypotheses;

  const UnitSums& units(std::size_t hypothesis) const {
    const HypothesisSums& h = hypotheses[hypothesis];
    return h.own.empty() ? all : h.own[0];
  }
};

struct LinearFit {
  double constant = 0;
  Reals weights;
};

Array matrix_of(const Reals& values, std::size_t width) {
  return Array::around(const_cast<double*>(values.data()), DType::float64,
                       {static_cast<std::int64_t>(values.size() / width), static_cast<std::int64_t>(width)});
}

void add_units(UnitSums& sums, const Reals& x, std::size_t units) {
  const Array matrix = matrix_of(x, units);
  sums.n += matrix.size(0);
  matrix_of(sums.x, units).add_(matrix.sum(0));
  matrix_of(sums.xx, units).add_(array::mm(matrix.t(), matrix));
}

Reals chosen_rows(const Reals& x, const std::vector<std::size_t>& rows, std::size_t units) {
  Reals some;
  for (const std::size_t r : rows) {
    some.insert(some.end(), x.begin() + r * units, x.begin() + (r + 1) * units);
  }
  return some;
}

class Linear final : public MeasureState {
 public:
  explicit Linear(const MeasureSetup& setup)
      : units_(setup.units),
        ridge_(setup.options.number("ridge", 0)),
        share_(setup.options.number("held_out", 0)),
        seed_(setup.seed),
        z_(normal_quantile((1 + setup.confidence) / 2)),
        tolerance_(setup.tolerance > 0 ? setup.tolerance : default_tolerance),
        means_(setup.units),
        scales_(setup.units, 1) {
    for (const Hypothesis& hypothesis : setup.hypotheses)
      applies_.push_back(std::ranges::find(linear_kinds, hypothesis.kind) != linear_kinds.end() ? 1 : 0);
    for (LinearSums* sums : {&learned_, &judged_}) {
      sums->all = none();
      sums->hypotheses.assign(applies_.size(), {0, 0, 0, Reals(units_), {}});
    }
  }

  void calibrate(const Block& block) override {
    Reals squares(units_);
    for (std::size_t r = 0; r < block.rows; ++r) {
      for (std::size_t u = 0; u < units_; ++u) {
        const double value = block.units[r * units_ + u], difference = value - means_[u];
        means_[u] += difference / static_cast<double>(r + 1);
        squares[u] += difference * (value - means_[u]);
      }
    }
    for (std::size_t u = 0; u < units_; ++u) {
      scales_[u] = is_constant(squares[u], static_cast<double>(block.rows), means_[u])
                       ? 0
                       : std::sqrt(block.rows / squares[u]);
    }
  }

  void observe(const Block& block) override {
    if (ended_) return;
    const array::Recording unrecorded(false);
    std::vector<std::size_t> rows[2];
    bool held_out = false;
    for (std::size_t r = 0; r < block.rows; ++r) {
      if (r == 0 || block.records[r] != block.records[r - 1])
        held_out = is_held_out(seed_, block.records[r], share_);
      std::vector<std::size_t>& some = rows[held_out ? 1 : 0];
      some.push_back(r);
      if (some.size() < rows_together) continue;
      add(block, some, held_out ? judged_ : learned_);
      some.clear();
    }
    add(block, rows[0], learned_);
    add(block, rows[1], judged_);
  }

  Scores result() const override {
    Scores scores;
    std::vector<LinearFit> fits;
    std::map<const UnitSums*, Reals> factors;  // hypotheses without don't-cares share one
    for (std::size_t h = 0; h < applies_.size(); ++h) {
      fits.emplace_back();
      scores.groups.push_back(group(h, fits.back(), factors));
    }
    for (std::size_t u = 0; u < units_; ++u) {
      for (std::size_t h = 0; h < applies_.size(); ++h)
        scores.units.push_back(unit(scores.groups[h], fits[h], h, u));
    }
    return scores;
  }

  // The sums of the units belong to all hypotheses, so that these end together.
  std::vector<char> settle() override {
    std::map<const UnitSums*, Reals> factors;
    for (std::size_t h = 0; h < applies_.size() && !ended_; ++h) {
      LinearFit fit;
      const Score score = group(h, fit, factors);
      if (!score.converged) return applies_;
    }
    ended_ = true;
    return std::vector<char>(applies_.size(), 0);
  }
  void freeze(std::span<const char> open) override { ended_ = std::ranges::find(open, 1) == open.end(); }

  void merge(const MeasureState& other) override {
    const auto& theirs = dynamic_cast<const Linear&>(other);
    require_same_calibration(means_ == theirs.means_ && scales_ == theirs.scales_);
    merge_into(learned_, theirs.learned_);
    merge_into(judged_, theirs.judged_);
  }

  nlohmann::json save() const override {
    return {{"means", pack_array(means_)},
            {"scales", pack_array(scales_)},
            {"learned", save_sums(learned_)},
            {"judged", save_sums(judged_)},
            {"ended", ended_}};
  }
  void load(const nlohmann::json& state) override {
    unpack_same(state.at("means"), means_);
    unpack_same(state.at("scales"), scales_);
    load_sums(state.at("learned"), learned_);
    load_sums(state.at("judged"), judged_);
    state.at("ended").get_to(ended_);
  }

 private:
  UnitSums none() const { return {0, Reals(units_), Reals(units_ * units_)}; }

  void add(const Block& block, const std::vector<std::size_t>& rows, LinearSums& sums) const {
    if (rows.empty()) return;
    const std::size_t hypotheses = applies_.size();
    Reals x(rows.size() * units_), y(rows.size() * hypotheses);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::size_t u = 0; u < units_; ++u)
        x[i * units_ + u] = (block.units[rows[i] * units_ + u] - means_[u]) * scales_[u];
    }
    const UnitSums before = sums.all;
    add_units(sums.all, x, units_);
    std::vector<std::size_t> cared;
    for (std::size_t h = 0; h < hypotheses; ++h) {
      if (applies_[h] == 0) continue;
      HypothesisSums& own = sums.hypotheses[h];
      cared.clear();
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const float value = block.behaviours[rows[i] * hypotheses + h];
        if (std::isnan(value)) continue;
        y[i * hypotheses + h] = value;
        ++own.n, own.y += value, own.yy += static_cast<double>(value) * value;
        cared.push_back(i);
      }
      if (cared.size() < rows.size() && own.own.empty()) own.own.push_back(before);
      if (!own.own.empty() && !cared.empty()) add_units(own.own[0], chosen_rows(x, cared, units_), units_);
    }
    const Array xy = array::mm(matrix_of(y, hypotheses).t(), matrix_of(x, units_)).contiguous();
    for (std::size_t h = 0; h < hypotheses; ++h) {
      for (std::size_t u = 0; u < units_; ++u)
        sums.hypotheses[h].xy[u] += xy.elements<double>()[h * units_ + u];
    }
  }

  // Lower factor of the centred products with the ridge on their diagonal.
  Reals factor(const UnitSums& sums) const {
    Reals matrix = sums.xx;
    for (std::size_t i = 0; i < units_; ++i) {
      for (std::size_t j = 0; j < units_; ++j) matrix[i * units_ + j] -= sums.x[i] * sums.x[j] / sums.n;
      matrix[i * units_ + i] += ridge_ * sums.n;
      // A unit that never varied has a row of zeros, and the weight 0.
      if (matrix[i * units_ + i] <= 0) matrix[i * units_ + i] = 1;
    }
    if (!factorise(matrix, units_, loop_threads())) matrix.clear();
    return matrix;
  }
  Reals solved(const Reals& lower, Reals b) const {
    for (std::size_t i = 0; i < units_; ++i) {
      for (std::size_t j = 0; j < i; ++j) b[i] -= lower[i * units_ + j] * b[j];
      b[i] /= lower[i * units_ + i];
    }
    for (std::size_t i = units_; i-- > 0;) {
      for (std::size_t j = i + 1; j < units_; ++j) b[i] -= lower[j * units_ + i] * b[j];
      b[i] /= lower[i * units_ + i];
    }
    return b;
  }

  Score group(std::size_t h, LinearFit& fit, std::map<const UnitSums*, Reals>& factors) const {
    Score score;
    const HypothesisSums &learned = learned_.hypotheses[h], &judged = judged_.hypotheses[h];
    const auto squares = [](const HypothesisSums& s) { return s.yy - s.y * s.y / s.n; };
    score.rows = static_cast<std::uint64_t>(judged.n);
    if (applies_[h] == 0) {
      score.status = "not_applicable";
    } else if (learned.n < 2 || judged.n < 2) {
      score.status = "too_few_rows";
    } else if (is_constant(squares(learned), learned.n, learned.y / learned.n) ||
               is_constant(squares(judged), judged.n, judged.y / judged.n)) {
      score.status = "constant_hypothesis";
    }
    // A pair without a score may have one later.
    score.converged = learned_.all.n >= 10 * static_cast<double>(units_);
    if (!score.status.empty()) return score;
    const UnitSums &units = learned_.units(h), &others = judged_.units(h);
    const auto [place, fresh] = factors.try_emplace(&units);
    if (fresh) place->second = factor(units);
    if (place->second.empty()) {
      score.status = "singular";
      return score;
    }
    Reals b(units_);
    for (std::size_t u = 0; u < units_; ++u) b[u] = learned.xy[u] - units.x[u] * learned.y / learned.n;
    fit.weights = solved(place->second, b);
    fit.constant = learned.y / learned.n;
    for (std::size_t u = 0; u < units_; ++u) fit.constant -= fit.weights[u] * units.x[u] / learned.n;
    double errors = judged.yy - 2 * fit.constant * judged.y + judged.n * fit.constant * fit.constant;
    for (std::size_t i = 0; i < units_; ++i) {
      double product = 0;
      for (std::size_t j = 0; j < units_; ++j) product += others.xx[i * units_ + j] * fit.weights[j];
      errors += fit.weights[i] * (product - 2 * judged.xy[i] + 2 * fit.constant * others.x[i]);
    }
    score.value = 1 - std::max(0.0, errors) / squares(judged);
    score.converged = error_of(score.value, learned.n, judged.n) <= tolerance_;
    return score;
  }

  // How far R^2 may be from that of all rows: half the interval of the held-out rows, by the correlation of h
  // with what is predicted, and what so few learned rows a unit cost.
  double error_of(double value, double learned, double judged) const {
    if (judged < 4 || learned <= units_) return INFINITY;
    const Range range = fisher(std::sqrt(std::max(value, 0.0)), 1 / std::sqrt(judged - 3), z_);
    const double low = std::max(range.low, 0.0);
    return (range.high * range.high - low * low) / 2 + units_ / learned * (1 - std::max(value, 0.0));
  }

  Score unit(const Score& group, const LinearFit& fit, std::size_t h, std::size_t u) const {
    Score score;
    score.status = group.status;
    score.converged = group.converged;
    if (fit.weights.empty()) return score;
    const HypothesisSums& learned = learned_.hypotheses[h];
    score.rows = static_cast<std::uint64_t>(learned.n);
    score.status = scales_[u] == 0 ? "constant_unit" : "";
    const double deviation = std::sqrt((learned.yy - learned.y * learned.y / learned.n) / learned.n);
    score.value = scales_[u] == 0 ? 0 : std::fabs(fit.weights[u]) / deviation;
    return score;
  }

  void merge_into(LinearSums& mine, const LinearSums& theirs) const {
    const UnitSums before = mine.all;
    const auto add_sums = [](UnitSums& to, const UnitSums& from) {
      to.n += from.n;
      add_reals(to.x, from.x);
      add_reals(to.xx, from.xx);
    };
    add_sums(mine.all, theirs.all);
    for (std::size_t h = 0; h < applies_.size(); ++h) {
      HypothesisSums& to = mine.hypotheses[h];
      const HypothesisSums& from = theirs.hypotheses[h];
      to.n += from.n, to.y += from.y, to.yy += from.yy;
      add_reals(to.xy, from.xy);
      if (to.own.empty() && from.own.empty()) continue;
      if (to.own.empty()) to.own.push_back(before);
      add_sums(to.own[0], theirs.units(h));
    }
  }

  static nlohmann::json save_units(const UnitSums& sums) {
    return {{"n", sums.n}, {"x", pack_array(sums.x)}, {"xx", pack_array(sums.xx)}};
  }
  static void load_units(const nlohmann::json& json, UnitSums& sums) {
    json.at("n").get_to(sums.n);
    unpack_same(json.at("x"), sums.x);
    unpack_same(json.at("xx"), sums.xx);
  }
  static nlohmann::json save_sums(const LinearSums& sums) {
    nlohmann::json json = {{"all", save_units(sums.all)}, {"hypotheses", nlohmann::json::array()}};
    for (const HypothesisSums& h : sums.hypotheses) {
      json["hypotheses"].push_back({{"sums", {h.n, h.y, h.yy}}, {"xy", pack_array(h.xy)}});
      if (!h.own.empty()) json["hypotheses"].back()["own"] = save_units(h.own[0]);
    }
    return json;
  }
  void load_sums(const nlohmann::json& json, LinearSums& sums) const {
    load_units(json.at("all"), sums.all);
    if (json.at("hypotheses").size() != sums.hypotheses.size())
      throw std::runtime_error("the state is of other hypotheses");
    for (std::size_t i = 0; i < sums.hypotheses.size(); ++i) {
      const nlohmann::json& from = json.at("hypotheses")[i];
      HypothesisSums& h = sums.hypotheses[i];
      h.n = from.at("sums").at(0), h.y = from.at("sums").at(1), h.yy = from.at("sums").at(2);
      unpack_same(from.at("xy"), h.xy);
      h.own.clear();
      if (!from.contains("own")) continue;
      h.own.push_back(none());
      load_units(from.at("own"), h.own[0]);
    }
  }

  std::size_t units_;
  double ridge_, share_;
  std::uint64_t seed_;
  double z_, tolerance_;
  bool ended_ = false;
  Reals means_, scales_;
  std::vector<char> applies_;
  LinearSums learned_, judged_;
};

}  // namespace

MeasureInfo linear_measure() {
  return {
      .name = "linear",
      .summary = "R squared of a linear regression on all units; weights of the units",
      .definition =
          "h = w u + b with the least sum of squares over learned rows plus ridge * n * sum w^2, solved "
          "exactly from sums; units are standardised by the calibration records. Value of the group: R^2 = "
          "1 - sum (h - w u - b)^2 / sum (h - mean h)^2 on the held-out rows; below 0 where the mean is "
          "better. Value of a unit: |w| times the unit's standard deviation, divided by h's. It has no "
          "interval and no p; resample records for these. It has converged, for all hypotheses at once, "
          "where half "
          "the interval that the held-out rows give R^2 (Fisher, of the correlation of h and its "
          "prediction), and units / learned rows * (1 - R^2), are below the tolerance together (0.01)",
      .limits =
          "weights of units that say the same are shared out by the ridge. Memory grows with the square of "
          "the units, and again for each hypothesis with don't-cares. Status singular: the sums cannot be "
          "solved, choose a greater ridge",
      .paper = "Sellam et al., DeepBase, SIGMOD 2019; Hoerl and Kennard 1970",
      .options = {{"ridge", "1e-6", "penalty of the squared weights of standardised units"},
                  {"held_out", "0.2",
                   "share of records that are not learned from and give the value of the group"}},
      .joint = true,
      .kinds = linear_kinds,
      .make = [](const MeasureSetup& setup) -> std::unique_ptr<MeasureState> {
        return std::make_unique<Linear>(setup);
      }};
}

}  // namespace assay::inspection
