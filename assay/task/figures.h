#pragma once

// Figures of a task without intervals, for loops over many networks.

#include <vector>

#include <assay/dataset.h>
#include <assay/extend/task.h>
#include <assay/progress.h>
#include <assay/session.h>

namespace assay::task {

// As evaluate() has them. One pass on this process alone. Throws as evaluate().
std::vector<Figure> figures_of(const Session& session, const DatasetPtr& dataset, const Task& task,
                               std::size_t batch, Progress& progress);

}  // namespace assay::task
