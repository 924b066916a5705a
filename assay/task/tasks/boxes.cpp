// Boxes of objects, each with a class: detection.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include <assay/array_math.h>
#include <assay/error.h>
#include <assay/evaluate.h>
#include "assay/engine/elements.h"
#include "assay/support/text/so_many.h"
#include "assay/task/counts.h"
#include "assay/task/detector.h"
#include "assay/task/positions.h"
#include "assay/task/ranking.h"

namespace assay::task {
namespace {

constexpr std::size_t label_width = 5;  // class, left, top, right, bottom
constexpr int overlap_count = 10;       // 0.5, 0.55, ..., 0.95
double coco_overlap(int i) { return 0.5 + i * (0.45 / 9); }

bool fits_boxes(const TaskSubject& subject) {
  return subject.targets > 0 && subject.targets % label_width == 0 && Detector::fits(subject) &&
         !layout_along(subject, 1) && !layout_along(subject, -1);
}

using ByClass = std::vector<std::vector<WantedBox>>;

class Boxes final : public Task {
 public:
  Boxes(const SpecOptions& options, const TaskSubject& subject)
      : detector_(options, subject),
        confidence_(options.number("confidence", 0)),
        overlap_(options.number("iou", 0)) {
    if (overlap_ <= 0 || overlap_ > 1)
      fail(Fault::usage, "{}: iou={:g} is not above 0 and at most 1", options.owner(), overlap_);
    if (subject.targets % label_width != 0)
      fail(Fault::mismatch,
           "{}: {} targets a record are not rows of class, left, top, right, bottom; give boxes as boxes= of "
           "the data, or as an array [records, most, 5]",
           options.owner(), subject.targets);
    name_classes(options, subject);
  }

  std::string describe() const override {
    return fmt::format("boxes: {}, {}, right above {:g} overlap and {:g} confidence", detector_.describe(),
                       so_many(classes_, "class", "classes"), overlap_, confidence_);
  }
  // The last one stands for no object.
  std::vector<std::string> class_names() const override { return names_; }
  std::vector<std::string> outputs() const override { return detector_.outputs(); }
  std::vector<std::string> overall_figures() const override {
    return {"mean-average-precision", "mean-average-precision-50", "average-precision",
            "average-precision-50"};
  }

  Judgement judge(const JudgedRecord& record) const override {
    const ByClass wanted = wanted_in(record.targets);
    const auto found = detector_.read(record, classes_);
    Judgement judgement{.sums = {.classes = std::vector<Counts>(classes_)}};
    Left left;
    for (std::size_t c = 0; c < classes_; ++c) {
      const Matching matching(found[c], wanted[c]);
      keep(matching, found[c], wanted[c], judgement.kept);
      settle(matching.at(overlap_), found[c], wanted[c], judgement, left);
    }
    confuse(left, judgement);
    for (const std::int64_t c : judgement.wanted) judgement.sums.items += c >= 0 ? 1 : 0;
    count_record(judgement.sums);
    return judgement;
  }

  // Detections that are sure enough.
  Items decide(std::span<const float> output) const override {
    Items items;
    for (const std::vector<Detection>& of_class : found_in(output)) {
      for (const Detection& one : of_class) {
        if (one.score < confidence_) break;
        items.classes.push_back(one.of_class);
        add_place(one.box, items.places);
      }
    }
    return items;
  }

  // A box holds where a detection of its class matches it that is sure enough. It is led by that detection,
  // else by the surest one that would match.
  std::vector<Lead> leads(std::span<const float> output, const Items& items) const override {
    const auto found = found_in(output);
    std::vector<Lead> leads(items.classes.size());
    for (std::size_t c = 0; c < classes_; ++c) {
      std::vector<std::size_t> held;
      for (std::size_t i = 0; i < leads.size(); ++i) {
        if (items.classes[i] == static_cast<std::int64_t>(c)) held.push_back(i);
      }
      if (!held.empty()) lead_class(output, found[c], items, held, leads);
    }
    return leads;
  }

