// Folders of Pascal VOC's XML: a file for each picture, whose pixels are counted from 1.

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

bool is_difficult(const XmlElement& object, const std::string& where) {
  const XmlElement* const difficult = object.child("difficult");
  if (difficult == nullptr || difficult->text.empty() || difficult->text == "0") return false;
  if (difficult->text != "1")
    fail(Fault::data, "{}: <difficult> holds '{:.40}', which is neither 0 nor 1", where, difficult->text);
  return true;
}

NamedBox voc_box(const XmlElement& object, const std::string& where) {
  const XmlElement& corners = required_child(object, "bndbox", where);
  // A pixel has a left and a right edge. The first pixel of tools that count from 0 is one outside, as far as
  // boxes may be.
  const LabelledBox box{.left = number_in(corners, "xmin", where) - 1,
                        .top = number_in(corners, "ymin", where) - 1,
                        .right = number_in(corners, "xmax", where),
                        .bottom = number_in(corners, "ymax", where),
                        .ignored = is_difficult(object, where)};
  if (box.right < box.left || box.bottom < box.top)
    fail(Fault::data,
         "{}: a <bndbox> from {:g}, {:g} to {:g}, {:g} ends before it begins; write the smaller corner as "
         "xmin "
         "and ymin",
         where, box.left + 1, box.top + 1, box.right, box.bottom);
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
