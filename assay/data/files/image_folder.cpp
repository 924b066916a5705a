#include "assay/data/files/image_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <assay/error.h>
#include "assay/data/files/image.h"
#include "assay/data/portions.h"
#include "assay/data/summary.h"
#include "assay/support/files/file.h"

namespace assay::inline data {
namespace {

namespace fs = std::filesystem;

PixelScale scale_of(const Dataset& data) {
  const Shape& shape = data.record_shape();
  if (shape.size() != 3 || (shape[0] != 1 && shape[0] != 3) || data.dtype() != DType::float32)
    fail(Fault::usage, "{}: records of shape {} are not pictures", data.describe(), to_string(shape));
  if (!data.has_labels()) fail(Fault::usage, "{}: there are no classes to make folders of", data.describe());
  const auto& range = data.valid_range();
  const auto same = [](const std::vector<float>& ends) {
    return std::ranges::all_of(ends, [&](float end) { return end == ends[0]; });
  };
  if (!range || !same(range->low) || !same(range->high) || range->high[0] <= range->low[0])
    fail(Fault::usage, "{}: which values are black and white is not known, or differs between channels",
         data.describe());
  return {.low = range->low[0], .high = range->high[0]};
}

// The most by which a value differs from what its pixel stands for.
double change(std::span<const float> values, const Shape& shape, const Image& image,
              const PixelScale& scale) {
  constexpr double white = 255;
  double most = 0;
  std::size_t next = 0;
  for (int c = 0; c < static_cast<int>(shape[0]); ++c) {
    for (int y = 0; y < image.height; ++y) {
      for (int x = 0; x < image.width; ++x) {
        const double shown = scale.low + image.at(x, y, c) / white * (scale.high - scale.low);
        most = std::max(most, std::abs(shown - values[next++]));
      }
    }
  }
  return most;
}

}  // namespace

PixelScale write_image_folder(const Dataset& data, const fs::path& folder) {
  const std::size_t together = records_at_once(data, 256);
  PixelScale scale = scale_of(data);
  const std::size_t digits = std::to_string(data.class_count() - 1).size(),
                    places = std::to_string(data.size() - 1).size();
  const auto folder_of = [&](std::int64_t label) { return folder / fmt::format("{:0{}}", label, digits); };
  for (std::size_t c = 0; c < data.class_count(); ++c) make_folders(folder_of(static_cast<std::int64_t>(c)));
  for (std::size_t begin = 0; begin < data.size(); begin += together) {
    std::vector<std::size_t> indices(std::min(together, data.size() - begin));
    std::iota(indices.begin(), indices.end(), begin);
    const Batch batch = data.read(indices);
    const auto values = batch.inputs.as<float>();
    const std::size_t each = values.size() / indices.size();
    for (std::size_t r = 0; r < indices.size(); ++r) {
      const auto record = values.subspan(r * each, each);
      const Image image = picture_of(record, data.record_shape(), scale.low, scale.high);
      scale.changed = std::max(scale.changed, change(record, data.record_shape(), image, scale));
      write_png(folder_of(batch.labels[r]) / fmt::format("{:0{}}.png", begin + r, places), image);
    }
  }
  return scale;
}

}  // namespace assay::inline data
