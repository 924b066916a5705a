#include "assay/data/boxes.h"

#include <algorithm>
#include <set>

#include <assay/error.h>
#include "assay/support/files/file.h"
#include "assay/support/files/input_file.h"
#include "assay/support/text/parse.h"
#include "assay/support/text/text.h"

namespace assay::inline data {
namespace {

namespace fs = std::filesystem;

// A name a line.
std::vector<std::string> names_in(const fs::path& file) {
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 20;
  std::vector<std::string> names;
  for (std::string& line : parts_of(read_file(file, most_bytes), "\n")) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (!line.empty()) names.push_back(std::move(line));
  }
  if (names.empty()) fail(Fault::data, "{}: there are no names of classes; write one a line", file.string());
  return names;
}

bool has_xml(const fs::path& folder) {
  const std::vector<fs::path> files = files_in(folder, false);
  return std::ranges::any_of(files, [](const fs::path& file) { return file.extension() == ".xml"; });
}

// One direction of a picture, in pixels of the record: one of its units, its length, and how far a box may be
// outside of it, which is a pixel of either.
struct Side {
  double scale = 1, length = 0, margin = 1;
  bool holds(double at) const { return at * scale >= -margin && at * scale <= length + margin; }
  float of_record(double at) const { return static_cast<float>(std::clamp(at * scale, 0.0, length)); }
};

Side side_of(double picture, double record, bool relative) {
  if (relative) return {.scale = record, .length = record};
  const double scale = picture > 0 ? record / picture : 1;
  return {.scale = scale, .length = record, .margin = std::max(1.0, scale)};
}

void require_same_size(const PictureBoxes& picture, const RecordSize& record, const std::string& id) {
  const bool told = picture.width > 0 && picture.height > 0;
  if (picture.relative) return;
  if (!told && record.resized)
    fail(Fault::data, "{}: the size of the picture of record '{}' is missing; boxes are resized by it",
         picture.file, id);
  if (told && !record.resized && (picture.width != record.width || picture.height != record.height))
    fail(Fault::data,
         "{}: the picture of record '{}' has {:g} x {:g} pixels there, and the record {:g} x {:g}; give "
         "resize=HxW, which also resizes the boxes",
         picture.file, id, picture.height, picture.width, record.height, record.width);
}

}  // namespace

BoxCategories::BoxCategories(const std::string& text) : by_id_(text == "id") {
  if (text.empty() || by_id_) return;
  names_ = text.ends_with(".txt") ? names_in(text) : parts_of(text, "+");
  std::set<std::string> seen;
  for (const std::string& name : names_) {
    if (!seen.insert(name).second) fail(Fault::usage, "categories={}: '{}' is given twice", text, name);
  }
}

std::int64_t BoxCategories::number_of_name(const std::string& name, const std::string& where) const {
  const auto found = std::ranges::find(names_, name);
  if (found == names_.end())
    fail(Fault::data, "{}: no category is named '{}'{}; the names are those of categories=", where, name,
         did_you_mean(name, names_));
  return found - names_.begin();
}

BoxLabels read_boxes(const fs::path& path, std::span<const std::string> ids, const std::string& categories) {
  BoxCategories numbers(categories);
  if (!fs::is_directory(path)) return read_coco_boxes(path, ids, numbers);
  if (numbers.by_id())
    fail(Fault::usage,
         "categories=id is about COCO's JSON, and {} is a folder; leave it out, or give the names of the "
         "classes",
         path.string());
  return has_xml(path) ? read_voc_boxes(path, ids, numbers) : read_yolo_boxes(path, ids, numbers);
}

std::vector<float> box_rows(const PictureBoxes& picture, const RecordSize& record, std::size_t rows,
                            const std::string& id) {
  require_same_size(picture, record, id);
  const Side x = side_of(picture.width, record.width, picture.relative),
             y = side_of(picture.height, record.height, picture.relative);
  std::vector<float> numbers;
  numbers.reserve(5 * rows);
  for (const LabelledBox& box : picture.boxes) {
    if (!x.holds(box.left) || !x.holds(box.right) || !y.holds(box.top) || !y.holds(box.bottom))
      fail(Fault::data,
           "{}: a box of record '{}' from {:g}, {:g} to {:g}, {:g} is outside of the picture, {}",
           picture.file, id, box.left, box.top, box.right, box.bottom,
           picture.relative ? std::string("whose sides are 1")
                            : fmt::format("{:g} wide and {:g} high", x.length / x.scale, y.length / y.scale));
    const auto of_class = static_cast<float>(box.of_class);
    for (const float number : {box.ignored ? -2 - of_class : of_class, x.of_record(box.left),
                               y.of_record(box.top), x.of_record(box.right), y.of_record(box.bottom)})
      numbers.push_back(number);
  }
  numbers.resize(5 * rows, -1);
  return numbers;
}

}  // namespace assay::inline data
