#include "assay/data/summary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <unordered_map>

#include <assay/dataset.h>
#include <assay/error.h>
#include <assay/extend/random.h>
#include "assay/data/content.h"
#include "assay/data/files/filling.h"
#include "assay/data/portions.h"
#include "assay/support/numbers/simd_sums.h"

namespace assay::inline data {
namespace {

// Mean and squares about it of the elements so far, batch by batch (Chan, Golub and LeVeque 1983), so that
// values far from 0 lose nothing.
struct Moments {
  double count = 0, mean = 0, squares = 0;

  void add(std::span<const float> values) {
    if (values.empty()) return;
    const double n = values.size();
    const double of_these = simd_sum(values) / n, apart = of_these - mean;
    squares += simd_squares(values, of_these);
    squares += apart * apart * count * n / (count + n);
    mean += apart * n / (count + n);
    count += n;
  }
};

void add_elements(const Array& inputs, DataSummary& summary, Moments& moments) {
  const Array values = inputs.dtype() == DType::float32 ? inputs : inputs.to(DType::float32);
  const Extremes found = extremes(values.as<float>());
  summary.low = std::min<double>(summary.low, found.least);
  summary.high = std::max<double>(summary.high, found.greatest);
  moments.add(values.as<float>());
}

void add_targets(const Array& targets, DataSummary& summary) {
  if (targets.count() == 0) return;
  const std::size_t width = targets.shape()[1];
  if (summary.target_low.empty()) {
    summary.target_low.assign(width, std::numeric_limits<double>::infinity());
    summary.target_high.assign(width, -std::numeric_limits<double>::infinity());
    summary.target_mean.assign(width, 0);
  }
  const auto values = targets.as<float>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t t = i % width;
    summary.target_low[t] = std::min<double>(summary.target_low[t], values[i]);
    summary.target_high[t] = std::max<double>(summary.target_high[t], values[i]);
    summary.target_mean[t] += values[i];
  }
}

void copy_into(Image& sheet, const Image& picture, int x0, int y0) {
  for (int y = 0; y < picture.height; ++y) {
    for (int x = 0; x < picture.width; ++x) {
      for (int c = 0; c < sheet.channels; ++c)
        sheet.at(x0 + x, y0 + y, c) = picture.at(x, y, picture.channels == 1 ? 0 : c);
    }
  }
}

// Record positions for each row of the sheet: one class a row where there are labels.
std::vector<std::vector<std::size_t>> choose(const Dataset& dataset, std::size_t columns, std::size_t rows,
                                             std::uint64_t seed) {
  const bool by_class = dataset.class_count() > 1;
  std::vector<std::vector<std::size_t>> groups(by_class ? std::min(dataset.class_count(), std::size_t{20})
                                                        : rows);
  Rng rng(seed);
  std::vector<std::size_t> order = rng.sample(dataset.size(), dataset.size());
  rng.shuffle(order);
  std::size_t next = 0;
  for (const std::size_t i : order) {
    const std::size_t group = by_class ? static_cast<std::size_t>(dataset.label(i)) : next++ / columns;
    if (group < groups.size() && groups[group].size() < columns) groups[group].push_back(i);
  }
  std::erase_if(groups, [](const auto& group) { return group.empty(); });
  return groups;
}

}  // namespace

DataSummary summarise(const DatasetPtr& dataset, Progress& progress) {
  DataSummary summary;
  summary.low = std::numeric_limits<double>::infinity();
  summary.high = -summary.low;
  summary.class_records.assign(dataset->class_count(), 0);
  std::map<Hash128, std::size_t> seen;
  Moments moments;
  BatchReader reader(dataset, records_at_once(*dataset, 256));
  Stage stage(progress, "reading", dataset->size(), "records");
  while (auto batch = reader.next()) {
    add_elements(batch->inputs, summary, moments);
    add_targets(batch->targets, summary);
    for (std::size_t i = 0; i < batch->indices.size(); ++i) {
      if (!batch->labels.empty()) ++summary.class_records[batch->labels[i]];
      const auto [it, is_new] = seen.emplace(content_of(*batch, i), batch->indices[i]);
      if (is_new) continue;
      ++summary.duplicates;
      if (dataset->has_labels()) summary.conflicting += dataset->label(it->second) != batch->labels[i];
      if (summary.examples.size() < 5) summary.examples.emplace_back(batch->indices[i], it->second);
    }
    stage.advance(batch->indices.size());
  }
  summary.mean = moments.mean;
  summary.deviation = std::sqrt(moments.squares / moments.count);
  for (double& mean : summary.target_mean) mean /= dataset->size();
  return summary;
}

