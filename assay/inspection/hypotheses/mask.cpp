// Pixels of classes: index pictures, arrays of them, polygons.

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include <assay/error.h>
#include <assay/extend/hypothesis.h>
#include "assay/data/files/image.h"
#include "assay/data/files/numpy.h"
#include "assay/data/masks.h"
#include "assay/inspection/symbols/annotations.h"
#include "assay/inspection/symbols/text.h"
#include "assay/inspection/units/polygons.h"
#include "assay/support/files/file.h"
#include "assay/support/files/hash.h"
#include "assay/support/files/input_file.h"

namespace assay::inspection {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr double largest_mask = 1 << 26;  // pixels

struct PixelCodes {
  std::size_t width = 0, height = 0;
  std::vector<std::uint16_t> codes;
};

// The last part of an id without its ending: "val/0007.jpg" -> "0007".
std::string stem_of(const std::string& id) { return fs::path(id).stem().string(); }

// A number for each pixel, for any kind of file.
class IndexMasks {
 public:
  virtual ~IndexMasks() = default;
  virtual PixelCodes read(const Dataset& dataset, std::size_t index) const = 0;
  virtual std::string version() const = 0;
};

class PngMasks final : public IndexMasks {
 public:
  explicit PngMasks(const fs::path& folder) : masks_(folder) {
    Hasher hasher;
    for (const fs::path& file : masks_.files())
      hasher.text(file.filename().string()).text(hash_hex(read_file(file)));
    version_ = hasher.hex();
  }
  PixelCodes read(const Dataset& dataset, std::size_t index) const override {
    const fs::path& file = file_of(dataset, index);
    const Image image = decode_indices(read_file(file), file.string());
    return {static_cast<std::size_t>(image.width),
            static_cast<std::size_t>(image.height),
            {image.pixels.begin(), image.pixels.end()}};
  }
  std::string version() const override { return version_; }

 private:
  // That of the record's name, else that of its number.
  const fs::path& file_of(const Dataset& dataset, std::size_t index) const {
    const std::string id = dataset.id(index);
    if (const fs::path* const named = masks_.find(id)) return *named;
    const std::vector<fs::path>& files = masks_.files();
    const std::size_t number = record_number(dataset, index);
    if (std::to_string(number) == id && number < files.size()) return files[number];
    fail(Fault::data, "hypothesis 'mask', record '{}': {} has no {}.png", id, masks_.folder().string(),
         stem_of(id));
  }
  MaskFolder masks_;
  std::string version_;
};

class ArrayMasks final : public IndexMasks {
 public:
  ArrayMasks(const std::string& file, const std::string& name) : file_(file) {
    Array array;
    if (file.ends_with(".npz")) {
      const std::map<std::string, Array> arrays = read_npz(file);
      const auto found = name.empty() && arrays.size() == 1 ? arrays.begin() : arrays.find(name);
      if (found == arrays.end()) fail(Fault::usage, "{}: there is no array '{}'", file, name);
      array = found->second;
    } else {
      array = parse_npy(read_file(file), file);
    }
    shape_ = array.shape();
    if (shape_.size() != 3)
      fail(Fault::data, "{}: masks of shape {}; [n, height, width] is needed", file, to_string(shape_));
    const Array wide = array.to(DType::int64);
    Hasher hasher;
    hasher.text(to_string(shape_));
    codes_.reserve(wide.count());
    for (const std::int64_t code : wide.as<std::int64_t>()) {
      if (code < 0 || code > 65535) fail(Fault::data, "{}: code {} is not from 0 to 65535", file, code);
      codes_.push_back(static_cast<std::uint16_t>(code));
    }
    version_ = hasher.bytes(codes_.data(), codes_.size() * sizeof(std::uint16_t)).hex();
  }
  PixelCodes read(const Dataset& dataset, std::size_t index) const override {
    const std::size_t number = record_number(dataset, index);
    if (number >= static_cast<std::size_t>(shape_[0]))
      fail(Fault::data, "hypothesis 'mask', record '{}': {} has {} masks only", dataset.id(index), file_,
           shape_[0]);
    const std::size_t height = shape_[1], width = shape_[2];
    const auto begin = codes_.begin() + number * width * height;
    return {width, height, {begin, begin + width * height}};
  }
  std::string version() const override { return version_; }

