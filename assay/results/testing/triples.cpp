#include "assay/results/networks/pictures.h"

#include <fmt/format.h>

#include <algorithm>

#include <assay/dataset.h>
#include "assay/data/files/triple.h"

namespace assay::results {
namespace {

ValidRange range_of(std::span<const float> elements) {
  const auto [low, high] = std::minmax_element(elements.begin(), elements.end());
  return {{*low}, {*high}};
}

}  // namespace

std::vector<report::Picture> draw_triples(const Dataset& data, std::span<const ChangedRecord> records,
                                          const std::filesystem::path& folder, const std::string& name) {
  const auto declared = data.valid_range();
  std::vector<report::Picture> pictures;
  for (const ChangedRecord& record : records) {
    const Triple triple = triple_of(record.before, record.after, data.record_shape(),
                                    declared ? *declared : range_of(record.before));
    const auto path = folder / fmt::format("{}-{}.png", name, pictures.size() + 1);
    write_png(path, triple.image);
    pictures.push_back(
        {fmt::format("{}; difference times {:.3g}", record.caption, triple.amplification), path});
  }
  return pictures;
}

}  // namespace assay::results