  // Boxes where none of the class was.
  std::vector<Lead> appearing(std::span<const float> output, std::int64_t of_class,
                              const Items& before) const override {
    std::vector<Box> others;
    for (std::size_t i = 0; i < before.classes.size(); ++i) {
      const std::span<const float> place = before.place(i);
      if (before.classes[i] == of_class) others.push_back({place[0], place[1], place[2], place[3]});
    }
    return detector_.leads_apart(output, of_class, confidence_, others, overlap_);
  }

  // All but what stands for no object.
  Marks marks(const Items& items) const override {
    Marks marks;
    for (std::size_t i = 0; i < items.classes.size(); ++i) {
      const std::span<const float> place = items.place(i);
      if (items.classes[i] >= 0 && items.classes[i] != background())
        marks.frames.push_back({place[0], place[1], place[2], place[3], items.classes[i]});
    }
    return marks;
  }

  // The middle of each, in pixels of the picture.
  Positions positions(const Items& items) const override {
    if (!detector_.size()) return {};
    const auto height = static_cast<std::int64_t>(detector_.size()->height),
               width = static_cast<std::int64_t>(detector_.size()->width);
    Positions where{.grid = {height, width}, .cells = {}};
    const auto inside = [](float middle, std::int64_t side) {
      return std::clamp(static_cast<std::int64_t>(std::floor(middle)), std::int64_t{0}, side - 1);
    };
    for (std::size_t i = 0; i < items.classes.size(); ++i) {
      const std::span<const float> place = items.place(i);
      const bool there = items.classes[i] >= 0 && items.classes[i] != background();
      where.cells.push_back(there ? inside((place[1] + place[3]) / 2, height) * width +
                                        inside((place[0] + place[2]) / 2, width)
                                  : no_class);
    }
    return where;
  }

  void differentiate(std::span<const float> output, const Lead& lead, float weight,
                     std::span<float> gradients) const override {
    detector_.differentiate(output, lead, weight, gradients);
  }
  void explain(std::span<const float> output, const Lead& lead, std::span<float> weights) const override {
    detector_.explain(output, lead, weights);
  }

  // Detections that match a box, which are right, and those that are sure enough and match none, which are
  // not. The places of boxes are not learned.
  ItemRows rows(const Array& outputs, const Array& targets) const override {
    const std::vector<float> all = floats_of(outputs), labels = floats_of(targets);
    const std::size_t records = outputs.size(0);
    std::vector<Detector::Pair> pairs;
    std::vector<std::int64_t> right;
    for (std::size_t r = 0; r < records; ++r) {
      const std::size_t width = all.size() / records, wanted = labels.size() / records;
      const auto found = found_in(std::span(all).subspan(r * width, width));
      const ByClass boxes = wanted_in(std::span(labels).subspan(r * wanted, wanted));
      for (std::size_t c = 0; c < classes_; ++c) {
        const std::vector<int> matches = Matching(found[c], boxes[c]).at(overlap_);
        for (std::size_t d = 0; d < found[c].size(); ++d) {
          const int match = matches[d];
          const bool counts = match >= 0 ? !boxes[c][match].ignored : found[c][d].score >= confidence_;
          if (!counts) continue;
          pairs.push_back({r, found[c][d].source, found[c][d].of_class});
          right.push_back(match >= 0 ? 1 : 0);
        }
      }
    }
    const std::int64_t count = pairs.size();
    return {.scores = detector_.probabilities(outputs, pairs).reshape({count, 1}),
            .labels = array::tensor(right),
            .probabilities = true};
  }

  std::vector<Figure> figures(const Sums& sums) const override {
    Counts all_boxes;
    for (const Counts& counts : sums.classes) all_boxes += counts;
    std::vector<Figure> all = {{.name = "f1", .value = dice(all_boxes).value_or(0)},
                               {.name = "precision", .value = precision(all_boxes).value_or(0)},
                               {.name = "recall", .value = recall(all_boxes).value_or(0)}};
    add_by_class(all, "f1", sums, dice);
    add_by_class(all, "precision", sums, precision);
    add_by_class(all, "recall", sums, recall);
    return all;
  }

  std::unique_ptr<Overall> overall(std::vector<std::vector<float>> kept) const override;

 private:
  // Boxes that no box of their class matches.
  struct Left {
    std::vector<WantedBox> wanted;
    std::vector<Detection> found;
  };

