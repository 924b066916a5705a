#pragma once

// Data sets in memory, written out.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "assay/data/dataset.h"
#include "assay/support/hash.h"

namespace assay::test {

class Records final : public Dataset {
 public:
  Records(Shape shape, std::vector<std::vector<float>> values, std::vector<std::int64_t> labels, std::vector<std::string> ids = {})
      : shape_(std::move(shape)), values_(std::move(values)), labels_(std::move(labels)), ids_(std::move(ids)) {
    for (const std::int64_t label : labels_) classes_ = std::max(classes_, static_cast<std::size_t>(label) + 1);
  }
  std::size_t size() const override { return values_.size(); }
  Shape record_shape() const override { return shape_; }
  DType dtype() const override { return DType::float32; }
  std::string id(std::size_t index) const override { return ids_.empty() ? std::to_string(index) : ids_.at(index); }
  bool has_labels() const override { return !labels_.empty(); }
  std::int64_t label(std::size_t index) const override { return labels_.at(index); }
  std::size_t class_count() const override { return classes_; }
  std::vector<std::string> class_names() const override { return std::vector<std::string>(classes_, "class"); }
  std::size_t target_width() const override { return 0; }
  std::optional<ValidRange> valid_range() const override { return ValidRange{{0}, {1}}; }
  Batch read(std::span<const std::size_t> indices) const override {
    Batch batch;
    batch.indices.assign(indices.begin(), indices.end());
    std::vector<float> inputs;
    for (const std::size_t i : indices) {
      inputs.insert(inputs.end(), values_.at(i).begin(), values_.at(i).end());
      if (has_labels()) batch.labels.push_back(labels_.at(i));
    }
    Shape shape = shape_;
    shape.insert(shape.begin(), static_cast<std::int64_t>(indices.size()));
    batch.inputs = Array::of<float>(shape, inputs);
    return batch;
  }
  std::string hash() const override {
    Hasher hasher;
    for (const auto& record : values_) hasher.bytes(record.data(), record.size() * sizeof(float));
    for (const std::int64_t label : labels_) hasher.number(label);
    return hasher.hex();
  }
  std::string describe() const override { return "records of a test"; }

 private:
  Shape shape_;
  std::vector<std::vector<float>> values_;
  std::vector<std::int64_t> labels_;
  std::vector<std::string> ids_;
  std::size_t classes_ = 0;
};

// Flat records.
inline DatasetPtr records(std::vector<std::vector<float>> values, std::vector<std::int64_t> labels, std::vector<std::string> ids = {}) {
  const Shape shape{static_cast<std::int64_t>(values.at(0).size())};
  return std::make_shared<Records>(shape, std::move(values), std::move(labels), std::move(ids));
}

}  // namespace assay::test
