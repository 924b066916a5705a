// Pearson's correlation of every unit with every hypothesis.

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include <assay/measure.h>

namespace assay::inspection {
namespace {

constexpr double default_tolerance = 0.025;

class Pearson final : public MeasureState {
 public:
  explicit Pearson(const MeasureSetup& setup)
      : setup_units_(setup.units),
        hypotheses_(setup.hypotheses.size()),
        tolerance_(setup.tolerance > 0 ? setup.tolerance : default_tolerance),
        sums_(setup.units * hypotheses_) {}

  void observe(const Block& block) override {
    for (std::size_t r = 0; r < block.rows; ++r) {
      for (std::size_t u = 0; u < setup_units_; ++u) {
        for (std::size_t h = 0; h < hypotheses_; ++h) {
          const double x = block.units[r * setup_units_ + u], y = block.behaviours[r * hypotheses_ + h];
          if (std::isnan(y)) continue;
          Sums& s = sums_[u * hypotheses_ + h];
          const double dx = x - s.mean_x, dy = y - s.mean_y;
          ++s.n;
          s.mean_x += dx / static_cast<double>(s.n);
          s.mean_y += dy / static_cast<double>(s.n);
          s.xx += dx * (x - s.mean_x);
          s.yy += dy * (y - s.mean_y);
          s.xy += dx * (y - s.mean_y);
        }
      }
    }
  }

  Scores result() const override {
    Scores scores;
    for (const Sums& s : sums_) {
      Score score;
      score.rows = s.n;
      if (s.yy <= 0) {
        score.status = "constant_hypothesis";
      } else if (s.xx <= 0) {
        score.value = 0;
        score.status = "constant_unit";
      } else {
        score.value = std::clamp(s.xy / std::sqrt(s.xx * s.yy), -1.0, 1.0);
      }
      scores.units.push_back(score);
    }
    return scores;
  }

  std::vector<char> settle() override { return std::vector<char>(hypotheses_, 1); }
  nlohmann::json save() const override { return {}; }
  void load(const nlohmann::json&) override {}

 private:
  struct Sums {
    std::uint64_t n = 0;
    double mean_x = 0, mean_y = 0, xx = 0, yy = 0, xy = 0;
  };
  std::size_t setup_units_, hypotheses_;
  double tolerance_;
  std::vector<Sums> sums_;
};

}  // namespace

MeasureInfo pearson_measure() {
  return {.name = "pearson",
          .summary = "Pearson's correlation of unit and hypothesis",
          .definition = "cov(u, h) / (sd(u) sd(h))",
          .limits = "linear affinity only",
          .paper = "Sellam et al., SIGMOD 2019",
          .options = {},
          .make = [](const MeasureSetup& setup) -> std::unique_ptr<MeasureState> {
            return std::make_unique<Pearson>(setup);
          }};
}

}  // namespace assay::inspection
