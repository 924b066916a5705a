#include "assay/data/masks.h"

#include <cstdint>

#include <assay/error.h>
#include "assay/data/files/image.h"
#include "assay/support/files/file.h"
#include "assay/support/files/input_file.h"

namespace assay::inline data {
namespace {

namespace fs = std::filesystem;

std::string stem_of(const fs::path& path) { return path.stem().string(); }

// Pixel `at` of `to` pixels, in the middle, is in this one of `from`.
int nearest(int at, int to, int from) {
  return static_cast<int>((2 * std::int64_t{at} + 1) * from / (2 * std::int64_t{to}));
}

}  // namespace

MaskFolder::MaskFolder(const fs::path& folder) : folder_(folder) {
  for (const fs::path& file : files_in(folder, false)) {
    if (file.extension() == ".png") files_.push_back(file);
  }
  if (files_.empty()) fail(Fault::data, "{}: there are no .png files", folder.string());
  for (std::size_t i = 0; i < files_.size(); ++i) by_stem_.emplace(stem_of(files_[i]), i);
}

const fs::path* MaskFolder::find(const std::string& id) const {
  const auto found = by_stem_.find(stem_of(id));
  return found == by_stem_.end() ? nullptr : &files_[found->second];
}

std::vector<float> mask_of(const MaskFolder& masks, const std::string& id, const MaskSize& size) {
  const fs::path* const file = masks.find(id);
  if (file == nullptr)
    fail(Fault::data, "{} has no {}.png, the mask of record '{}'", masks.folder().string(), stem_of(id), id);
  const Image image = decode_indices(read_file(*file), file->string());
  if (!size.resize && (image.height != size.height || image.width != size.width))
    fail(Fault::data,
         "{} has {} x {} pixels, and record '{}' {} x {}; give masks of the size of the records, or "
         "resize=HxW "
         "for both",
         file->string(), image.height, image.width, id, size.height, size.width);
  std::vector<float> numbers;
  numbers.reserve(static_cast<std::size_t>(size.height) * static_cast<std::size_t>(size.width));
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x)
      numbers.push_back(
          image.at(nearest(x, size.width, image.width), nearest(y, size.height, image.height), 0));
  }
  return numbers;
}

}  // namespace assay::inline data
