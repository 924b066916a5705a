#pragma once

// A file format as data sets see it: raw records in order. Slicing, scaling, labels and targets from tables,
// batching and hashing are done once for all formats (docs/data.md).

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <assay/array.h>
#include <assay/dataset.h>
#include <assay/extend/catalogue.h>

namespace assay::inline data {

// Python's slice: [start:stop:step], negative positions count from the end, step positive.
struct Slice {
  std::optional<std::int64_t> start, stop;
  std::int64_t step = 1;
};

struct DataSpec {
  std::string path;
  std::map<std::string, std::string> options;
  std::vector<Slice> slices;

  // The option's text, or the fallback.
  std::string text(const std::string& key, std::string fallback = {}) const;
  bool has(const std::string& key) const { return options.contains(key); }
  // Throw Error{usage} naming the option when the text is not of the form wanted. Fractions such as 1/255 are
  // numbers.
  double number(const std::string& key, double fallback) const;
  std::int64_t integer(const std::string& key, std::int64_t fallback) const;
  std::vector<double> numbers(const std::string& key) const;     // "0.49/0.48/0.45" is a list of three
  std::vector<std::string> words(const std::string& key) const;  // "3+5+7"
};

class Source {
 public:
  virtual ~Source() = default;
  virtual std::size_t size() const = 0;
  // Of one record as read() delivers it, channels first.
  virtual Shape shape() const = 0;
  virtual DType dtype() const { return DType::float32; }  // or int64 for tokens
  // True for 8-bit images, whose values are 0 to 255 until they are scaled.
  virtual bool is_8bit() const { return false; }
  // Of the values before mean and std, where the file tells it.
  virtual std::optional<ValidRange> valid_range() const { return std::nullopt; }
  virtual std::string id(std::size_t index) const { return std::to_string(index); }
  virtual std::optional<std::int64_t> label(std::size_t) const { return std::nullopt; }
  virtual std::vector<std::string> class_names() const { return {}; }
  // Whether the format itself reads labels=FILE when FILE is not a table.
  virtual bool takes_labels() const { return false; }
  virtual std::vector<float> target(std::size_t) const { return {}; }
  // What the format itself says of each record under a name of meta=, and the names there are.
  virtual std::optional<std::vector<std::string>> column(const std::string&) const { return std::nullopt; }
  virtual std::vector<std::string> columns() const { return {}; }
  // Writes the record's elements: float for float32, std::int64_t for int64. Thread-safe. Throws Error{data}.
  virtual void read(std::size_t index, void* out) const = 0;
  // Records with several inputs: the name of the first, and the others, which are delivered as they are.
  virtual std::string input_name() const { return {}; }
  virtual std::vector<InputFacts> others() const { return {}; }
  // Whether a network takes of the others only those that it has; descriptions are silent about them.
  virtual bool others_are_optional() const { return false; }
  // As read(), of the input at this place in others().
  virtual void read_other(std::size_t, std::size_t, void*) const {}
  virtual std::string format() const = 0;  // "IDX"
};

struct FormatInfo {
  std::string name, summary;
  std::vector<std::string> options;  // its own keys in the spec; others are known for all formats
  // True when the file looks like this format, judged by its first bytes (empty for a folder) and its name.
  std::function<bool(const std::filesystem::path& path, std::string_view head)> recognises;
  std::function<std::unique_ptr<Source>(const DataSpec& spec)> open;
};
// In the order in which they are tried. An entry of the caller's own comes last, and is asked for by
// format=NAME where another recognises its files as well.
Catalogue<FormatInfo>& data_formats();

}  // namespace assay::inline data
