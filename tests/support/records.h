#pragma once

// Data sets in memory, written out.

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <assay/dataset.h>
#include <assay/records.h>

namespace assay::test {

// Records of this shape, with elements in [0, 1].
inline DatasetPtr shaped_records(Shape shape, const std::vector<std::vector<float>>& values,
                                 std::vector<std::int64_t> labels, std::vector<std::string> ids = {}) {
  std::vector<float> all;
  for (const std::vector<float>& record : values) all.insert(all.end(), record.begin(), record.end());
  shape.insert(shape.begin(), static_cast<std::int64_t>(values.size()));
  return from_arrays(Array::of<float>(std::move(shape), all), std::move(labels),
                     {.name = "records of a test",
                      .ids = std::move(ids),
                      .class_names = {},
                      .targets = {},
                      .valid_range = ValidRange{{0}, {1}}});
}

// Flat records.
inline DatasetPtr records(const std::vector<std::vector<float>>& values, std::vector<std::int64_t> labels,
                          std::vector<std::string> ids = {}) {
  const Shape shape{static_cast<std::int64_t>(values.at(0).size())};
  return shaped_records(shape, values, std::move(labels), std::move(ids));
}

// The same records with another number at one place of some of them: NaN, which no data set of the library
// delivers.
class Spoiled final : public Dataset {
 public:
  Spoiled(DatasetPtr whole, std::vector<std::size_t> records, std::size_t element,
          float value = std::numeric_limits<float>::quiet_NaN())
      : Dataset(whole->facts()),
        whole_(std::move(whole)),
        records_(std::move(records)),
        element_(element),
        value_(value) {}
  std::string id(std::size_t index) const override { return whole_->id(index); }
  Batch read(std::span<const std::size_t> indices) const override {
    Batch batch = whole_->read(indices);
    const auto clean = batch.inputs.as<float>();
    std::vector<float> values(clean.begin(), clean.end());
    for (std::size_t row = 0; row < indices.size(); ++row) {
      for (const std::size_t record : records_) {
        if (indices[row] == record) values[row * (values.size() / indices.size()) + element_] = value_;
      }
    }
    batch.inputs = Array::of<float>(batch.inputs.shape(), values);
    return batch;
  }

 private:
  DatasetPtr whole_;
  std::vector<std::size_t> records_;
  std::size_t element_;
  float value_;
};

}  // namespace assay::test