bool has_binary_targets(const Dataset& data) {
  const Array sample = sampled_targets(data);
  const auto targets = sample.as<float>();
  const auto is = [&](float value) { return std::ranges::find(targets, value) != targets.end(); };
  return is(0) && is(1) && std::ranges::all_of(targets, [](float t) { return t == 0 || t == 1; });
}

std::vector<std::size_t> other_labels(const Dataset& dataset, const Dataset& other) {
  if (!dataset.has_labels() || !other.has_labels())
    fail(Fault::mismatch, "{} and {}: both need labels to be compared", dataset.describe(), other.describe());
  std::unordered_map<std::string, std::int64_t> labels;
  for (std::size_t i = 0; i < other.size(); ++i) labels.emplace(other.id(i), other.label(i));
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < dataset.size(); ++i) {
    const auto it = labels.find(dataset.id(i));
    if (it == labels.end())
      fail(Fault::mismatch, "{} has no record '{}', which {} has", other.describe(), dataset.id(i),
           dataset.describe());
    if (it->second != dataset.label(i)) positions.push_back(i);
  }
  return positions;
}

Image picture_of(std::span<const float> elements, const Shape& shape, float low, float high) {
  const int channels = shape[0] == 3 ? 3 : 1, height = static_cast<int>(shape[1]),
            width = static_cast<int>(shape[2]);
  Image image = make_image(width, height, channels);
  const float scale = high > low ? 255 / (high - low) : 0;
  for (int c = 0; c < channels; ++c) {
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const float value = elements[(c * height + y) * width + x];
        image.at(x, y, c) = static_cast<std::uint8_t>(std::clamp((value - low) * scale + 0.5F, 0.0F, 255.0F));
      }
    }
  }
  return image;
}

Image contact_sheet(const Dataset& dataset, std::size_t columns, std::size_t rows, std::uint64_t seed) {
  const Shape shape = dataset.record_shape();
  if (shape.size() != 3 || dataset.dtype() != DType::float32) {
    fail(Fault::usage, "{}: records of shape {} are not pictures, so there is no contact sheet",
         dataset.describe(), to_string(shape));
  }
  if (columns == 0 || rows == 0) fail(Fault::usage, "a contact sheet needs at least one row and one column");
  const auto groups = choose(dataset, columns, rows, seed);
  const auto range = dataset.valid_range();
  const int zoom = std::max(1, 56 / static_cast<int>(std::max(shape[1], shape[2]))), gap = 2;
  const int width = static_cast<int>(shape[2]) * zoom + gap, height = static_cast<int>(shape[1]) * zoom + gap;
  Image sheet = make_image(width * static_cast<int>(columns) + gap,
                           height * static_cast<int>(groups.size()) + gap, shape[0] == 3 ? 3 : 1);
  std::fill(sheet.pixels.begin(), sheet.pixels.end(), std::uint8_t{96});
  for (std::size_t row = 0; row < groups.size(); ++row) {
    for (std::size_t i = 0; i < groups[row].size(); ++i) {
      const Batch batch = dataset.read(std::span(groups[row]).subspan(i, 1));
      const auto record = batch.inputs.as<float>();
      const float low = range ? range->low[0] : *std::min_element(record.begin(), record.end());
      const float high = range ? range->high[0] : *std::max_element(record.begin(), record.end());
      Image picture = picture_of(record, shape, low, high);
      if (zoom > 1) picture = resized(picture, picture.width * zoom, picture.height * zoom);
      copy_into(sheet, picture, gap + static_cast<int>(i) * width, gap + static_cast<int>(row) * height);
    }
  }
  return sheet;
}

}  // namespace assay::inline data
