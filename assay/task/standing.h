#pragma once

// Which items of records are decided correctly, and whether a record has changed: how many of these are
// decided otherwise.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <assay/array.h>
#include <assay/dataset.h>
#include <assay/extend/task.h>

namespace assay::task {

// Task::judge(), its errors with the record's name.
Judgement judged_record(const Task& task, const JudgedRecord& record, const Dataset& dataset,
                        std::size_t index);

// By record, its items, with no_class for those that do not count or are decided wrongly.
using RightItems = std::vector<Items>;

// `outputs`: [records of the batch, ...] with records along axis 0. Throws Error{data} naming a record of the
// data set with labels that are not those of the task.
RightItems right_items(const Task& task, const Array& outputs, const Batch& batch, const Dataset& dataset);

// Task::rows() of a batch, its errors with the record's name. Throws as right_items().
ItemRows rows_of(const Task& task, const Array& outputs, const Batch& batch, const Dataset& dataset);

struct Standing {
  std::size_t items = 0, changed = 0;  // items that count, and of these decided otherwise
  bool beyond = false;                 // whether more than the share of the items has changed
  // Of the items by their lead, least first, the one with which more than the share would have changed. The
  // record is beyond where the lead is below 0.
  Lead deciding;
};

// `leads`: of Task::leads() for these items. `share`: in [0, 1); with 0 one item is enough. O(items).
Standing standing_of(std::span<const Lead> leads, const Items& items, double share);

// The sum of the scores of these items: of weight * (number - threshold) over the numbers of the output, the
// weights as Task::explain() has them. No weights: no items.
struct ItemScores {
  std::vector<float> weights;
  float threshold = 0;
};
ItemScores item_scores(const Task& task, std::span<const float> output, const Items& items);

// Leaves the items of a class: of labels, the one of this number where it is there.
void keep_class(const Task& task, std::int64_t only, Items& items);

// The class that an item is counted under: its own; of labels, the number of the label where it is there.
// no_class for an item that does not count, and a label that is not there.
std::int64_t counted_class(const Task& task, const Items& items, std::size_t item);

// Whether any item counts.
bool any_counts(const Items& items);

// The share of standing_of() with which a record has changed where all its items have.
inline constexpr double all_items = 1 - 1e-9;

// The class of a name or number. Throws Error{usage} for one that the task does not have.
std::int64_t class_of(const Task& task, const std::string& name);

// "items decided otherwise", with the share where it is not 0: for documents.
std::string change_in_words(double share);

}  // namespace assay::task
