#pragma once

// HDF5 files, which are not trusted. Only what Keras writes is accepted: hard links, plain datasets of
// floating-point numbers inside the file, deflate and shuffle filters; sizes are checked against the file
// before anything is allocated. Links to other files, virtual datasets, plug-in filters and overlapping
// datasets are refused.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <assay/array.h>

namespace assay::inline model {

// Facts of a dataset that are known before reading it.
struct Hdf5Dataset {
  Shape shape;
  std::string dtype;  // "float32", "float16", "float64", or "int64" for counters
};

// An open file. The HDF5 library is not thread-safe: while one is open, opening another waits (so keep one
// open at a time per thread).
class Hdf5File {
 public:
  explicit Hdf5File(const std::filesystem::path& path);
  // From memory; `name` is for messages.
  Hdf5File(std::string bytes, std::string name);
  ~Hdf5File();
  Hdf5File(Hdf5File&&) noexcept;

  const std::string& name() const;
  // Paths are absolute or relative to the root, "model_weights/dense/kernel:0".
  bool is_group(const std::string& path) const;
  // Names in a group, in the order of the names; throws Error{resources} beyond 100,000.
  std::vector<std::string> children(const std::string& group) const;

  // A string attribute of a group; nothing when there is none. Throws Error{model} when it is not a string.
  std::optional<std::string> text(const std::string& group, const std::string& attribute) const;
  // An attribute that is a list of strings, which may be split into `attribute`0, `attribute`1, ...
  std::optional<std::vector<std::string>> texts(const std::string& group, const std::string& attribute) const;

  // Throws Error{model} when there is no such dataset or it is not numeric.
  Hdf5Dataset describe(const std::string& path) const;
  // Reads a dataset of any floating-point precision as float32.
  Array read(const std::string& path);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace assay::inline model
