// COCO's JSON: images, annotations and categories. Polygons, captions and key points are passed over.

#include <map>
#include <optional>
#include <set>

#include <nlohmann/json.hpp>

#include <assay/error.h>
#include "assay/data/boxes.h"
#include "assay/data/name_index.h"
#include "assay/support/files/file.h"

namespace assay::inline data {
namespace {

using nlohmann::json;

constexpr std::uint64_t most_coco_bytes = std::uint64_t{2} << 30;

// Without what takes most of such files and says nothing of boxes.
json parsed_coco(const std::filesystem::path& file) {
  constexpr int most_deep = 8;
  static const std::set<std::string> passed = {"segmentation", "keypoints", "caption", "info", "licenses"};
  const auto wanted = [](int depth, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::key) return !passed.contains(value.get_ref<const std::string&>());
    return depth < most_deep;
  };
  json root;
  try {
    root = json::parse(read_file(file, most_coco_bytes), wanted);
  } catch (const json::exception& error) {
    fail(Fault::data, "{}: this is not JSON as COCO has it: {}", file.string(), error.what());
  }
  for (const char* const list : {"images", "annotations", "categories"}) {
    if (!root.is_object() || !root.contains(list) || !root[list].is_array())
      fail(Fault::data, "{}: the list '{}', which COCO's files of boxes have, is missing", file.string(),
           list);
  }
  return root;
}

class CocoReader {
 public:
  CocoReader(const std::filesystem::path& file, BoxCategories& categories)
      : file_(file.string()), categories_(categories), root_(parsed_coco(file)) {}

  BoxLabels read(std::span<const std::string> ids) {
    try {
      number_categories();
      read_images(ids);
      std::size_t position = 0;
      for (const json& annotation : root_["annotations"]) add(annotation, position++);
    } catch (const json::exception& error) {
      fail(Fault::data, "{}: a field is not as COCO has it: {}", file_, error.what());
    }
    return std::move(labels_);
  }

 private:
  void number_categories() {
    std::map<std::int64_t, std::string> by_id;
    for (const json& category : root_["categories"]) {
      const auto id = category.at("id").get<std::int64_t>();
      if (!by_id.emplace(id, category.at("name").get<std::string>()).second)
        fail(Fault::data, "{}: two categories have the id {}; give each its own", file_, id);
    }
    constexpr std::int64_t most = 100'000;
    if (!by_id.empty() && (by_id.begin()->first < 0 || by_id.rbegin()->first > most))
      fail(Fault::data, "{}: categories have numbers from 0 to {}", file_, most);
    if (categories_.named()) labels_.class_names = categories_.names();
    for (const auto& [id, name] : by_id) {
      names_.emplace(id, name);
      if (categories_.named()) continue;
      if (categories_.by_id()) {
        for (auto c = static_cast<std::int64_t>(labels_.class_names.size()); c < id; ++c)
          labels_.class_names.push_back(std::to_string(c));
      }
      classes_.emplace(id, static_cast<std::int64_t>(labels_.class_names.size()));
      labels_.class_names.push_back(name);
    }
  }

  void read_images(std::span<const std::string> ids) {
    NameIndex names;
    const json& images = root_["images"];
    for (std::size_t i = 0; i < images.size(); ++i) {
      const auto name = images[i].at("file_name").get<std::string>();
      if (!names.add(name, i)) fail(Fault::data, "{}: two images are named '{}'", file_, name);
      if (!records_.emplace(images[i].at("id").get<std::int64_t>(), std::nullopt).second)
        fail(Fault::data, "{}: two images have the id {}", file_, images[i]["id"].dump());
    }
    for (const std::string& id : ids) {
      const auto image = names.find(id);
      if (!image) fail(Fault::data, "{}: no image has the file_name of record '{}'", file_, id);
      records_[images[*image]["id"].get<std::int64_t>()] = labels_.records.size();
      labels_.records.push_back({.file = file_,
                                 .width = images[*image].value("width", 0.0),
                                 .height = images[*image].value("height", 0.0)});
    }
  }

  void add(const json& annotation, std::size_t position) {
    const std::string where = fmt::format("{}: annotation {}", file_, position);
    const auto image = annotation.at("image_id").get<std::int64_t>();
    const auto record = records_.find(image);
    if (record == records_.end()) fail(Fault::data, "{}: there is no image {}", where, image);
    const auto category = annotation.at("category_id").get<std::int64_t>();
    const auto name = names_.find(category);
    if (name == names_.end())
      fail(Fault::data, "{}: category {} is not one of the {} in the file", where, category, names_.size());
    if (!record->second) return;  // of a picture that is not among the records
    const std::vector<double> box = corner_and_sides(annotation, where);
    const bool ignored = is_set(annotation, "iscrowd") || is_set(annotation, "ignore");
    labels_.records[*record->second].boxes.push_back(
        {categories_.named() ? categories_.number_of_name(name->second, where) : classes_.at(category),
         box[0], box[1], box[0] + box[2], box[1] + box[3], ignored});
  }

  static std::vector<double> corner_and_sides(const json& annotation, const std::string& where) {
    const auto found = annotation.find("bbox");
    if (found == annotation.end() || found->is_null())
      fail(Fault::data,
           "{} has no bbox; boxes are not made of outlines (segmentation): write the box of each, or leave "
           "the annotation out",
           where);
    std::vector<double> box;
    for (const json& number : *found) {
      if (number.is_number()) box.push_back(number.get<double>());
    }
    if (!found->is_array() || found->size() != 4 || box.size() != 4 || !(box[2] >= 0) || !(box[3] >= 0))
      fail(Fault::data, "{}: bbox {} is not left, top, width, height in pixels, sides from 0", where,
           found->dump());
    return box;
  }

  static bool is_set(const json& annotation, const char* field) {
    const auto found = annotation.find(field);
    return found != annotation.end() && *found != 0 && *found != false;
  }

  std::string file_;
  BoxCategories& categories_;
  json root_;
  std::map<std::int64_t, std::string> names_;                   // of categories, by id
  std::map<std::int64_t, std::int64_t> classes_;                // by id of the category
  std::map<std::int64_t, std::optional<std::size_t>> records_;  // by id of the image
  BoxLabels labels_;
};

}  // namespace

BoxLabels read_coco_boxes(const std::filesystem::path& file, std::span<const std::string> ids,
                          BoxCategories& categories) {
  return CocoReader(file, categories).read(ids);
}

}  // namespace assay::inline data
