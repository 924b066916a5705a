#pragma once

// Boxes of objects that belong to records: COCO's JSON, folders of YOLO's text files and of Pascal VOC's XML.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace assay::inline data {

// In pixels of the picture, from its left and upper edge.
struct LabelledBox {
  std::int64_t of_class = 0;
  double left = 0, top = 0, right = 0, bottom = 0;
  bool ignored = false;  // a crowd, or an object that is too difficult: neither right nor wrong to find
};

struct PictureBoxes {
  std::string file = {};         // that says so
  double width = 0, height = 0;  // of the picture they are in; 0: not told
  bool relative = false;         // they are in shares of its sides
  std::vector<LabelledBox> boxes = {};
};

struct BoxLabels {
  std::vector<PictureBoxes> records;     // in the order of the ids
  std::vector<std::string> class_names;  // by number
};

// Of the records with these ids, by file name or its stem, from a file (COCO) or a folder (with .xml files
// Pascal VOC, else YOLO). `categories`: how classes are numbered: names joined by + or one a line in a .txt
// file; "id" for COCO's numbers; empty: COCO's in the order of their numbers, YOLO's as they are, Pascal
// VOC's names in alphabetical order. Throws Error{data} naming file and place for what is none of these, a
// record that has no entry, and categories that there are not.
BoxLabels read_boxes(const std::filesystem::path& path, std::span<const std::string> ids,
                     const std::string& categories);

// What a record's boxes are in a picture of another size, as rows of class (-2 - class where it is ignored),
// left, top, right, bottom, filled up to `rows` rows of -1. `resized`: the picture was brought to this size.
// `id` stands in messages. Throws Error{data} for a box that is outside of its picture by more than a pixel,
// and for a picture of another size that was not resized.
struct RecordSize {
  double width = 0, height = 0;
  bool resized = false;
};
std::vector<float> box_rows(const PictureBoxes& picture, const RecordSize& record, std::size_t rows,
                            const std::string& id);

// Readers, for read_boxes().
class BoxCategories;
BoxLabels read_coco_boxes(const std::filesystem::path& file, std::span<const std::string> ids,
                          BoxCategories& categories);
BoxLabels read_yolo_boxes(const std::filesystem::path& folder, std::span<const std::string> ids,
                          BoxCategories& categories);
BoxLabels read_voc_boxes(const std::filesystem::path& folder, std::span<const std::string> ids,
                         BoxCategories& categories);

// How users number classes.
class BoxCategories {
 public:
  // Throws Error{usage} for names that are given twice.
  explicit BoxCategories(const std::string& text);
  bool by_id() const { return by_id_; }
  bool named() const { return !names_.empty(); }
  void name(std::vector<std::string> names) { names_ = std::move(names); }
  const std::vector<std::string>& names() const { return names_; }
  // Throws Error{data} for a name that is not among them; `where` says who uses it.
  std::int64_t number_of_name(const std::string& name, const std::string& where) const;

 private:
  bool by_id_ = false;
  std::vector<std::string> names_;
};

}  // namespace assay::inline data
