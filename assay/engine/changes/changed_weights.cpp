#include "assay/engine/changes/changed_weights.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "assay/engine/elements.h"
#include "assay/engine/lanes/batch_blocks.h"
#include "assay/engine/parameters.h"
#include "assay/engine/threads/workers.h"

namespace assay::inline engine {
namespace {

// Of all weights, changed ones that are computed by themselves: each takes longer than where all pass by.
constexpr double most_changes = 0.25;

bool is_dense(const Node& node, const Shape& input) {
  return (node.op == "MatMul" || (node.op == "Gemm" && node.integer("transA", 0) == 0)) && input.size() == 2;
}

// The node's constant there; nullptr where it has none.
const Array* constant_of(const Graph& graph, const Node& node, std::size_t input) {
  if (input >= node.inputs.size() || node.inputs[input] == no_value) return nullptr;
  return graph.is_constant(node.inputs[input]) ? &graph.constant(node.inputs[input]) : nullptr;
}

bool all_finite(std::span<const float> numbers) {
  int broken = 0;
  for (const float x : numbers) broken |= !(std::abs(x) <= std::numeric_limits<float>::max());
  return broken == 0;
}

bool same(float a, float b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// From one constant to the other; false where that cannot be told element by element.
bool comparable(const Array* was, const Array* now) {
  if (was == nullptr || now == nullptr) return was == now;
  return was->dtype() == DType::float32 && now->dtype() == DType::float32 && was->shape() == now->shape();
}

}  // namespace

std::optional<ChangedWeights::Windows> ChangedWeights::windows_of(const Node& node, const Shape& kernel,
                                                                  const Shape& input, const Shape& output) {
  constexpr std::int64_t most_elements = std::int64_t{1} << 26;  // offsets are 32 bits wide
  if (is_dense(node, input) && kernel.size() == 2 && input[1] <= most_elements && output[1] <= most_elements)
    return Windows{.picture = {1}, .padded = {1}, .left = {0}, .taps = {0}, .rows = {0}, .one = true};
  if (node.op != "Conv" || input.size() < 3 || kernel.size() != input.size()) return std::nullopt;
  const SlidingWindow window = sliding_window(node, input, output, {kernel.begin() + 2, kernel.end()});
  if (node.integer("group", 1) != 1 ||
      std::ranges::any_of(window.strides, [](std::int64_t step) { return step != 1; }) ||
      std::ranges::any_of(window.left, [](std::int64_t zeros) { return zeros < 0; }))
    return std::nullopt;
  Windows windows{.picture = {input.begin() + 2, input.end()},
                  .padded = {},
                  .left = window.left,
                  .taps = {0},
                  .rows = {0},
                  .row = output.back()};
  const std::size_t dims = windows.picture.size();
  for (std::size_t d = 0; d < dims; ++d)
    windows.padded.push_back(windows.picture[d] + window.left[d] +
                             std::max<std::int64_t>(window.right[d], 0));
  if (input[1] * element_count(windows.padded) > most_elements) return std::nullopt;
  std::int64_t step = 1;
  for (std::size_t d = dims; d-- > 0; step *= windows.padded[d]) {
    // Axes from the last to the first, the last one the quickest to change.
    const auto spread = [step](const std::vector<std::int64_t>& inner, std::int64_t count,
                               std::int64_t apart) {
      std::vector<std::int64_t> all;
      for (std::int64_t i = 0; i < count; ++i) {
        for (const std::int64_t offset : inner) all.push_back(i * apart * step + offset);
      }
      return all;
    };
    windows.taps = spread(windows.taps, window.kernel[d], window.dilations[d]);
    if (d + 1 < dims) windows.rows = spread(windows.rows, output[d + 2], 1);
  }
  return windows;
}

ChangedWeights::ChangedWeights(Windows windows, std::int64_t channels, std::int64_t width,
                               const std::vector<Change>& changes, const std::vector<float>& by_unit)
    : windows_(std::move(windows)),
      channels_(channels),
      width_(width),
      positions_(windows_.rows.back() + windows_.row) {
  const std::int64_t size = element_count(windows_.padded);
  std::vector<std::vector<ChangedTap>> taps(width);
  for (const Change& change : changes)
    taps[change.unit].push_back(
        {static_cast<std::int32_t>(change.channel * size + windows_.taps[change.tap]), change.by});
  for (std::size_t u = 0; u < taps.size(); ++u) {
    if (taps[u].empty() && by_unit[u] == 0) continue;
    units_.push_back(u);
    taps_.push_back(std::move(taps[u]));
    bias_.push_back(by_unit[u]);
  }
  if (windows_.one) go_dense();
}

void ChangedWeights::go_dense() {
  for (std::size_t u = 0; u < taps_.size(); ++u) {
    lanes::Pattern& pattern = map_.patterns.emplace_back(
        lanes::Pattern{.taps = {}, .places = {{0, static_cast<std::int32_t>(u * lanes::width)}}});
    for (const ChangedTap& tap : taps_[u]) {
      pattern.taps.push_back(
          {tap.offset * static_cast<std::int32_t>(lanes::width), static_cast<std::int32_t>(weights_.size())});
      weights_.push_back(tap.by);
    }
  }
  map_.inner = std::ssize(weights_);
  map_.units = 1;
  taps_ = {};
}

std::optional<ChangedWeights> ChangedWeights::between(const Graph& original, const Node& was,
                                                      const Graph& mutant, const Node& now,
                                                      const Shape& input, const Shape& output) {
  const Array *old_weights = constant_of(original, was, 1), *weights = constant_of(mutant, now, 1),
              *old_bias = constant_of(original, was, 2), *bias = constant_of(mutant, now, 2);
  if (was.op != now.op || was.inputs.size() != now.inputs.size() || weights == nullptr ||
      !comparable(old_weights, weights) || !comparable(old_bias, bias))
    return std::nullopt;
  const bool computed_bias = bias == nullptr && now.inputs.size() > 2 && now.inputs[2] != no_value;
  std::optional<Windows> windows = windows_of(now, weights->shape(), input, output);
  if (!windows || computed_bias) return std::nullopt;
  const bool dense = now.op != "Conv";
  const bool by_unit = !dense || (now.op == "Gemm" && now.integer("transB", 0) != 0);
  const std::int64_t width = output[1], channels = input[1], kernel = std::ssize(windows->taps);

  const float alpha = now.op == "Gemm" ? now.real("alpha", 1.0F) : 1.0F,
              beta = now.op == "Gemm" ? now.real("beta", 1.0F) : 1.0F;
  const auto most = static_cast<std::size_t>(most_changes * weights->count());
  std::vector<Change> changes;
  if (!weights->shares_storage(*old_weights)) {
    const auto before = old_weights->as<float>(), after = weights->as<float>();
    for (std::size_t i = 0; i < after.size(); ++i) {
      if (same(before[i], after[i])) continue;
      if (changes.size() >= most) return std::nullopt;
      const std::int64_t at = i;
      const float by = alpha * (after[i] - before[i]);
      if (by_unit)
        changes.push_back({at / (channels * kernel), at / kernel % channels, at % kernel, by});
      else
        changes.push_back({at % width, at / width, 0, by});
    }
  }
  std::vector<float> added(width, 0.0F);
  for (std::int64_t i = 0; bias != nullptr && i < bias->count(); ++i) {
    const float before = old_bias->elements<float>()[i], after = bias->elements<float>()[i];
    if (same(before, after)) continue;
    if (bias->count() != width || bias->shape().back() != width) return std::nullopt;
    added[i] = beta * (after - before);
  }
  ChangedWeights found(std::move(*windows), channels, width, changes, added);
  return found.units_.empty() ? std::nullopt : std::optional(std::move(found));
}

std::optional<ChangedWeights> ChangedWeights::of_channels(const Graph& graph, const Node& node,
                                                          std::span<const std::int64_t> channels,
                                                          const Shape& input, const Shape& output) {
  const Array* const weights = constant_of(graph, node, 1);
  if (node.op != "Conv" || weights == nullptr || weights->dtype() != DType::float32) return std::nullopt;
  std::optional<Windows> windows = windows_of(node, weights->shape(), input, output);
  const std::int64_t width = output[1], count = std::ssize(channels);
  if (!windows || count > most_changes * input[1]) return std::nullopt;
  const auto kernel = std::ssize(windows->taps);
  std::vector<Change> changes;
  for (std::int64_t u = 0; u < width; ++u) {
    for (std::int64_t c = 0; c < count; ++c) {
      const std::int64_t from = (u * input[1] + channels[c]) * kernel;
      for (std::int64_t k = 0; k < kernel; ++k)
        changes.push_back({u, c, k, weights->elements<float>()[from + k]});
    }
  }
  return ChangedWeights(std::move(*windows), count, width, changes, std::vector<float>(width, 0.0F));
}

// Into pictures with zeros around them.
void ChangedWeights::pad(const float* record, float* to) const {
  const Shape &picture = windows_.picture, &padded = windows_.padded;
  const std::size_t last = picture.size() - 1;
  const std::int64_t size = element_count(padded), rows = element_count(picture) / picture[last];
  std::fill_n(to, channels_ * size, 0.0F);
  for (std::int64_t c = 0; c < channels_; ++c) {
    for (std::int64_t row = 0; row < rows; ++row, record += picture[last]) {
      std::int64_t at = 0, step = padded[last], rest = row;
      for (std::size_t d = last; d-- > 0; step *= padded[d], rest /= picture[d])
        at += (rest % picture[d] + windows_.left[d]) * step;
      std::copy_n(record, picture[last], to + c * size + at + windows_.left[last]);
    }
  }
}

void ChangedWeights::run_record(const float* operand, const float* before, float* sums, float* result) const {
  for (std::size_t u = 0; u < units_.size(); ++u) {
    sum_taps(taps_[u], bias_[u], positions_, operand, sums);
    for (const std::int64_t from : windows_.rows) {
      for (std::int64_t i = 0; i < windows_.row; ++i) result[i] = before[i] + sums[from + i];
      before += windows_.row;
      result += windows_.row;
    }
  }
}

void ChangedWeights::run_pictures(const Array& operand, const Array& before, int threads,
                                  Array& result) const {
  const std::int64_t records = before.size(0), in = operand.count() / records, out = before.count() / records,
                     padded = channels_ * element_count(windows_.padded);
  const float* const from = operand.elements<float>();
  const float* const was = before.elements<float>();
  float* const to = result.elements<float>();
  std::atomic<std::int64_t> next{0};
  run_workers(threads, [&](std::size_t) {
    std::vector<float> sums(positions_ + tap_slack), copy(padded + tap_slack);
    for (std::int64_t r; (r = next.fetch_add(1)) < records;) {
      const float* record = from + r * in;
      // Memory read after the record has to belong to the tensor.
      if (windows_.padded != windows_.picture || (r + 1) * in + tap_slack > operand.count()) {
        pad(record, copy.data());
        record = copy.data();
      }
      run_record(record, was + r * out, sums.data(), to + r * out);
    }
  });
}

void ChangedWeights::run_blocks(const Array& operand, const Array& before, int threads, Array& result) const {
  const std::int64_t records = before.size(0), units = std::ssize(units_);
  const float* const from = operand.elements<float>();
  const float* const was = before.elements<float>();
  float* const to = result.elements<float>();
  lanes::each_block(
      threads, (channels_ + units) * lanes::width, records, 1, 1, [](float* memory) { return memory; },
      [&](float* block, std::int64_t first, std::int64_t count) {
        float* const sums = block + channels_ * lanes::width;
        const float* rows[lanes::width];
        float* results[lanes::width];
        lanes::point_at_rows(from + first * channels_, channels_, count, rows);
        lanes::to_lanes(rows, channels_, block);
        lanes::apply(map_, block, weights_.data(), nullptr, lanes::Finish::none, false, sums);
        lanes::point_at_rows(to + first * units, units, count, results);
        lanes::from_lanes(sums, units, count, results);
        for (std::int64_t i = first * units; i < (first + count) * units; ++i)
          to[i] = was[i] + (to[i] + bias_[i % units]);
      });
}

Array ChangedWeights::run(const Array& operand, const Array& before, int threads) const {
  const Array given = in_memory(operand, DType::float32), was = in_memory(before, DType::float32);
  Array now = array::empty(was.shape());
  if (was.count() == 0) return now;
  if (windows_.one)
    run_blocks(given, was, threads, now);
  else
    run_pictures(given, was, threads, now);
  return all_finite(now.as<float>()) ? now : Array();
}

}  // namespace assay::inline engine