 private:
  std::string file_, version_;
  Shape shape_;
  std::vector<std::uint16_t> codes_;
};

// One class a pixel.
class IndexMask final : public Annotator {
 public:
  IndexMask(std::unique_ptr<IndexMasks> masks, const AnnotatorSetup& setup)
      : masks_(std::move(masks)), classes_(setup.options.words("classes")) {
    if (const std::string& file = setup.options.text("names"); !file.empty()) classes_ = read_lines(file);
    if (classes_.empty())
      fail(Fault::usage,
           "hypothesis 'mask' needs the names of the classes, by code: mask[classes=sky+road,...]");
    for (const std::string& code : setup.options.words("ignore")) ignored_.insert(code_of(code));
    hypotheses_ = class_hypotheses(setup.options.text("name"), classes_);
  }

  const std::vector<Hypothesis>& hypotheses() const override { return hypotheses_; }
  std::string version() const override { return masks_->version(); }

  Behaviours annotate(const RecordBlock& records) const override {
    Behaviours behaviours;
    for (const std::size_t index : records.batch.indices) {
      const PixelCodes mask = masks_->read(records.dataset, index);
      const Shape positions{static_cast<std::int64_t>(mask.height), static_cast<std::int64_t>(mask.width)};
      if (behaviours.positions.empty()) behaviours.positions = positions;
      if (positions != behaviours.positions) {
        fail(Fault::data, "hypothesis '{}', record '{}': its mask has {} pixels, others {}",
             hypotheses_[0].name, records.dataset.id(index), to_string(positions),
             to_string(behaviours.positions));
      }
      std::vector<std::optional<std::size_t>> codes;
      for (const std::uint16_t code : mask.codes) codes.push_back(known(code, records.dataset, index));
      append_classes(behaviours.values, codes, classes_.size());
    }
    return behaviours;
  }

 private:
  static std::uint16_t code_of(const std::string& text) {
    if (text.empty() || text.size() > 5 || text.find_first_not_of("0123456789") != std::string::npos)
      fail(Fault::usage, "hypothesis 'mask': '{}' is not a code that can be ignored", text);
    return static_cast<std::uint16_t>(std::stoul(text));
  }
  std::optional<std::size_t> known(std::uint16_t code, const Dataset& dataset, std::size_t index) const {
    if (ignored_.contains(code)) return std::nullopt;
    if (code < classes_.size()) return code;
    fail(Fault::data,
         "hypothesis '{}', record '{}': code {} has no class ({} are named); ignore it, or name it",
         hypotheses_[0].name, dataset.id(index), code, classes_.size());
  }

  std::unique_ptr<IndexMasks> masks_;
  std::vector<std::string> classes_;
  std::set<std::uint16_t> ignored_;
  std::vector<Hypothesis> hypotheses_;
};

// Polygons and run lengths as in COCO; objects may lie upon each other.
class CocoMask final : public Annotator {
 public:
  CocoMask(const std::string& file, const AnnotatorSetup& setup)
      : file_(file), partial_(setup.options.word("unlabelled", unlabelled) == "dont-care") {
    const std::string text = read_file(file);
    version_ = hash_hex(text);
    try {
      read(Json::parse(text), setup.options.text("name"));
    } catch (const Json::exception& error) {
      fail(Fault::data, "{}: not as COCO has it: {}", file, error.what());
    }
  }

  const std::vector<Hypothesis>& hypotheses() const override { return hypotheses_; }
  std::string version() const override { return version_; }