  void name_classes(const SpecOptions& options, const TaskSubject& subject) {
    const std::size_t named = std::max(options.words("names").size(), subject.class_names.size());
    if (!detector_.classes() && named == 0)
      fail(Fault::usage, "{}: the network gives numbers of classes; name all as names=cat+dog",
           options.owner());
    classes_ = detector_.classes().value_or(named);
    const bool by_data = options.words("names").empty() && subject.class_names.size() == classes_;
    names_ = by_data ? subject.class_names : names_of_classes(options, classes_);
    names_.emplace_back("background");
  }

  std::vector<std::vector<Detection>> found_in(std::span<const float> output) const {
    return detector_.read({.output = output, .targets = {}}, classes_);
  }

  static void add_place(const Box& box, std::vector<float>& places) {
    for (const double side : {box.left, box.top, box.right, box.bottom})
      places.push_back(static_cast<float>(side));
  }

  // `held`: the items of one class, of which `found` are the detections.
  void lead_class(std::span<const float> output, std::span<const Detection> found, const Items& items,
                  std::span<const std::size_t> held, std::vector<Lead>& leads) const {
    std::vector<WantedBox> boxes;
    for (const std::size_t i : held) {
      const std::span<const float> place = items.place(i);
      boxes.push_back({{place[0], place[1], place[2], place[3]}, items.classes[i]});
      leads[i].value = static_cast<float>(-confidence_);
      leads[i].scale = static_cast<float>(confidence_);
    }
    const std::vector<int> matches = Matching(found, boxes).at(overlap_);
    for (std::size_t d = 0; d < found.size(); ++d) {
      if (matches[d] < 0) continue;
      Lead& lead = leads[held[matches[d]]];
      lead = detector_.lead(output, found[d].source, found[d].of_class, confidence_);
      lead.holds = found[d].score >= confidence_;
    }
  }

  std::int64_t background() const { return classes_; }

  ByClass wanted_in(std::span<const float> targets) const {
    ByClass wanted(classes_);
    for (std::size_t at = 0; at + label_width <= targets.size(); at += label_width) {
      const auto row = targets.subspan(at, label_width);
      if (row[0] == -1) continue;
      const WantedBox box = wanted_box(row, at / label_width);
      wanted[box.of_class].push_back(box);
    }
    return wanted;
  }

  // The class is c, or -2 - c of a region that is ignored.
  WantedBox wanted_box(std::span<const float> row, std::size_t number) const {
    const bool ignored = row[0] < 0;
    const double c = ignored ? -2.0 - row[0] : row[0];
    if (!(c >= 0 && c < classes_) || c != std::floor(c))
      fail(Fault::data,
           "box {} is of class {:g}, but the network tells {} classes apart, from 0 on; number them as the "
           "network does (categories= of the data)",
           number, c, classes_);
    const WantedBox box{{row[1], row[2], row[3], row[4]}, static_cast<std::int64_t>(c), ignored};
    require_inside(box.box, number);
    if (!ignored && box.box.area() == 0)
      fail(Fault::data,
           "box {} from {:g}, {:g} to {:g}, {:g} has no area, so that no detection can overlap it; leave it "
           "out, or give it the class {:g} of a region that is ignored",
           number, box.box.left, box.box.top, box.box.right, box.box.bottom, -2 - c);
    return box;
  }

  void require_inside(const Box& box, std::size_t number) const {
    const auto& [left, top, right, bottom] = box;
    if (!std::isfinite(left + top + right + bottom) || right < left || bottom < top)
      fail(Fault::data, "box {} from {:g}, {:g} to {:g}, {:g} is none; give left, top, right, bottom", number,
           left, top, right, bottom);
    constexpr double rounding = 1;  // a pixel
    if (!detector_.size()) return;
    const auto [width, height] = *detector_.size();
    if (left < -rounding || top < -rounding || right > width + rounding || bottom > height + rounding)
      fail(Fault::data,
           "box {} from {:g}, {:g} to {:g}, {:g} is outside of the picture, {:g} wide and {:g} high; boxes "
           "are "
           "in pixels of the records as the network gets them",
           number, left, top, right, bottom, width, height);
  }

