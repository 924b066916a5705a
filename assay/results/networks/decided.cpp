#include <fmt/format.h>

#include <algorithm>

#include <assay/task.h>
#include "assay/data/summary.h"
#include "assay/results/networks/marks.h"
#include "assay/results/networks/pictures.h"

namespace assay::results {
namespace {

constexpr int least_side = 160, gap = 4;

// A record twice, marked as labelled and as decided.
Image labelled_and_decided(const Image& picture, const task::Marks& labelled, const task::Marks& decided) {
  Panel panel{.width = picture.width, .height = picture.height};
  panel.zoom = std::max(1, least_side / std::max(picture.width, picture.height));
  const int width = picture.width * panel.zoom;
  Image image = make_image(2 * width + gap, picture.height * panel.zoom, 3);
  std::fill(image.pixels.begin(), image.pixels.end(), std::uint8_t{96});
  for (const task::Marks* const marks : {&labelled, &decided}) {
    for (int y = 0; y < image.height; ++y) {
      for (int x = 0; x < width; ++x) {
        for (int c = 0; c < 3; ++c)
          image.at(panel.left + x, y, c) = picture.at(x / panel.zoom, y / panel.zoom, c);
      }
    }
    draw_marks(image, panel, *marks);
    panel.left = width + gap;
  }
  return image;
}

// From black to white over the valid range, or over the values that there are.
Image picture_of_record(const Dataset& data, std::span<const float> elements) {
  const auto [low, high] = std::ranges::minmax(elements);
  const auto range = data.valid_range().value_or(ValidRange{{low}, {high}});
  const bool alike = range.low.size() == 1;
  return with_channels(
      picture_of(elements, data.record_shape(), alike ? range.low[0] : low, alike ? range.high[0] : high), 3);
}

}  // namespace

void draw_decided(report::Document& document, const Session& session, const DatasetPtr& data,
                  const task::Task& task, std::span<const task::ItemEvaluation::Worst> records,
                  const std::filesystem::path& folder) {
  for (const task::ItemEvaluation::Worst& record : records) {
    const task::Judgement judgement =
        task::judgements_of(session, data, task, std::span(&record.index, 1)).front();
    const task::Marks labelled = task.marks({judgement.wanted, judgement.places}),
                      decided = task.marks({judgement.decided, judgement.places});
    if (labelled.cells.empty() && labelled.frames.empty() && decided.frames.empty()) continue;
    const Batch batch = data->read(std::span(&record.index, 1));
    const Image picture = picture_of_record(*data, batch.inputs.as<float>());
    const auto path = folder / fmt::format("decided-{}.png", record.index);
    write_png(path, labelled_and_decided(picture, labelled, decided));
    document.pictures.push_back({fmt::format("record '{}': as labelled, as decided; {} of {} items right",
                                             record.id, record.right, record.items),
                                 path});
    for (const task::Marks* const marks : {&labelled, &decided})
      name_colours(document, *marks, task.class_names());
  }
}

}  // namespace assay::results