  Behaviours annotate(const RecordBlock& records) const override {
    Behaviours behaviours;
    for (const std::size_t index : records.batch.indices) {
      const Picture& picture = picture_of(records.dataset, index);
      const Shape positions{static_cast<std::int64_t>(picture.height),
                            static_cast<std::int64_t>(picture.width)};
      if (behaviours.positions.empty()) behaviours.positions = positions;
      if (positions != behaviours.positions) {
        fail(Fault::data, "hypothesis '{}', record '{}': its picture has {} pixels, others {}",
             hypotheses_[0].name, records.dataset.id(index), to_string(positions),
             to_string(behaviours.positions));
      }
      append(behaviours.values, picture);
    }
    return behaviours;
  }

 private:
  struct Object {
    std::size_t category;
    std::vector<Polygon> polygons;
    std::vector<std::size_t> runs;  // lengths of off, on, off, ... down the columns
  };
  struct Picture {
    std::string file_name;
    std::size_t width = 0, height = 0;
    std::vector<Object> objects = {};
  };

  void read(const Json& json, const std::string& name) {
    std::map<std::int64_t, std::size_t> category_of, picture_of;
    for (const Json& category : json.at("categories")) {
      const std::string group = category.value("supercategory", "");
      category_of[category.at("id").get<std::int64_t>()] = groups_.size();
      groups_.push_back(group);
      hypotheses_.push_back({fmt::format("{}:{}{}{}", name, group, group.empty() ? "" : "/",
                                         category.at("name").get<std::string>())});
    }
    for (const Json& image : json.at("images")) {
      const double width = image.at("width").get<double>(), height = image.at("height").get<double>();
      if (!(width >= 1 && height >= 1 && width * height <= largest_mask))
        fail(Fault::data, "{}: a picture of {} x {} pixels is not reasonable", file_, width, height);
      picture_of[image.at("id").get<std::int64_t>()] = pictures_.size();
      pictures_.push_back(
          {image.value("file_name", ""), static_cast<std::size_t>(width), static_cast<std::size_t>(height)});
    }
    for (const Json& annotation : json.at("annotations")) {
      const auto category = category_of.find(annotation.at("category_id").get<std::int64_t>());
      const auto picture = picture_of.find(annotation.at("image_id").get<std::int64_t>());
      if (category == category_of.end() || picture == picture_of.end())
        fail(Fault::data, "{}: an annotation names a category or an image that is not there", file_);
      Picture& its = pictures_[picture->second];
      its.objects.push_back(object(annotation.at("segmentation"), category->second, its));
    }
    if (hypotheses_.empty()) fail(Fault::data, "{}: there is no category", file_);
    for (std::size_t p = 0; p < pictures_.size(); ++p) by_stem_.emplace(stem_of(pictures_[p].file_name), p);
  }
  Object object(const Json& segmentation, std::size_t category, const Picture& picture) const {
    Object object{category, {}, {}};
    if (segmentation.is_object()) {
      if (!segmentation.at("counts").is_array())
        fail(Fault::data,
             "{}: an annotation of '{}' has compressed run lengths; polygons or plain counts are needed",
             file_, picture.file_name);
      segmentation.at("counts").get_to(object.runs);
      return object;
    }
    for (const Json& corners : segmentation) {
      const auto numbers = corners.get<std::vector<double>>();
      Polygon polygon;
      for (std::size_t i = 0; i + 1 < numbers.size(); i += 2)
        polygon.emplace_back(numbers[i], numbers[i + 1]);
      if (numbers.size() % 2 != 0 || polygon.size() < 3)
        fail(Fault::data, "{}: a polygon of '{}' has {} numbers; at least three corners are needed", file_,
             picture.file_name, numbers.size());
      object.polygons.push_back(std::move(polygon));
    }
    return object;
  }

  const Picture& picture_of(const Dataset& dataset, std::size_t index) const {
    const auto named = by_stem_.find(stem_of(dataset.id(index)));
    if (named != by_stem_.end()) return pictures_[named->second];
    const std::size_t number = record_number(dataset, index);
    if (std::to_string(number) == dataset.id(index) && number < pictures_.size()) return pictures_[number];
    fail(Fault::data, "hypothesis '{}', record '{}': {} has no such image", hypotheses_[0].name,
         dataset.id(index), file_);
  }

