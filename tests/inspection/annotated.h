#pragma once

// Records of text for annotators: one token a byte.

#include <cstring>
#include <string>
#include <vector>

#include <assay/dataset.h>
#include <assay/extend/hypothesis.h>
#include <assay/records.h>

namespace assay::inspection::test {

// Strings of one length, filled up with `~` for padding, as a data set of tokens: the bytes.
inline DatasetPtr tokens_of(const std::vector<std::string>& strings) {
  std::vector<std::int64_t> tokens;
  std::size_t longest = 1;
  for (const std::string& text : strings) longest = std::max(longest, text.size());
  for (std::string text : strings) {
    text.resize(longest, '~');
    for (const char c : text) tokens.push_back(static_cast<unsigned char>(c));
  }
  return from_arrays(Array::of<std::int64_t>(
      {static_cast<std::int64_t>(strings.size()), static_cast<std::int64_t>(longest)}, tokens));
}

inline RecordText text_of(const std::string& text, std::size_t symbols) {
  RecordText record{text, {}};
  for (std::size_t k = 0; k <= symbols; ++k) record.begins.push_back(std::min(k, text.size()));
  return record;
}

// What an annotator says of some records of tokens_of().
class Annotated {
 public:
  explicit Annotated(std::vector<std::string> strings)
      : strings_(std::move(strings)), dataset_(tokens_of(strings_)) {}

  const DatasetPtr& dataset() const { return dataset_; }
  std::shared_ptr<const Annotator> make(const AnnotatorChoice& choice) const {
    return make_annotator(choice, dataset_, {});
  }
  // Calls back with these records as a block.
  template <typename Function>
  auto with(const std::vector<std::size_t>& indices, Function&& function) const {
    const Batch batch = dataset_->read(indices);
    std::vector<RecordText> texts;
    for (const std::size_t i : indices)
      texts.push_back(text_of(strings_[i], static_cast<std::size_t>(dataset_->record_shape()[0])));
    return function(RecordBlock{*dataset_, batch, texts});
  }
  Behaviours all(const Annotator& annotator) const {
    std::vector<std::size_t> indices;
    for (std::size_t i = 0; i < strings_.size(); ++i) indices.push_back(i);
    return some(annotator, indices);
  }
  Behaviours some(const Annotator& annotator, const std::vector<std::size_t>& indices) const {
    return with(indices, [&](const RecordBlock& block) { return annotator.annotate(block); });
  }

 private:
  std::vector<std::string> strings_;
  DatasetPtr dataset_;
};

// The values of one hypothesis on one record as text: a digit each, '.' for don't care, '#' for others.
inline std::string shown(const Annotator& annotator, const Behaviours& behaviours, const std::string& name,
                         std::size_t record = 0) {
  const std::vector<Hypothesis>& all = annotator.hypotheses();
  const std::size_t count = static_cast<std::size_t>(element_count(behaviours.positions));
  for (std::size_t h = 0; h < all.size(); ++h) {
    if (all[h].name != name) continue;
    std::string text;
    for (std::size_t k = 0; k < count; ++k) {
      const float value = behaviours.values[(record * all.size() + h) * count + k];
      text += value != value             ? '.'
              : value >= 0 && value <= 9 ? static_cast<char>('0' + static_cast<int>(value))
                                         : '#';
    }
    return text;
  }
  return "no hypothesis " + name;
}

}  // namespace assay::inspection::test
