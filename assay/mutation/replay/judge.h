#pragma once

// When a mutant decides differently than the original: another class, a regression value further away than a
// margin, or more than a share of a record's items decided differently.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <assay/extend/task.h>
#include <assay/mutation.h>
#include <assay/session.h>

namespace assay::mutation {

class Judge {
 public:
  // Of a classifier, with a margin of a regression network, with a task of a network that decides items.
  // `divergence`: kills beside the decision, of a classifier.
  Judge(const Session& original, std::optional<double> margin, std::shared_ptr<const task::Task> task = {},
        std::optional<Divergence> divergence = {})
      : session_(original), margin_(margin), task_(std::move(task)), divergence_(divergence) {}

  struct Verdict {
    bool killed = false;
    bool finite = true;  // false: the mutant's decision holds a NaN or infinity, which kills
    // Distance from the other decision, in units of the decision value: the expected class's score less the
    // best other (for items, that of the item with which too many change), or the margin less the deviation.
    // With a divergence, at most what its root lacks to the root of its bound, which moves by less than
    // scores do. Negative when killed; relative to `scale` its size shows how clear the verdict is.
    double slack = 0;
    double scale = 0;   // largest magnitude among the values compared
    double change = 0;  // largest difference between the mutant's decision values and the original's
    std::vector<std::int64_t> classes = {};  // of items: those that are killed, ascending
  };
  // One verdict a record. `original`, `mutant`: decision values [n, ...]; `expected`: the original's classes,
  // of classifiers; `items`: of tasks, those that the original decides correctly. Throws Error{unsupported}
  // when classes cannot be read off.
  std::vector<Verdict> judge(const Array& original, const Array& mutant,
                             std::span<const std::int64_t> expected,
                             std::span<const task::Items> items = {}) const;

 private:
  void compare(Verdict& verdict, std::span<const float> now, std::int64_t expected) const;
  void compare_distributions(Verdict& verdict, std::span<const float> was, std::span<const float> now) const;
  void compare_items(Verdict& verdict, std::span<const float> now, const task::Items& items) const;

  const Session& session_;
  std::optional<double> margin_;
  std::shared_ptr<const task::Task> task_;
  std::optional<Divergence> divergence_;
};

}  // namespace assay::mutation