  void append(std::vector<float>& values, const Picture& picture) const {
    const std::size_t pixels = picture.width * picture.height;
    std::set<std::string> labelled;
    for (const Object& object : picture.objects) labelled.insert(groups_[object.category]);
    for (std::size_t c = 0; c < groups_.size(); ++c) {
      if (partial_ && !labelled.contains(groups_[c])) {
        values.insert(values.end(), pixels, std::numeric_limits<float>::quiet_NaN());
        continue;
      }
      std::vector<std::uint8_t> mask(pixels);
      for (const Object& object : picture.objects) {
        if (object.category == c) fill(object, picture, mask);
      }
      values.insert(values.end(), mask.begin(), mask.end());
    }
  }
  static void fill(const Object& object, const Picture& picture, std::vector<std::uint8_t>& mask) {
    for (const Polygon& polygon : object.polygons) fill_polygon(polygon, picture.width, picture.height, mask);
    std::size_t at = 0;
    for (std::size_t run = 0; run < object.runs.size(); ++run) {
      const std::size_t end = std::min(mask.size(), at + std::min(mask.size(), object.runs[run]));
      for (; at < end; ++at) {
        if (run % 2 == 1) mask[at % picture.height * picture.width + at / picture.height] = 1;
      }
    }
  }

  static inline const std::vector<std::string> unlabelled{"zero", "dont-care"};
  std::string file_, version_;
  bool partial_;
  std::vector<std::string> groups_;  // of each category
  std::vector<Picture> pictures_;
  std::map<std::string, std::size_t> by_stem_;
  std::vector<Hypothesis> hypotheses_;
};

}  // namespace

AnnotatorInfo mask_annotator() {
  return {
      .name = "mask",
      .summary = "which class each pixel belongs to: index pictures, arrays, polygons",
      .definition =
          "of pictures (PNG) or arrays [n, height, width] with a code for each pixel: 'NAME' is the class, "
          "categorical, "
          "'NAME:CLASS' is 1 on its pixels. Of COCO's JSON: 'NAME:GROUP/CATEGORY' is 1 on all pixels in an "
          "object of the "
          "category; a pixel is in a polygon if its centre is, by the even-odd rule, and in an object if in "
          "any of its "
          "polygons. With unlabelled=dont-care, pictures without any object of a group (supercategory) are "
          "left out "
          "for all its categories, as NetDissect counts",
      .limits =
          "all masks have one size, which need not be that of the records. Pictures are found by the "
          "record's name "
          "without folder and ending, else by its number in the order of names; compressed run lengths are "
          "not read",
      .paper = "Bau et al., Network Dissection, CVPR 2017; Lin et al., COCO, ECCV 2014",
      .options = {{"folder", "", "PNG pictures with indices or shades of grey as codes"},
                  {"file", "", "an .npy, .npz or COCO .json file instead"},
                  {"array", "", "name of the array in an .npz file"},
                  {"classes", "", "names of the codes from 0, joined by +"},
                  {"names", "", "a file of these, one a line"},
                  {"ignore", "", "codes that mean don't-care, joined by +"},
                  {"unlabelled", "zero",
                   "what a picture without objects of a group is: zero or dont-care (COCO)"},
                  {"name", "mask", "what results call it"}},
      .make = [](const AnnotatorSetup& setup) -> std::unique_ptr<Annotator> {
        const std::string &folder = setup.options.text("folder"), &file = setup.options.text("file");
        if (folder.empty() == file.empty())
          fail(Fault::usage,
               "hypothesis 'mask' needs a folder of pictures or a file: mask[folder=masks,classes=sky+road]");
        if (file.ends_with(".json")) return std::make_unique<CocoMask>(file, setup);
        std::unique_ptr<IndexMasks> masks;
        if (folder.empty()) {
          masks = std::make_unique<ArrayMasks>(file, setup.options.text("array"));
        } else {
          masks = std::make_unique<PngMasks>(folder);
        }
        return std::make_unique<IndexMask>(std::move(masks), setup);
      }};
}

}  // namespace assay::inspection
