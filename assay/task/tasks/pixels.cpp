// A class for every position of a signal, a picture or a volume: semantic segmentation.

#include <fmt/format.h>

#include <utility>

#include <assay/error.h>
#include "assay/task/counts.h"
#include "assay/task/positions.h"

namespace assay::task {
namespace {

constexpr std::int64_t brightest = 255;  // of 8-bit masks

class Pixels final : public PositionsTask {
 public:
  Pixels(const SpecOptions& options, const TaskSubject& subject)
      : Pixels(options, layout_of(options, subject, {1, -1})) {}

  std::string describe() const override { return "pixels: " + task::describe(layout(), labels()); }
  Judgement judge(const JudgedRecord& record) const override {
    return judge_positions(layout(), record, labels(), /*surprises=*/false);
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
      : PositionsTask(layout, names_of_classes(options, layout.named()), labels_of(options, layout)) {}

  static PositionLabels labels_of(const SpecOptions& options, const PositionLayout& layout) {
    PositionLabels labels{.ignored = ignored_label(options), .foreground = foreground_of(options, layout)};
    const bool free = labels.foreground != brightest && layout.named() <= std::size_t{brightest};
    if (options.text("ignore").empty() && free) labels.ignored = brightest;
    if (labels.foreground && labels.foreground == labels.ignored)
      fail(Fault::usage, "{}: label {} cannot be class 1 and not count; leave out ignore or foreground",
           options.owner(), *labels.ignored);
    return labels;
  }

  static std::optional<std::int64_t> foreground_of(const SpecOptions& options, const PositionLayout& layout) {
    if (options.text("foreground").empty()) return std::nullopt;
    if (layout.named() != 2)
      fail(Fault::usage, "{}: foreground is the label of class 1 of two, and there are {}", options.owner(),
           layout.named());
    return static_cast<std::int64_t>(options.count("foreground", 1));
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
                  {"foreground", "",
                   "label of class 1 of two; empty: 1, or 255 where all masks hold 0 and 255 alone"},
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
