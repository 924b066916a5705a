#pragma once

// The text that names a data set: PATH[,key=value...][slice]... (docs/data.md).

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace assay {

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

// Throws Error{usage} naming what is wrong in the text.
DataSpec parse_spec(const std::string& text);

// Positions that the slice takes out of `size` records, ascending.
std::vector<std::size_t> slice_positions(const Slice& slice, std::size_t size);

}  // namespace assay
