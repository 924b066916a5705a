#pragma once

// A finite, indexable sequence of records with stable ids, read in batches so that a set larger than memory
// streams. Preprocessing is part of the data set: what read() returns is what the network sees.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "assay/model/array.h"

namespace assay {

// Records as a network takes them.
struct Batch {
  std::vector<std::size_t> indices;   // positions in the data set
  Array inputs;                       // [n, record shape...], float32 (images, tables; channels first) or int64 (tokens)
  std::vector<std::int64_t> labels;   // [n] class of each record, empty when the set has no labels
  Array targets;                      // [n, t] float32 regression targets, 0 elements when it has none
};

// The declared valid range of input elements, after preprocessing (per channel when normalised by channel).
struct ValidRange {
  std::vector<float> low, high;  // one element, or one per channel
};

class Dataset {
 public:
  virtual ~Dataset() = default;

  virtual std::size_t size() const = 0;
  virtual Shape record_shape() const = 0;           // without the batch axis, e.g. [1, 28, 28]
  virtual DType dtype() const = 0;                  // float32 or int64
  virtual std::string id(std::size_t index) const = 0;  // file name or index; stable under slicing
  virtual bool has_labels() const = 0;
  virtual std::int64_t label(std::size_t index) const = 0;  // REQUIRES has_labels()
  virtual std::size_t class_count() const = 0;      // 0 when there are no labels
  virtual std::vector<std::string> class_names() const = 0;  // class_count() names (the numbers if unnamed)
  virtual std::size_t target_width() const = 0;     // 0 when there are no regression targets
  virtual std::optional<ValidRange> valid_range() const = 0;
  // Reads the records at `indices`, in that order. Thread-safe. Throws Error{data} naming the record at fault.
  virtual Batch read(std::span<const std::size_t> indices) const = 0;
  // Content hash over records, labels and preprocessing, 32 hex digits. May read everything once; cached.
  virtual std::string hash() const = 0;
  // One line for people: "MNIST-style IDX, 10000 records [1, 28, 28], 10 classes".
  virtual std::string describe() const = 0;
};

using DatasetPtr = std::shared_ptr<const Dataset>;

// Opens the data set that a spec names; docs/data.md has the grammar. Examples:
//   t10k-images-idx3-ubyte.gz                       labels are found beside it
//   cifar10-jpg.tar.xz,under=test[:5000]
//   images.tar,targets=steering.csv,scale=1/255
//   digits:10000,seed=7                             the procedural set
DatasetPtr open_dataset(const std::string& spec);

// Reads consecutive batches ahead of use on background threads. Not thread-safe itself.
class BatchReader {
 public:
  // The records at `indices` (all when empty) in batches of `batch` (the last may be smaller), `ahead` batches ahead.
  BatchReader(DatasetPtr dataset, std::size_t batch, std::vector<std::size_t> indices = {}, std::size_t ahead = 2);
  ~BatchReader();
  std::optional<Batch> next();  // nothing at the end; rethrows a reading error

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace assay
