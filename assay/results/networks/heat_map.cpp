#include "assay/results/networks/pictures.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include <assay/dataset.h>
#include <assay/evaluate.h>
#include <assay/extend/random.h>
#include "assay/data/summary.h"
#include "assay/relevance/item_target.h"
#include "assay/results/document.h"
#include "assay/results/networks/explained.h"
#include "assay/task/standing.h"

namespace assay::results {

namespace {

Image heat_map(std::span<const float> record, std::span<const float> relevance, const Shape& shape, float low,
               float high) {
  const int height = static_cast<int>(shape[1]), width = static_cast<int>(shape[2]);
  const std::size_t plane = static_cast<std::size_t>(height) * static_cast<std::size_t>(width);
  std::vector<float> heat(plane, 0.0F);
  for (std::size_t i = 0; i < relevance.size(); ++i) heat[i % plane] += relevance[i];
  float largest = 0;
  for (const float h : heat) largest = std::max(largest, std::fabs(h));
  const Image picture = with_channels(picture_of(record, shape, low, high), 3);
  const int zoom = std::max(1, 160 / std::max(height, width));
  Image result = make_image(2 * width * zoom + 4, height * zoom, 3);
  std::fill(result.pixels.begin(), result.pixels.end(), std::uint8_t{96});
  for (int y = 0; y < height * zoom; ++y) {
    for (int x = 0; x < width * zoom; ++x) {
      const float share = largest > 0 ? heat[(y / zoom) * width + x / zoom] / largest : 0;
      const auto faded = static_cast<std::uint8_t>(255 * (1 - std::sqrt(std::fabs(share))));
      const std::uint8_t colour[3] = {share >= 0 ? std::uint8_t{255} : faded, faded,
                                      share >= 0 ? faded : std::uint8_t{255}};
      for (int c = 0; c < 3; ++c) {
        result.at(x, y, c) = picture.at(x / zoom, y / zoom, c);
        result.at(width * zoom + 4 + x, y, c) = colour[c];
      }
    }
  }
  return result;
}

}  // namespace

Explained explained_of(const Session& session, const Batch& batch, const Tensors& given, const Dataset& data,
                       const task::Task* task) {
  if (task == nullptr && data.target_width() > 0) return {};
  const ValueId decision = session.logits();
  const Array outputs = session.run(given, std::span(&decision, 1)).at(decision);
  if (task != nullptr)
    return {relevance::target_of_items(*task, outputs, task::right_items(*task, outputs, batch, data)), {}};
  return {{}, predicted_classes(session, outputs, batch.indices.size())};
}

std::optional<std::string> named_class(const Explained& explained, std::size_t row, const Dataset& data) {
  if (explained.classes.empty()) return std::nullopt;
  const std::int64_t named = explained.classes[row];
  return named < 0 ? "none" : class_name(data.class_names(), named);
}

std::string caption_of(const Explained& explained, std::size_t row, const std::string& id,
                       const Dataset& data) {
  const std::optional<std::string> named = named_class(explained, row, data);
  return fmt::format("record '{}'{} and its relevance (red for, blue against)", id,
                     named ? fmt::format(", named {},", *named) : "");
}

bool is_picture(const Dataset& data) {
  return data.record_shape().size() == 3 && data.dtype() == DType::float32;
}

std::vector<report::Picture> draw_relevance(const Session& session, const Dataset& data,
                                            const std::string& method, relevance::AttributionOptions options,
                                            const Drawing& drawing, const task::Task* task) {
  const std::vector<std::size_t> chosen =
      Rng(drawing.seed).sample(data.size(), std::min(drawing.count, data.size()));
  const Batch batch = data.read(chosen);
  const ValueId input = session.first_input(data.facts());
  options.wanted = {input};
  options.outputs = data.target_width() > 0;
  const auto attribution = relevance::make_attribution(method, session, options);
  const Tensors given = session.bind(batch);
  const Explained explained = explained_of(session, batch, given, data, task);
  const Array relevance =
      attribution->attribute(given, explained.target, std::span(&input, 1)).values.at(input).contiguous();
  const auto values = batch.inputs.as<float>(), heat = relevance.as<float>();
  const std::size_t size = values.size() / chosen.size();
  const auto range = data.valid_range();
  std::vector<report::Picture> pictures;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const auto record = values.subspan(i * size, size);
    const float low = range ? range->low[0] : *std::min_element(record.begin(), record.end());
    const float high = range ? range->high[0] : *std::max_element(record.begin(), record.end());
    const auto path = drawing.folder / fmt::format("relevance-{}.png", chosen[i]);
    write_png(path, heat_map(record, heat.subspan(i * size, size), data.record_shape(), low, high));
    pictures.push_back({caption_of(explained, i, data.id(chosen[i]), data), path});
  }
  return pictures;
}

}  // namespace assay::results
