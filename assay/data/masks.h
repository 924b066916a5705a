#pragma once

// Folders of index pictures that belong to records: a PNG for each, whose pixels are numbers.

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace assay::inline data {

// All .png files of a folder. Throws Error{data} where there are none.
class MaskFolder {
 public:
  explicit MaskFolder(const std::filesystem::path& folder);
  const std::filesystem::path& folder() const { return folder_; }
  const std::vector<std::filesystem::path>& files() const { return files_; }
  // That of a record by the last part of its id without the ending: that of "val/0007.jpg" is "0007.png".
  // nullptr where there is none. O(log files).
  const std::filesystem::path* find(const std::string& id) const;

 private:
  std::filesystem::path folder_;
  std::vector<std::filesystem::path> files_;  // ascending
  std::map<std::string, std::size_t, std::less<>> by_stem_;
};

// Which sizes masks have and are to have.
struct MaskSize {
  int height = 0, width = 0;
  bool resize = false;  // masks of another size are brought to this one, by the nearest pixel
};

// The numbers of a mask, row by row. Throws Error{data} for a record without a mask, a mask of another size
// that may not be resized, and one that is not a picture of indices.
std::vector<float> mask_of(const MaskFolder& masks, const std::string& id, const MaskSize& size);

}  // namespace assay::inline data
