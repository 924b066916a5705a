#include "assay/results/networks/pictures.h"

#include <fmt/format.h>

#include <algorithm>

#include <assay/dataset.h>
#include "assay/data/files/triple.h"
#include "assay/results/networks/marks.h"

namespace assay::results {
namespace {

ValidRange range_of(std::span<const float> elements) {
  const auto [low, high] = std::minmax_element(elements.begin(), elements.end());
  return {{*low}, {*high}};
}

void draw_decisions(Triple& triple, const ChangedRecord& record, const Shape& shape) {
  triple.image = with_channels(std::move(triple.image), 3);
  Panel panel{.width = static_cast<int>(shape[2]), .height = static_cast<int>(shape[1]), .zoom = triple.zoom};
  draw_marks(triple.image, panel, record.decided_before);
  panel.left = triple.step;
  draw_marks(triple.image, panel, record.decided_after);
}

}  // namespace

std::vector<report::Picture> draw_triples(const Dataset& data, std::span<const ChangedRecord> records,
                                          const std::filesystem::path& folder, const std::string& name) {
  const auto declared = data.valid_range();
  std::vector<report::Picture> pictures;
  for (const ChangedRecord& record : records) {
    Triple triple = triple_of(record.before, record.after, data.record_shape(),
                              declared ? *declared : range_of(record.before));
    const auto path = folder / fmt::format("{}-{}.png", name, pictures.size() + 1);
    draw_decisions(triple, record, data.record_shape());
    write_png(path, triple.image);
    pictures.push_back(
        {fmt::format("{}; difference times {:.3g}", record.caption, triple.amplification), path});
  }
  return pictures;
}

}  // namespace assay::results
