#pragma once

// What records are labelled with: classes, numbers to be predicted, or their items (masks, boxes, texts).

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <assay/dataset.h>
#include <assay/extend/data_format.h>

namespace assay::inline data {

struct ClassLabels {
  std::vector<std::int64_t> labels;  // by position in the source; empty without classes
  std::vector<std::string> class_names;
};

// Classes of labels as they are written, without blanks around them: whole numbers from 0 as they are, names
// in the order of the alphabet, and then there are class_names. `what` begins messages: "a.txt: label".
// Throws Error{data} for other numbers.
ClassLabels classes_of_texts(const std::vector<std::string>& texts, const std::string& what);

// Of the source, or of the table labels=, with the changes of relabel=. Throws Error{usage} for options that
// do not fit, Error{data} for what is not a class number.
ClassLabels class_labels_of(const DataSpec& spec, const std::string& text, const Source& source);

struct Targets {
  std::size_t width = 0;                                          // numbers a record; 0: there are none
  std::function<std::vector<float>(std::size_t record)> of = {};  // by position in the source
  std::string items_text = {};  // of labels of items, what they are: "up to 3 boxes of 2 classes"
  std::vector<std::string> class_names = {};  // of boxes
};

// Of the source, of the table targets=, or labels of items: boxes=, masks=, texts=. `record_shape`: as
// records are given out. What is returned reads the source later.
Targets targets_of(const DataSpec& spec, const std::string& text, const Source& source,
                   const Shape& record_shape);

}  // namespace assay::inline data