  // For the ranking: how many boxes of the class there are, how many detections, and of each its score and
  // the overlaps at which it is right and counts.
  void keep(const Matching& matching, std::span<const Detection> found, std::span<const WantedBox> wanted,
            std::vector<float>& kept) const {
    const auto counted = std::ranges::count(wanted, false, &WantedBox::ignored);
    kept.push_back(static_cast<float>(counted));
    kept.push_back(static_cast<float>(found.size()));
    std::vector<std::uint32_t> right(found.size()), counts(found.size());
    for (int i = 0; i < overlap_count && !found.empty(); ++i) {
      const std::vector<int> matches = matching.at(coco_overlap(i));
      for (std::size_t d = 0; d < found.size(); ++d) {
        const bool some = matches[d] >= 0, ignored = some && wanted[matches[d]].ignored;
        right[d] |= (some && !ignored ? 1U : 0U) << i;
        counts[d] |= (ignored ? 0U : 1U) << i;
      }
    }
    for (std::size_t d = 0; d < found.size(); ++d) {
      kept.push_back(found[d].score);
      kept.push_back(static_cast<float>(right[d] << overlap_count | counts[d]));
    }
  }

  // Of one class: what is right, and what is left for others to be confused with.
  void settle(const std::vector<int>& matches, std::span<const Detection> found,
              std::span<const WantedBox> wanted, Judgement& judgement, Left& left) const {
    std::vector<bool> taken(wanted.size());
    for (std::size_t d = 0; d < found.size(); ++d) {
      if (found[d].score < confidence_) break;
      if (matches[d] < 0) {
        left.found.push_back(found[d]);
      } else {
        taken[matches[d]] = true;
      }
    }
    for (std::size_t g = 0; g < wanted.size(); ++g) {
      if (!wanted[g].ignored && !taken[g]) left.wanted.push_back(wanted[g]);
      if (!wanted[g].ignored && taken[g]) note_right(wanted[g], judgement);
      if (wanted[g].ignored) note(no_class, background(), wanted[g].box, judgement);
    }
  }

  static void note(std::int64_t wanted, std::int64_t decided, const Box& box, Judgement& judgement) {
    judgement.wanted.push_back(wanted);
    judgement.decided.push_back(decided);
    add_place(box, judgement.places);
  }

  static void note_right(const WantedBox& box, Judgement& judgement) {
    note(box.of_class, box.of_class, box.box, judgement);
    ++judgement.sums.right;
    Counts& counts = judgement.sums.classes[box.of_class];
    counts += {.matched = 1, .decided = 1, .wanted = 1};
  }

  // A box of another class, a box that is missed, or a detection of nothing.
  void confuse(Left& left, Judgement& judgement) const {
    std::ranges::stable_sort(left.found, std::greater<>(), &Detection::score);
    const std::vector<int> matches = Matching(left.found, left.wanted).at(overlap_);
    std::vector<bool> taken(left.wanted.size());
    for (std::size_t d = 0; d < left.found.size(); ++d) {
      const std::int64_t decided = left.found[d].of_class;
      ++judgement.sums.classes[decided].decided;
      const int match = matches[d];
      if (match >= 0) taken[match] = true;
      note(match >= 0 ? left.wanted[match].of_class : background(), decided,
           match >= 0 ? left.wanted[match].box : left.found[d].box, judgement);
    }
    for (std::size_t g = 0; g < left.wanted.size(); ++g) {
      ++judgement.sums.classes[left.wanted[g].of_class].wanted;
      if (!taken[g]) note(left.wanted[g].of_class, background(), left.wanted[g].box, judgement);
    }
  }

  Detector detector_;
  double confidence_, overlap_;
  std::size_t classes_ = 0;
  std::vector<std::string> names_;
};

// Average precision by class and overlap, of what records keep.
class RankedBoxes final : public Overall {
 public:
  RankedBoxes(const Boxes& task, std::span<const std::vector<float>> kept)
      : task_(task), present_(task.class_names().size() - 1, std::vector<float>(kept.size())) {
    std::vector<std::vector<RankedItem>> items(present_.size());
    for (std::size_t r = 0; r < kept.size(); ++r) {
      std::size_t at = 0;
      for (std::size_t c = 0; c < present_.size(); ++c) {
        present_[c][r] = kept[r][at];
        const std::size_t end = at + 2 + 2 * static_cast<std::size_t>(kept[r][at + 1]);
        for (at += 2; at < end; at += 2) items[c].push_back(item(r, kept[r][at], kept[r][at + 1]));
      }
    }
    for (std::vector<RankedItem>& one : items) rankings_.emplace_back(std::move(one));
  }

