#include "assay/inspection/units/merged_models.h"

#include <assay/array_math.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "assay/inspection/statistics/packed.h"
#include "assay/support/numbers/vectorised.h"
#include "assay/support/thread_pool.h"

namespace assay::inspection {
namespace {

constexpr float decay_mean = 0.9F, decay_square = 0.999F, adam_epsilon = 1e-8F;

// Adam for some parameters of one model. `rate` and `widen` have Adam's corrections of the moments in them.
// `shrink`, rate times L1 penalty, is a proximal step of the parameter's own length, so that weights become
// exactly 0.
ASSAY_VECTORISED __attribute__((optimize("no-math-errno", "no-trapping-math"))) void adam(
    float* __restrict w, float* __restrict mean, float* __restrict square, const float* __restrict gradient,
    std::size_t size, float rate, float widen, float shrink, float l2) {
  for (std::size_t i = 0; i < size; ++i) {
    const float g = gradient[i] + l2 * w[i];
    mean[i] = decay_mean * mean[i] + (1 - decay_mean) * g;
    square[i] = decay_square * square[i] + (1 - decay_square) * g * g;
    const float length = 1 / (__builtin_sqrtf(square[i] * widen) + adam_epsilon);
    const float moved = w[i] - rate * length * mean[i], threshold = shrink * length;
    const float above = moved - threshold, below = moved + threshold;
    w[i] = (above > 0 ? above : 0.0F) + (below < 0 ? below : 0.0F);
  }
}

// `average` goes the share of the way to `now`.
void approach(std::span<float> average, std::span<const float> now, float share) {
  for (std::size_t i = 0; i < average.size(); ++i) average[i] += share * (now[i] - average[i]);
}

}  // namespace

struct MergedModels::Open {
  std::vector<std::size_t> models, columns;
};

MergedModels::MergedModels(std::size_t units, const std::vector<std::size_t>& outputs,
                           const ModelSettings& settings)
    : units_(units), outputs_(outputs), first_(outputs.size()), settings_(settings) {
  std::exclusive_scan(outputs.begin(), outputs.end(), first_.begin(), std::size_t{0});
  const std::size_t columns = std::accumulate(outputs.begin(), outputs.end(), std::size_t{0});
  weights_.resize(columns * units), mean_.resize(columns * units), square_.resize(columns * units);
  average_.resize(columns * units);
  bias_.resize(columns), bias_mean_.resize(columns), bias_square_.resize(columns),
      bias_average_.resize(columns);
  steps_.resize(columns);
}

void MergedModels::begin(std::size_t model, std::span<const double> counts) {
  const auto logarithm = [&](std::size_t k) { return std::log(counts[k] + 0.5); };  // of no row: half a one
  double middle = 0;
  for (std::size_t k = 0; k < counts.size(); ++k) middle += logarithm(k) / counts.size();
  for (std::size_t o = 0; o < outputs_[model]; ++o) {
    const double bias = outputs_[model] == 1 ? logarithm(1) - logarithm(0) : logarithm(o) - middle;
    bias_[first_[model] + o] = bias_average_[first_[model] + o] = static_cast<float>(bias);
  }
}

MergedModels::Open MergedModels::list(std::span<const char> open) const {
  Open list;
  for (std::size_t m = 0; m < models(); ++m) {
    if (open[m] == 0) continue;
    list.models.push_back(m);
    for (std::size_t o = 0; o < outputs_[m]; ++o) list.columns.push_back(first_[m] + o);
  }
  return list;
}

void MergedModels::step(const Array& rows, std::span<const float> labels, std::span<const char> open) {
  const array::Recording unrecorded(false);
  const Open list = this->list(open);
  const std::size_t width = list.columns.size(), n = rows.size(0);
  if (width == 0 || n == 0) return;
  const auto matrix = [](std::vector<float>& values, std::size_t height) {
    return Array::around(
        values.data(), DType::float32,
        {static_cast<std::int64_t>(height), static_cast<std::int64_t>(values.size() / height)});
  };
  std::vector<float> gathered;
  if (width < columns()) {
    gathered.reserve(width * units_);
    for (const std::size_t c : list.columns)
      gathered.insert(gathered.end(), weights_.begin() + c * units_, weights_.begin() + (c + 1) * units_);
  }
  const Array error =
      array::mm(rows, matrix(width < columns() ? gathered : weights_, width).t()).contiguous();

  // The derivative of the mean loss with respect to each output, instead of the outputs.
  float* out = error.elements<float>();
  std::vector<float> counts(list.models.size()), bias_gradient(width);
  for (std::size_t i = 0; i < list.models.size(); ++i) {
    for (std::size_t r = 0; r < n; ++r)
      counts[i] += std::isnan(labels[r * models() + list.models[i]]) ? 0 : 1;
  }
  for (std::size_t r = 0; r < n; ++r) {
    float* logits = out + r * width;
    for (std::size_t i = 0; i < list.models.size(); ++i) {
      const std::size_t m = list.models[i], size = outputs_[m];
      const float label = labels[r * models() + m];
      for (std::size_t o = 0; o < size; ++o) logits[o] += bias_[first_[m] + o];
      if (std::isnan(label)) {
        std::fill_n(logits, size, 0.0F);
      } else if (size == 1) {
        logits[0] = (1 / (1 + std::exp(-logits[0])) - label) / counts[i];
      } else {
        const float greatest = *std::max_element(logits, logits + size);
        float sum = 0;
        for (std::size_t o = 0; o < size; ++o) sum += logits[o] = std::exp(logits[o] - greatest);
        for (std::size_t o = 0; o < size; ++o)
          logits[o] = (logits[o] / sum - (static_cast<float>(o) == label ? 1.0F : 0.0F)) / counts[i];
      }
      logits += size;
    }
    for (std::size_t c = 0; c < width; ++c) bias_gradient[c] += out[r * width + c];
  }

  const Array gradient = array::mm(error.t(), rows).contiguous();
  std::vector<char> counted;
  for (std::size_t i = 0; i < list.models.size(); ++i)
    counted.insert(counted.end(), outputs_[list.models[i]], counts[i] > 0 ? 1 : 0);
  split_loop(width, 16, [&](std::size_t from, std::size_t to) {
    for (std::size_t c = from; c < to; ++c) {
      if (counted[c] != 0) update(list.columns[c], gradient.elements<float>() + c * units_, bias_gradient[c]);
    }
  });
}

void MergedModels::update(std::size_t column, const float* gradient, float bias_gradient) {
  const double t = ++steps_[column];
  const double rate = settings_.rate / std::sqrt(1 + (t - 1) / 1000),
               corrected = rate / (1 - std::pow(decay_mean, t)), widen = 1 / (1 - std::pow(decay_square, t));
  const std::size_t at = column * units_;
  adam(weights_.data() + at, mean_.data() + at, square_.data() + at, gradient, units_,
       static_cast<float>(corrected), static_cast<float>(widen), static_cast<float>(rate * settings_.l1),
       static_cast<float>(settings_.l2));
  adam(bias_.data() + column, bias_mean_.data() + column, bias_square_.data() + column, &bias_gradient, 1,
       static_cast<float>(corrected), static_cast<float>(widen), 0, 0);
  const float share = settings_.averaged ? static_cast<float>(2 / (t + 1)) : 1.0F;
  approach(std::span(average_).subspan(at, units_), std::span(weights_).subspan(at, units_), share);
  approach(std::span(bias_average_).subspan(column, 1), std::span(bias_).subspan(column, 1), share);
}

Array MergedModels::logits(const Array& rows) const {
  const array::Recording unrecorded(false);
  const std::int64_t columns = this->columns();
  std::vector<float> all(weights_.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = effective(i);
  const Array weights =
                  Array::around(all.data(), DType::float32, {columns, static_cast<std::int64_t>(units_)}),
              bias = Array::around(const_cast<float*>(bias_average_.data()), DType::float32, {columns});
  return array::addmm(bias, rows, weights.t()).contiguous();
}

nlohmann::json MergedModels::save() const {
  return {{"weights", pack_array(weights_)},     {"mean", pack_array(mean_)},
          {"square", pack_array(square_)},       {"bias", pack_array(bias_)},
          {"bias_mean", pack_array(bias_mean_)}, {"bias_square", pack_array(bias_square_)},
          {"average", pack_array(average_)},     {"bias_average", pack_array(bias_average_)},
          {"steps", pack_array(steps_)}};
}

void MergedModels::load(const nlohmann::json& state) {
  unpack_same(state.at("weights"), weights_);
  unpack_same(state.at("mean"), mean_);
  unpack_same(state.at("square"), square_);
  unpack_same(state.at("bias"), bias_);
  unpack_same(state.at("bias_mean"), bias_mean_);
  unpack_same(state.at("bias_square"), bias_square_);
  unpack_same(state.at("average"), average_);
  unpack_same(state.at("bias_average"), bias_average_);
  unpack_same(state.at("steps"), steps_);
}

double log2_probability(const float* logits, std::size_t outputs, std::size_t label) {
  if (outputs == 1) {
    const double margin = label == 1 ? logits[0] : -logits[0];  // log(1 / (1 + exp(-margin))), stable
    return (std::min(margin, 0.0) - std::log1p(std::exp(-std::fabs(margin)))) / std::log(2.0);
  }
  const double greatest = *std::max_element(logits, logits + outputs);
  double sum = 0;
  for (std::size_t o = 0; o < outputs; ++o) sum += std::exp(logits[o] - greatest);
  return (logits[label] - greatest - std::log(sum)) / std::log(2.0);
}

std::size_t predicted(const float* logits, std::size_t outputs) {
  if (outputs == 1) return logits[0] > 0 ? 1 : 0;
  return std::max_element(logits, logits + outputs) - logits;
}

}  // namespace assay::inspection
