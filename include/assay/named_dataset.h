#pragma once

// Data sets in memory under names that stand where a spec is wanted: open_dataset("@test"), or a part of it,
// open_dataset("@test[:100]"), and so `--test @test` of a question (assay/question.h).

#include <string>

#include <assay/dataset.h>

namespace assay {

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

}  // namespace assay
