// A class for every position of a signal, a picture or a volume: semantic segmentation.

#include <fmt/format.h>

#include <utility>

#include "assay/task/counts.h"
#include "assay/task/positions.h"

namespace assay::task {
namespace {

constexpr std::int64_t usual_ignored = 255;

class Pixels final : public PositionsTask {
 public:
  Pixels(const SpecOptions& options, const TaskSubject& subject)
      : Pixels(options, layout_of(options, subject, {1, -1})) {}

  std::string describe() const override { return "pixels: " + task::describe(layout(), ignored()); }
  Judgement judge(const JudgedRecord& record) const override {
    return judge_positions(layout(), record, ignored(), /*surprises=*/false);
  }
  std::vector<Figure> figures(const Sums& sums) const override {
    std::vector<Figure> all = {
        {.name = "pixel-accuracy", .value = share(sums.right, sums.items).value_or(0)}};
    if (sums.classes.empty()) return all;  // of too many classes none is counted
    all.push_back({.name = "mean-iou", .value = mean_over_classes(sums, intersection_over_union)});
    all.push_back({.name = "mean-dice", .value = mean_over_classes(sums, dice)});
    add_by_class(all, "iou", sums, intersection_over_union);
    add_by_class(all, "dice", sums, dice);
    return all;
  }

 private:
  Pixels(const SpecOptions& options, const PositionLayout& layout)
      : PositionsTask(layout, names_of_classes(options, layout.named()), ignored_of(options, layout)) {}

  static std::optional<std::int64_t> ignored_of(const SpecOptions& options, const PositionLayout& layout) {
    if (options.text("ignore").empty() && layout.named() <= static_cast<std::size_t>(usual_ignored))
      return usual_ignored;
    return ignored_label(options);
  }
};

}  // namespace

TaskInfo pixels_task() {
  return {
      .name = "pixels",
      .summary = "a class for every position of a signal, a picture or a volume (segmentation)",
      .definition =
          "an item is a position. Its class is the one with the greatest score along the axis of the "
          "classes, "
          "the first among equals; with one score a position, class 1 above the threshold and class 0 below. "
          "pixel-accuracy: right positions of those that count, over all records. iou of a class: positions "
          "that are rightly of it, over those that are of it in truth or by the network; mean-iou: its mean "
          "over the classes that occur in either. dice: 2 right / (true + decided); mean-dice alike",
      .limits =
          "labels have the size of the output: resize masks, not outputs. Intervals resample records, so "
          "that a few large pictures give wide ones",
      .paper = "Everingham et al., IJCV 2010 (intersection over union by class); Dice, Ecology 1945",
      .options = {{"axis", "",
                   "axis of the classes, the batch axis counted as 0; -1: the last; empty: the one "
                   "that fits"},
                  {"ignore", "",
                   "label of positions that do not count; none: all count; empty: 255 where "
                   "there are not more classes"},
                  {"threshold", "", "of one score a position; empty: 0.5 of probabilities, else 0"},
                  {"names", "", "names of the classes, joined by +; empty: their numbers"}},
      .fits =
          [](const TaskSubject& subject) {
            return layout_along(subject, 1) || (subject.output.size() > 2 && layout_along(subject, -1));
          },
      .make = [](const SpecOptions& options, const TaskSubject& subject) -> std::unique_ptr<Task> {
        return std::make_unique<Pixels>(options, subject);
      }};
}

}  // namespace assay::task
