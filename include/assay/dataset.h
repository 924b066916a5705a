#pragma once

// A finite, indexable sequence of records with stable ids, read in batches so that a set larger than memory
// streams. Preprocessing is part of the data set: what read() returns is what the network sees.

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <assay/array.h>

namespace assay::inline data {

// One input of a record of several.
struct NamedArray {
  std::string name;
  Array values;  // [n, record shape...], float32 or int64
};

// Records as a network takes them.
struct Batch {
  std::vector<std::size_t> indices;  // positions in the data set
  Array inputs;  // [n, record shape...], float32 (images, tables; channels first) or int64 (tokens)
  std::vector<std::int64_t> labels;  // [n] class of each record, empty when the set has no labels
  Array targets;                     // [n, t] float32 regression targets, 0 elements when it has none
  std::string input_name;            // of `inputs`; empty where records have one input
  std::vector<NamedArray> others;    // further inputs of the same records
};

// The declared valid range of input elements, after preprocessing (per channel when normalised by channel).
struct ValidRange {
  std::vector<float> low, high;  // one element, or one per channel
};

// Facts of one input of a record.
struct InputFacts {
  std::string name;              // as the network calls it
  Shape record_shape;            // without the batch axis, e.g. [1, 28, 28]
  DType dtype = DType::float32;  // float32 or int64
};

// Facts of a data set that are known without reading a record.
struct DatasetFacts {
  std::size_t size = 0;     // records
  Shape record_shape = {};  // of the (first) input
  DType dtype = DType::float32;
  bool has_labels = false;
  std::vector<std::string> class_names = {};   // one per class of labels or boxes (numbers if unnamed)
  std::size_t target_width = 0;                // 0 when there are no regression targets
  std::optional<ValidRange> valid_range = {};  // of the (first) input
  std::string description = {};  // one line for people: "x.idx (IDX, 100 records [1, 28, 28], 10 classes)"
  std::string input_name = {};   // of the first input; empty where records have one
  std::vector<InputFacts> others = {};  // further inputs, in the order of Batch::others
  std::vector<std::string> characteristics =
      {};  // metadata columns: "weather", "sex" (docs/characteristics.md)
};

// A data set is its facts and read(); ids, labels and the hash have defaults that follow from them.
class Dataset {
 public:
  virtual ~Dataset() = default;

  const DatasetFacts& facts() const { return facts_; }
  std::size_t size() const { return facts_.size; }
  const Shape& record_shape() const { return facts_.record_shape; }
  DType dtype() const { return facts_.dtype; }
  bool has_labels() const { return facts_.has_labels; }
  std::size_t class_count() const { return facts_.class_names.size(); }
  const std::vector<std::string>& class_names() const { return facts_.class_names; }
  std::size_t target_width() const { return facts_.target_width; }
  const std::optional<ValidRange>& valid_range() const { return facts_.valid_range; }
  const std::vector<std::string>& characteristics() const { return facts_.characteristics; }
  const std::string& describe() const { return facts_.description; }

  // Reads the records at `indices`, in that order. Thread-safe. Throws Error{data} naming the record at
  // fault.
  virtual Batch read(std::span<const std::size_t> indices) const = 0;
  // File name or number, stable under slicing. Default: the number.
  virtual std::string id(std::size_t index) const;
  // REQUIRES has_labels(). Default: what read() says of the record; override it if a faster way exists.
  virtual std::int64_t label(std::size_t index) const;
  // Content hash over records, labels and targets as read() delivers them, 32 hex digits. Reads everything
  // once; cached, thread-safe. Sets with the same contents have the same hash wherever they come from; views
  // have another one.
  virtual std::string hash() const;
  // What a metadata column says of a record, empty where its cell is. REQUIRES which <
  // characteristics().size().
  virtual std::string characteristic(std::size_t which, std::size_t index) const;

 protected:
  Dataset() = default;
  explicit Dataset(DatasetFacts facts) : facts_(std::move(facts)) {}
  DatasetFacts facts_;  // complete when the constructor is done

 private:
  mutable std::mutex mutex_;  // guards hash_
  mutable std::string hash_;
};

using DatasetPtr = std::shared_ptr<const Dataset>;

// Opens the data set that a spec names; docs/data.md has the grammar. Examples:
//   t10k-images-idx3-ubyte.gz                       labels are found next to it
//   cifar10-jpg.tar.xz,under=test[:5000]
//   images.tar,targets=steering.csv,scale=1/255
//   digits:10000,seed=7                             the procedural set
DatasetPtr open_dataset(const std::string& spec);

// Reads consecutive batches ahead of use on background threads. Not thread-safe itself.
class BatchReader {
 public:
  // The records at `indices` (all when empty) in batches of `batch` (the last may be smaller), `ahead`
  // batches ahead.
  BatchReader(DatasetPtr dataset, std::size_t batch, std::vector<std::size_t> indices = {},
              std::size_t ahead = 2);
  ~BatchReader();
  std::optional<Batch> next();  // nothing at the end; rethrows a reading error

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Data sets in memory under names that stand where a spec is wanted: open_dataset("@test"), or a part of it,
// open_dataset("@test[:100]"), and so `--test @test` of a question (assay/extend/question.h).
//
// The name means this data set as long as the object lives. Thread-safe. Throws Error{usage} for a name that
// is taken, empty, or holds anything but letters, digits, `_` and `-`.
class NamedDataset {
 public:
  NamedDataset(std::string name, DatasetPtr dataset);
  ~NamedDataset();
  NamedDataset(const NamedDataset&) = delete;
  NamedDataset& operator=(const NamedDataset&) = delete;

 private:
  std::string name_;
};

}  // namespace assay::inline data
