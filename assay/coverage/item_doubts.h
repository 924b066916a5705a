#pragma once

// How doubtful a network is about records of many items.

#include <functional>
#include <span>
#include <vector>

#include <assay/dataset.h>
#include <assay/extend/task.h>
#include <assay/progress.h>
#include <assay/session.h>

namespace assay::coverage {

// By record, the mean of `doubt` over the probabilities of each of its items that count; NaN for one without
// any. Throws Error{data} for labels that are not those of the task. O(records * items * classes) beside the
// network.
std::vector<double> doubts_of_items(const Session& session, const DatasetPtr& test, const task::Task& task,
                                    const std::function<double(std::span<const float>)>& doubt,
                                    std::size_t batch, Progress& progress);

}  // namespace assay::coverage
