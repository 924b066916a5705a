#pragma once

// Outputs that hold the scores of classes for every position.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <assay/extend/task.h>

namespace assay::task {

// Where the score of a class at a position is: class * class_step + outer * outer_step + inner, for positions
// counted as outer * inner_count + inner.
struct PositionLayout {
  std::int64_t classes = 0, outer = 0, inner = 0;
  int axis = 0;                // of the classes, the batch axis counted
  Shape grid = {};             // of the positions
  bool probabilities = false;  // scores are probabilities, of which logarithms are the logits
  float threshold = 0;         // of one score a position: class 1 above it, class 0 otherwise

  std::int64_t positions() const { return outer * inner; }
  std::size_t named() const { return classes == 1 ? 2 : static_cast<std::size_t>(classes); }
};

// What labels mean that are not the numbers of classes.
struct PositionLabels {
  std::optional<std::int64_t> ignored = {};     // of positions that do not count
  std::optional<std::int64_t> foreground = {};  // of class 1 of two, where 0 is the only other one
};

// With the classes along this axis of the output (1 is the first after the batch axis, -1 the last). Nothing
// where there is no such axis, or not one target for each position.
std::optional<PositionLayout> layout_along(const TaskSubject& subject, int axis);
// Of the options `axis` (empty: any of `candidates` that fits) and `threshold` (empty: that of the scores).
// Throws Error{mismatch} where nothing fits, Error{usage} where several do.
PositionLayout layout_of(const SpecOptions& options, const TaskSubject& subject,
                         const std::vector<int>& candidates);

// Decisions, labels and sums by position. With `surprises` Sums::surprise is summed. Throws Error{data} for a
// label that is not a class.
Judgement judge_positions(const PositionLayout& layout, const JudgedRecord& record,
                          const PositionLabels& labels, bool surprises);

// The option `ignore`: an integer, or empty for none. Throws Error{usage} for anything else.
std::optional<std::int64_t> ignored_label(const SpecOptions& options);
// The option `names` ("sky+road"), or numbers. Throws Error{usage} where there are not as many as classes.
std::vector<std::string> names_of_classes(const SpecOptions& options, std::size_t classes);

// "3 classes along axis 1, 64 positions, label 255 does not count".
std::string describe(const PositionLayout& layout, const PositionLabels& labels);

// A task whose output holds the scores of classes for every position.
class PositionsTask : public Task {
 public:
  std::vector<std::string> class_names() const override { return names_; }
  Items decide(std::span<const float> output) const override;
  std::vector<Lead> leads(std::span<const float> output, const Items& items) const override;
  void differentiate(std::span<const float> output, const Lead& lead, float weight,
                     std::span<float> gradients) const override;
  ItemRows rows(const Array& outputs, const Array& targets) const override;
  Marks marks(const Items& items) const override;
  Positions positions(const Items& items) const override;

 protected:
  PositionsTask(PositionLayout layout, std::vector<std::string> names, const PositionLabels& labels)
      : layout_(layout), names_(std::move(names)), labels_(labels) {}

  const PositionLayout& layout() const { return layout_; }
  const std::vector<std::string>& names() const { return names_; }
  const PositionLabels& labels() const { return labels_; }

 private:
  PositionLayout layout_;
  std::vector<std::string> names_;
  PositionLabels labels_;
};

}  // namespace assay::task
