#pragma once

// Files beside pictures that say more of a record, as shards of WebDataset have them: of 000.jpg they are
// 000.cls, its class, and 000.json, an object. Files belong together by folder and name before its first dot.

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/data/labels.h"

namespace assay::inline data {

class Companions {
 public:
  using Read = std::function<std::string(std::size_t file)>;

  // `data` stands in messages; `objects`: whether .json files count.
  Companions(std::string data, bool objects) : data_(std::move(data)), objects_(objects) {}
  bool takes(const std::string& name) const;
  void add(const std::string& name, std::size_t file);

  // Classes of the pictures, where there are .cls files: whole numbers from 0 as they are, names in the order
  // of the alphabet. Throws Error{data} for a picture without one.
  std::optional<ClassLabels> classes(std::span<const std::string> pictures, const Read& read) const;
  // What the objects of the pictures say under this name, empty where one says nothing; nothing where none
  // does. Throws Error{data} for what is not an object.
  std::optional<std::vector<std::string>> column(const std::string& name,
                                                 std::span<const std::string> pictures,
                                                 const Read& read) const;

 private:
  std::string data_;
  bool objects_;
  std::map<std::string, std::size_t> class_files_, object_files_;
};

}  // namespace assay::inline data
