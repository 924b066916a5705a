#include "assay/inspection/statistics/moments.h"

#include <assay/array_math.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "assay/inspection/statistics/packed.h"
#include "assay/support/thread_pool.h"

namespace assay::inspection {
namespace {

// Rows that are multiplied together: they stay in cache.
constexpr std::size_t panel_rows = 1024;

using Matrix = std::vector<double>;

Array rows_of(Matrix& values, std::size_t rows) {
  return Array::around(values.data(), DType::float64,
                       {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(values.size() / rows)});
}

// left^T right, [columns of left, columns of right].
Array products(Matrix& left, Matrix& right, std::size_t rows) {
  return array::mm(rows_of(left, rows).t(), rows_of(right, rows));
}

void add_row(const Array& from, std::size_t row, Matrix& to, std::size_t to_row, std::size_t units) {
  const double* source = from.elements<double>() + row * units;
  double* target = to.data() + to_row * units;
  for (std::size_t u = 0; u < units; ++u) target[u] += source[u];
}

}  // namespace

MomentState::MomentState(const MeasureSetup& setup, std::span<const BehaviourKind> kinds, double tolerance,
                         bool squares)
    : PairwiseState(setup, kinds, tolerance),
      squares_(squares),
      n_(setup.hypotheses.size()),
      y_(n_.size()),
      yy_(n_.size()),
      x_(n_.size() * setup.units),
      xx_(x_.size()),
      xy_(x_.size()),
      xxy_(squares ? x_.size() : 0) {}

void MomentState::transform_units(const float* in, std::size_t rows, double* out) const {
  std::copy_n(in, rows * units(), out);
}
double MomentState::transform_behaviour(std::size_t /*hypothesis*/, float value) const { return value; }
void MomentState::set_calibration(const std::vector<double>& values) {
  if (!values.empty()) throw std::runtime_error("the state has a calibration that the measure does not know");
}

void MomentState::add(const Block& block) {
  const array::Recording unrecorded(false);
  for (std::size_t begin = 0; begin < block.rows; begin += panel_rows)
    add_panel(block, begin, std::min(panel_rows, block.rows - begin));
}

void MomentState::add_panel(const Block& block, std::size_t begin, std::size_t rows) {
  const std::size_t units = this->units(), hypotheses = this->hypotheses(), width = open().size();
  Matrix x(rows * units), y(rows * width), squares(rows * units), x_sum(units), xx_sum(units);
  split_loop(rows, 128, [&](std::size_t from, std::size_t to) {
    const std::size_t first = from * units, end = to * units;
    transform_units(block.units.data() + begin * units + first, to - from, x.data() + first);
    for (std::size_t i = first; i < end; ++i) squares[i] = x[i] * x[i];
  });
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t u = 0; u < units; ++u) {
      x_sum[u] += x[r * units + u];
      xx_sum[u] += squares[r * units + u];
    }
  }
  std::vector<std::size_t> partial;  // open hypotheses, by column of y, with rows that do not care
  for (std::size_t k = 0; k < width; ++k) {
    const std::size_t h = open()[k];
    std::size_t valid = 0;
    for (std::size_t r = 0; r < rows; ++r) {
      const float value = block.behaviours[(begin + r) * hypotheses + h];
      if (std::isnan(value)) continue;
      ++valid;
      const double kept = transform_behaviour(h, value);
      y[r * width + k] = kept;
      y_[h] += kept;
      yy_[h] += kept * kept;
    }
    n_[h] += valid;
    if (valid < rows) partial.push_back(k);
  }

  const Array xy = products(y, x, rows);
  const Array xxy = squares_ ? products(y, squares, rows) : Array();
  for (std::size_t k = 0; k < width; ++k) {
    add_row(xy, k, xy_, open()[k], units);
    if (squares_) add_row(xxy, k, xxy_, open()[k], units);
    if (std::ranges::binary_search(partial, k)) continue;
    for (std::size_t u = 0; u < units; ++u) {
      x_[open()[k] * units + u] += x_sum[u];
      xx_[open()[k] * units + u] += xx_sum[u];
    }
  }
  if (partial.empty()) return;
  Matrix valid(rows * partial.size());
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t k = 0; k < partial.size(); ++k) {
      valid[r * partial.size() + k] =
          std::isnan(block.behaviours[(begin + r) * hypotheses + open()[partial[k]]]) ? 0 : 1;
    }
  }
  const Array x_valid = products(valid, x, rows), xx_valid = products(valid, squares, rows);
  for (std::size_t k = 0; k < partial.size(); ++k) {
    add_row(x_valid, k, x_, open()[partial[k]], units);
    add_row(xx_valid, k, xx_, open()[partial[k]], units);
  }
}

PairSums MomentState::sums(std::size_t unit, std::size_t hypothesis) const {
  const std::size_t at = hypothesis * units() + unit;
  return {n_[hypothesis], y_[hypothesis], yy_[hypothesis], x_[at], xx_[at], xy_[at], squares_ ? xxy_[at] : 0};
}

void MomentState::merge_sums(const MeasureState& other) {
  const auto& theirs = same_state(*this, other);
  require_same_calibration(calibration() == theirs.calibration());
  const auto add = [](Matrix& to, const Matrix& from) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
  };
  add(n_, theirs.n_), add(y_, theirs.y_), add(yy_, theirs.yy_);
  add(x_, theirs.x_), add(xx_, theirs.xx_), add(xy_, theirs.xy_), add(xxy_, theirs.xxy_);
}

nlohmann::json MomentState::save_sums() const {
  return {{"calibration", pack_array(calibration())},
          {"n", pack_array(n_)},
          {"y", pack_array(y_)},
          {"yy", pack_array(yy_)},
          {"x", pack_array(x_)},
          {"xx", pack_array(xx_)},
          {"xy", pack_array(xy_)},
          {"xxy", pack_array(xxy_)}};
}

void MomentState::load_sums(const nlohmann::json& state) {
  std::vector<double> calibration;
  unpack_array(state.at("calibration"), calibration);
  set_calibration(calibration);
  unpack_same(state.at("n"), n_);
  unpack_same(state.at("y"), y_);
  unpack_same(state.at("yy"), yy_);
  unpack_same(state.at("x"), x_);
  unpack_same(state.at("xx"), xx_);
  unpack_same(state.at("xy"), xy_);
  unpack_same(state.at("xxy"), xxy_);
}

bool is_constant(double squares, double n, double mean) { return squares <= 1e-12 * n * (1 + mean * mean); }

Deviations deviations(const PairSums& s) {
  return {s.xx - s.x * s.x / s.n, s.yy - s.y * s.y / s.n, s.xy - s.x * s.y / s.n};
}

}  // namespace assay::inspection
