#include "assay/mutation/replay/judge.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include <assay/error.h>
#include <assay/evaluate.h>
#include "assay/engine/elements.h"
#include "assay/mutation/divergence.h"
#include "assay/task/standing.h"

namespace assay::mutation {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// How far the expected class is ahead of the best other one.
void compare_classes(Judge::Verdict& verdict, std::span<const float> scores, std::int64_t expected,
                     double threshold) {
  double own = scores[0], other = threshold;
  if (scores.size() == 1) {  // yes or no
    verdict.slack = expected == 1 ? own - other : other - own;
  } else {
    own = scores[expected];
    other = -infinity;
    for (std::size_t c = 0; c < scores.size(); ++c) {
      if (static_cast<std::int64_t>(c) != expected) other = std::max<double>(other, scores[c]);
    }
    verdict.slack = own - other;
  }
  verdict.scale = std::max(std::abs(own), std::abs(other));
}

// How far apart the decision values are, and whether they are numbers.
void measure(Judge::Verdict& verdict, std::span<const float> was, std::span<const float> now) {
  for (std::size_t i = 0; i < now.size(); ++i) {
    verdict.finite = verdict.finite && std::isfinite(now[i]);
    verdict.change = std::max(verdict.change, std::abs(static_cast<double>(now[i]) - was[i]));
    verdict.scale = std::max<double>({verdict.scale, std::abs(now[i]), std::abs(was[i])});
  }
}

// Classes of which more than the share of the items has changed. `leads`: null, all have.
std::vector<std::int64_t> changed_classes(const task::Task& task, const std::vector<task::Lead>* leads,
                                          const task::Items& items, double share) {
  std::map<std::int64_t, std::pair<std::size_t, std::size_t>> counts;  // items, changed
  for (std::size_t i = 0; i < items.classes.size(); ++i) {
    const std::int64_t c = task::counted_class(task, items, i);
    if (c == no_class) continue;
    auto& [all, changed] = counts[c];
    ++all;
    changed += leads == nullptr || !(*leads)[i].holds ? 1 : 0;
  }
  std::vector<std::int64_t> classes;
  for (const auto& [c, count] : counts) {
    if (count.second > share * count.first) classes.push_back(c);
  }
  return classes;
}

}  // namespace

void Judge::compare(Verdict& verdict, std::span<const float> now, std::int64_t expected) const {
  if (margin_) {
    verdict.slack = *margin_ - verdict.change;
    verdict.killed = verdict.change > *margin_;
  } else {
    compare_classes(verdict, now, expected, session_.ends_in_sigmoid() ? 0.5 : 0.0);
  }
}

void Judge::compare_distributions(Verdict& verdict, std::span<const float> was,
                                  std::span<const float> now) const {
  const double apart = divergence_of(divergence_->kind, was, now, session_.ends_in_sigmoid());
  verdict.killed = verdict.killed || apart > divergence_->above;
  verdict.slack = std::min(verdict.slack, std::sqrt(divergence_->above) - std::sqrt(apart));
}

void Judge::compare_items(Verdict& verdict, std::span<const float> now, const task::Items& items) const {
  const std::vector<task::Lead> leads = task_->leads(now, items);
  const task::Standing standing = task::standing_of(leads, items, margin_.value_or(0));
  verdict.classes = changed_classes(*task_, &leads, items, margin_.value_or(0));
  verdict.slack = standing.deciding.value;
  verdict.scale = standing.deciding.scale;
  verdict.killed = standing.beyond;
}

std::vector<Judge::Verdict> Judge::judge(const Array& original, const Array& mutant,
                                         std::span<const std::int64_t> expected,
                                         std::span<const task::Items> items) const {
  const Array before = as_rows(in_memory(original, DType::float32)),
              after = as_rows(in_memory(mutant, DType::float32));
  if (before.shape() != after.shape()) {
    fail(Fault::internal, "a mutant's decision value has {} numbers a record, the original's {}",
         after.size(1), before.size(1));
  }
  const std::size_t width = after.size(1);
  const bool classifies = !margin_ && !task_;
  const std::vector<std::int64_t> classes =
      classifies ? predicted_classes(session_, mutant, after.size(0)) : std::vector<std::int64_t>();
  std::vector<Verdict> verdicts(after.size(0));
  for (std::size_t r = 0; r < verdicts.size(); ++r) {
    const std::span<const float> was(before.elements<float>() + r * width, width),
        now(after.elements<float>() + r * width, width);
    Verdict& verdict = verdicts[r];
    measure(verdict, was, now);
    if (!verdict.finite) {
      verdict = {.killed = true, .finite = false, .slack = -infinity, .scale = infinity, .change = infinity};
      if (task_) verdict.classes = changed_classes(*task_, nullptr, items[r], margin_.value_or(0));
    } else if (task_) {
      compare_items(verdict, now, items[r]);
    } else {
      compare(verdict, now, classifies ? expected[r] : 0);
      if (classifies) verdict.killed = classes[r] != expected[r];
      if (divergence_) compare_distributions(verdict, was, now);
    }
  }
  return verdicts;
}

}  // namespace assay::mutation
