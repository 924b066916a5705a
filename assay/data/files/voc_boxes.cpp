// Folders of Pascal VOC's XML: a file for each picture, whose pixels are counted from 1.

#include <algorithm>
#include <cmath>
#include <set>

#include <assay/error.h>
#include "assay/data/boxes.h"
#include "assay/data/files/xml.h"
#include "assay/support/files/file.h"
#include "assay/support/text/parse.h"

namespace assay::inline data {
namespace {

namespace fs = std::filesystem;

const XmlElement& required_child(const XmlElement& element, std::string_view name, const std::string& where) {
  const XmlElement* const found = element.child(name);
  if (found == nullptr) fail(Fault::data, "{}: <{}> has no <{}>", where, element.name, name);
  return *found;
}

double number_in(const XmlElement& element, std::string_view name, const std::string& where) {
  const XmlElement& child = required_child(element, name, where);
  const auto number = number_of<double>(child.text);
  if (!number) fail(Fault::data, "{}: <{}> holds '{:.40}', which is not a number", where, name, child.text);
  return *number;
}

struct NamedBox {
  LabelledBox box;
  std::string name;
};

struct VocPicture {
  PictureBoxes picture;
  std::vector<NamedBox> boxes;
};

NamedBox voc_box(const XmlElement& object, const std::string& where) {
  const XmlElement& corners = required_child(object, "bndbox", where);
  const XmlElement* const difficult = object.child("difficult");
  // A pixel has a left and a right edge; tools that count from 0 write a first pixel of 0.
  const double left = std::max(0.0, number_in(corners, "xmin", where) - 1),
               top = std::max(0.0, number_in(corners, "ymin", where) - 1);
  const LabelledBox box{.left = left,
                        .top = top,
                        .right = number_in(corners, "xmax", where),
                        .bottom = number_in(corners, "ymax", where),
                        .ignored = difficult != nullptr && difficult->text == "1"};
  if (box.right < box.left || box.bottom < box.top)
    fail(Fault::data, "{}: a <bndbox> ends before it begins", where);
  return {box, required_child(object, "name", where).text};
}

VocPicture voc_picture(const fs::path& file) {
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 22;
  const std::string name = file.string();
  const XmlElement root = parse_xml(read_file(file, most_bytes), name);
  if (root.name != "annotation")
    fail(Fault::data, "{}: the root is <{:.40}>, and Pascal VOC's is <annotation>", name, root.name);
  VocPicture found{.picture = {.file = name}, .boxes = {}};
  if (const XmlElement* const size = root.child("size")) {
    found.picture.width = number_in(*size, "width", name);
    found.picture.height = number_in(*size, "height", name);
  }
  for (const XmlElement& object : root.children) {
    if (object.name == "object") found.boxes.push_back(voc_box(object, name));
  }
  return found;
}

// In alphabetical order.
std::vector<std::string> names_of_objects(std::span<const VocPicture> pictures) {
  std::set<std::string> names;
  for (const VocPicture& picture : pictures) {
    for (const NamedBox& box : picture.boxes) names.insert(box.name);
  }
  return {names.begin(), names.end()};
}

}  // namespace

BoxLabels read_voc_boxes(const fs::path& folder, std::span<const std::string> ids,
                         BoxCategories& categories) {
  std::vector<VocPicture> pictures;
  for (const std::string& id : ids) {
    const fs::path file = folder / (fs::path(id).stem().string() + ".xml");
    if (!fs::exists(file))
      fail(Fault::data, "{}: the file with the boxes of record '{}' does not exist", file.string(), id);
    pictures.push_back(voc_picture(file));
  }
  if (!categories.named()) categories.name(names_of_objects(pictures));
  BoxLabels labels{.records = {}, .class_names = categories.names()};
  for (VocPicture& picture : pictures) {
    for (NamedBox& box : picture.boxes) {
      box.box.of_class = categories.number_of_name(box.name, picture.picture.file);
      picture.picture.boxes.push_back(box.box);
    }
    labels.records.push_back(std::move(picture.picture));
  }
  return labels;
}

}  // namespace assay::inline data