  std::vector<Figure> figures(const Sums& sums, std::span<const std::uint32_t> times) const override {
    std::vector<Figure> by_class, at_half;
    double mean = 0, mean_at_half = 0;
    for (std::size_t c = 0; c < rankings_.size(); ++c) {
      double positives = 0;
      for (std::size_t r = 0; r < times.size(); ++r)
        positives += times[r] * static_cast<double>(present_[c][r]);
      if (positives == 0) continue;
      std::array<double, overlap_count> values{};
      for (int i = 0; i < overlap_count; ++i)
        values[i] = rankings_[c].interpolated_precision(i, positives, times);
      double sum = 0;
      for (const double value : values) sum += value;
      by_class.push_back(figure("average-precision", c, sum / overlap_count));
      at_half.push_back(figure("average-precision-50", c, values[0]));
      mean += sum / overlap_count;
      mean_at_half += values[0];
    }
    const auto present = static_cast<double>(std::max<std::size_t>(1, by_class.size()));
    std::vector<Figure> all;
    if (!by_class.empty())
      all = {{.name = "mean-average-precision", .value = mean / present},
             {.name = "mean-average-precision-50", .value = mean_at_half / present}};
    for (const std::vector<Figure>& some : {task_.figures(sums), by_class, at_half})
      all.insert(all.end(), some.begin(), some.end());
    return all;
  }

 private:
  static RankedItem item(std::size_t record, float score, float bits) {
    const auto both = static_cast<std::uint32_t>(bits);
    return {.score = score,
            .record = static_cast<std::uint32_t>(record),
            .right = both >> overlap_count,
            .counted = both & ((1U << overlap_count) - 1)};
  }
  static Figure figure(const std::string& name, std::size_t of_class, double value) {
    return {.name = name, .of_class = static_cast<std::int64_t>(of_class), .value = value};
  }

  const Boxes& task_;
  std::vector<std::vector<float>> present_;  // boxes that count, by class and record
  std::vector<Ranking> rankings_;            // by class
};

std::unique_ptr<Overall> Boxes::overall(std::vector<std::vector<float>> kept) const {
  return std::make_unique<RankedBoxes>(*this, kept);
}

std::vector<SpecOption> options_of_boxes() {
  std::vector<SpecOption> all = Detector::options();
  all.push_back(
      {"confidence", "0.25", "least score of a detection that counts for precision, recall and f1"});
  all.push_back({"iou", "0.5", "overlap at which a detection is right for precision, recall and f1"});
  all.push_back({"names", "", "names of the classes, joined by +; empty: those of the data, or numbers"});
  return all;
}

}  // namespace

TaskInfo boxes_task() {
  return {
      .name = "boxes",
      .summary = "boxes of objects, each with a class (detection)",
      .definition =
          "detections of a class are taken by falling score, each matched with the box of that class that it "
          "overlaps most (intersection over union) and no earlier one has. average-precision of a class: "
          "over "
          "all records, the mean over 101 recalls of the greatest precision at that recall or a higher one, "
          "averaged over the overlaps 0.5, 0.55, ..., 0.95 that make a match; average-precision-50: at 0.5; "
          "mean-average-precision: the mean over the classes that occur, all as COCO's evaluation has them. "
          "precision, recall and f1: of detections with the confidence, matched at iou. An item is a box "
          "that is there, or a detection of nothing",
      .limits =
          "distributions over distances to the sides of a box are not read. Figures by size of the box are "
          "not "
          "there",
      .paper = "Lin et al., ECCV 2014 (COCO); Everingham et al., IJCV 2010",
      .options = options_of_boxes(),
      .fits = fits_boxes,
      .make = [](const SpecOptions& options, const TaskSubject& subject) -> std::unique_ptr<Task> {
        return std::make_unique<Boxes>(options, subject);
      }};
}

}  // namespace assay::task
