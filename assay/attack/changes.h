#pragma once

// What it means that the output of a record has changed, where it is not the scores of classes.

#include <memory>

#include <assay/attack.h>
#include <assay/dataset.h>
#include <assay/extend/attack_problem.h>
#include "assay/task/standing.h"

namespace assay::attack {

// Of regression: moved by more than the margin away from the target, upwards where it is the target.
// `outputs`: of the clean records [n, t].
std::shared_ptr<const OutputChange> moved_away(const Array& outputs, const Array& targets, double margin);

// Of items: more than the share of those that were decided correctly is decided otherwise. Gradients are
// those of the mean lead of the items that have not changed yet, of all once they have.
std::shared_ptr<const OutputChange> items_changed(std::shared_ptr<const task::Task> task,
                                                  task::RightItems items, double share);

}  // namespace assay::attack
