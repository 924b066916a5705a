// Folders of YOLO's text files: a line "class x y width height" for each box, in shares of the picture.

#include <optional>

#include <assay/error.h>
#include "assay/data/boxes.h"
#include "assay/support/files/file.h"
#include "assay/support/text/parse.h"

namespace assay::inline data {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t most_yolo_classes = 100'000;

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> words = parts_of(line, " \t\r");
  std::erase(words, "");
  return words;
}

// Nothing for an empty line.
std::optional<LabelledBox> yolo_box(const std::string& line, const std::string& where) {
  const std::vector<std::string> words = fields_of(line);
  if (words.empty()) return std::nullopt;
  std::vector<double> numbers;
  for (const std::string& word : words) {
    const auto number = number_of<double>(word);
    if (number) numbers.push_back(*number);
  }
  if (words.size() != 5 || numbers.size() != 5)
    fail(Fault::data, "{}: '{:.60}' is not class, x, y, width and height in shares of the picture", where,
         line);
  const auto of_class = number_of<std::int64_t>(words[0]);
  if (!of_class || *of_class < 0 || *of_class > most_yolo_classes)
    fail(Fault::data, "{}: class {} is not a whole number from 0 to {}", where, words[0], most_yolo_classes);
  const double x = numbers[1], y = numbers[2], width = numbers[3], height = numbers[4];
  if (width < 0 || height < 0) fail(Fault::data, "{}: a box has no negative width or height", where);
  return LabelledBox{*of_class, x - width / 2, y - height / 2, x + width / 2, y + height / 2};
}

PictureBoxes yolo_boxes(const fs::path& file) {
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 22;
  PictureBoxes picture{.file = file.string(), .relative = true};
  const std::vector<std::string> lines = parts_of(read_file(file, most_bytes), "\n");
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (const auto box = yolo_box(lines[i], fmt::format("{}: line {}", picture.file, i + 1)))
      picture.boxes.push_back(*box);
  }
  return picture;
}

}  // namespace

BoxLabels read_yolo_boxes(const fs::path& folder, std::span<const std::string> ids,
                          BoxCategories& categories) {
  BoxLabels labels{.records = {}, .class_names = categories.names()};
  bool some = false;
  for (const std::string& id : ids) {
    const fs::path file = folder / (fs::path(id).stem().string() + ".txt");
    const bool there = fs::exists(file);  // none: a picture without objects
    some |= there;
    labels.records.push_back(there ? yolo_boxes(file)
                                   : PictureBoxes{.file = file.string(), .relative = true});
    for (const LabelledBox& box : labels.records.back().boxes) {
      if (categories.named() && box.of_class >= static_cast<std::int64_t>(categories.names().size()))
        fail(Fault::data, "{}: class {} has no name among the {} of categories=", file.string(), box.of_class,
             categories.names().size());
      for (std::int64_t c = labels.class_names.size(); c <= box.of_class; ++c)
        labels.class_names.push_back(std::to_string(c));
    }
  }
  if (!some)
    fail(Fault::data, "{}: there is no text file of boxes for any record, such as {}.txt", folder.string(),
         ids.empty() ? "NAME" : fs::path(ids[0]).stem().string());
  return labels;
}

}  // namespace assay::inline data
