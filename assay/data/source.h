#pragma once

// A file format as the data set sees it: raw records in order. Adding a format is one file that makes a
// Source, one line in assay/data/catalogue.cpp, a test and a paragraph in docs/data.md; slicing, scaling,
// labels from other files and batching are done once for all formats by the prepared data set.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <assay/array.h>
#include <assay/catalogue.h>
#include <assay/dataset.h>
#include "assay/data/spec.h"

namespace assay {

class Source {
 public:
  virtual ~Source() = default;
  virtual std::size_t size() const = 0;
  // Of one record as read() delivers it, channels first.
  virtual Shape shape() const = 0;
  virtual DType dtype() const { return DType::float32; }  // or int64 for tokens
  // True for 8-bit images, whose values are 0 to 255 until they are scaled.
  virtual bool is_8bit() const { return false; }
  virtual std::string id(std::size_t index) const { return std::to_string(index); }
  virtual std::optional<std::int64_t> label(std::size_t) const { return std::nullopt; }
  virtual std::vector<std::string> class_names() const { return {}; }
  // Whether the format itself reads labels=FILE when FILE is not a table.
  virtual bool takes_labels() const { return false; }
  virtual std::vector<float> target(std::size_t) const { return {}; }
  // Writes the record's elements: float for float32, std::int64_t for int64. Thread-safe. Throws Error{data}.
  virtual void read(std::size_t index, void* out) const = 0;
  // Records with several inputs: the name of the first, and the others, which are delivered as they are.
  virtual std::string input_name() const { return {}; }
  virtual std::vector<InputFacts> others() const { return {}; }
  // As read(), of the input at this place in others().
  virtual void read_other(std::size_t, std::size_t, void*) const {}
  virtual std::string format() const = 0;  // "IDX"
};

struct FormatInfo {
  std::string name, summary;
  // True when the file looks like this format, judged by its first bytes (empty for a folder) and its name.
  std::function<bool(const std::filesystem::path& path, std::string_view head)> recognises;
  std::function<std::unique_ptr<Source>(const DataSpec& spec)> open;
};
// In the order in which they are tried.
Catalogue<FormatInfo>& data_formats();

}  // namespace assay
