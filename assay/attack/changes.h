#pragma once

// What it means that the output of a record has changed, where it is not the scores of classes.

#include <cstdint>
#include <memory>
#include <string>

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

// Of items: more than the share of what was not of a class has become it. `before`: what is decided of each
// clean record; items of no_class are left out. Gradients are those of the mean lead of the items that are
// nearest to it.
std::shared_ptr<const OutputChange> items_appear(std::shared_ptr<const task::Task> task,
                                                 std::vector<task::Items> before, std::int64_t of_class,
                                                 double share);

// When attacks on items succeed: "an item is decided otherwise", with the class that is hidden or appears.
std::string goal_in_words(const AttackOptions& options, const task::Task& task);

}  // namespace assay::attack
