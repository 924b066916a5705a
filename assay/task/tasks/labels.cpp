// Several labels a record, each there or not.

#include <fmt/format.h>

#include <assay/error.h>
#include <assay/evaluate.h>
#include "assay/task/counts.h"
#include "assay/task/positions.h"
#include "assay/task/ranking.h"

namespace assay::task {
namespace {

class Labels final : public PositionsTask {
 public:
  Labels(const SpecOptions& options, const TaskSubject& subject)
      : PositionsTask(layout_of_labels(options, subject), names_of_classes(options, subject.targets),
                      {.ignored = static_cast<std::int64_t>(options.number("missing"))}),
        count_(subject.targets),
        missing_(options.number("missing")) {}

  static bool same_width(const TaskSubject& subject) {
    return subject.targets > 0 && element_count(subject.output) == static_cast<std::int64_t>(subject.targets);
  }

  std::string describe() const override {
    return fmt::format("labels: {} labels, each there above {:.3g}, {:g} does not count", count_,
                       layout().threshold, missing_);
  }
  bool items_are_labels() const override { return true; }
  std::vector<std::string> overall_figures() const override {
    return {"average-precision", "mean-average-precision"};
  }

  Judgement judge(const JudgedRecord& record) const override {
    Judgement result{.decided = decide(record.output).classes,
                     .wanted = std::vector<std::int64_t>(count_),
                     .kept = {record.output.begin(), record.output.end()},
                     .sums = {.classes = std::vector<Counts>(count_)}};
    for (std::size_t k = 0; k < count_; ++k) {
      result.wanted[k] = wanted(record.targets[k], k);
      count(result.decided[k], result.wanted[k], result.sums, result.sums.classes[k]);
    }
    result.kept.insert(result.kept.end(), result.wanted.begin(), result.wanted.end());
    count_record(result.sums);
    return result;
  }

  std::vector<Figure> figures(const Sums& sums) const override {
    Counts all_labels;
    for (const Counts& counts : sums.classes) all_labels += counts;
    std::vector<Figure> all = {
        {.name = "exact-match", .value = share(sums.whole, sums.records).value_or(0)},
        {.name = "micro-f1", .value = dice(all_labels).value_or(0)},
        {.name = "macro-f1", .value = mean_over_classes(sums, dice)},
        {.name = "label-accuracy", .value = share(sums.right, sums.items).value_or(0)}};
    add_by_class(all, "f1", sums, dice);
    add_by_class(all, "precision", sums, precision);
    add_by_class(all, "recall", sums, recall);
    return all;
  }

  std::unique_ptr<Overall> overall(std::vector<std::vector<float>> kept) const override;

 private:
  // One score each.
  static PositionLayout layout_of_labels(const SpecOptions& options, const TaskSubject& subject) {
    if (!same_width(subject))
      fail(Fault::mismatch,
           "{}: the network gives {} a record, which is not one score for each of {} targets; "
           "give a 0 or 1 for each score, in the order of the output",
           options.owner(), to_string(subject.output), subject.targets);
    return {.classes = 1,
            .outer = static_cast<std::int64_t>(subject.targets),
            .inner = 1,
            .probabilities = subject.probabilities,
            .threshold = options.text("threshold").empty() ? (subject.probabilities ? 0.5F : 0.0F)
                                                           : static_cast<float>(options.number("threshold"))};
  }

  std::int64_t wanted(float target, std::size_t label) const {
    if (target == missing_) return no_class;
    if (target != 0 && target != 1)
      fail(Fault::data,
           "label {} is {}, which is not 0 or 1; give the number of what is not known as missing=",
           names()[label], target);
    return target == 1 ? 1 : 0;
  }

  static void count(std::int64_t decided, std::int64_t wanted, Sums& sums, Counts& label) {
    if (wanted < 0) return;
    ++sums.items;
    sums.right += decided == wanted ? 1 : 0;
    label.matched += decided == 1 && wanted == 1 ? 1 : 0;
    label.decided += decided == 1 ? 1 : 0;
    label.wanted += wanted == 1 ? 1 : 0;
  }

  std::size_t count_;
  double missing_;
};

// Average precision by label, of what records keep: the scores, then what is true.
class RankedLabels final : public Overall {
 public:
  RankedLabels(const Labels& task, std::span<const std::vector<float>> kept) : task_(task) {
    const std::size_t count = task.class_names().size();
    for (std::size_t k = 0; k < count; ++k) {
      std::vector<RankedItem> items;
      for (std::size_t r = 0; r < kept.size(); ++r) {
        const float score = kept[r][k], wanted = kept[r][count + k];
        if (wanted >= 0 && !std::isnan(score))
          items.push_back({score, static_cast<std::uint32_t>(r), wanted == 1 ? 1U : 0U});
      }
      rankings_.emplace_back(std::move(items));
    }
  }

  std::vector<Figure> figures(const Sums& sums, std::span<const std::uint32_t> times) const override {
    std::vector<Figure> all = task_.figures(sums), by_label;
    double sum = 0;
    for (std::size_t k = 0; k < rankings_.size(); ++k) {
      const std::optional<double> value = rankings_[k].average_precision(times);
      if (!value) continue;
      sum += *value;
      by_label.push_back(
          {.name = "average-precision", .of_class = static_cast<std::int64_t>(k), .value = *value});
    }
    if (by_label.empty()) return all;
    all.push_back({.name = "mean-average-precision", .value = sum / by_label.size()});
    all.insert(all.end(), by_label.begin(), by_label.end());
    return all;
  }

 private:
  const Labels& task_;
  std::vector<Ranking> rankings_;  // by label
};

std::unique_ptr<Overall> Labels::overall(std::vector<std::vector<float>> kept) const {
  return std::make_unique<RankedLabels>(*this, kept);
}

}  // namespace

TaskInfo labels_task() {
  return {
      .name = "labels",
      .summary = "several labels a record, each there or not (tags of pictures, findings)",
      .definition =
          "an item is a label, there where its score is above the threshold. exact-match: records all of "
          "whose "
          "labels are right. f1 of a label: 2 right / (true + decided), of records where it is there; "
          "micro-f1: "
          "the same of the sums over all labels; macro-f1: the mean of f1 over the labels that are there in "
          "truth or by the network. label-accuracy: right labels of those that count. average-precision of a "
          "label: the mean, over the records that have it, of the share of such records among those with a "
          "score as high or higher; mean-average-precision: its mean over labels that some record has",
      .limits =
          "one threshold for all labels. A label that is neither there nor decided has no f1, where "
          "scikit-learn's default counts 0",
      .paper = "Zhang, Zhou, IEEE TKDE 2014, for measures of several labels",
      .options = {{"threshold", "", "above it a label is there; empty: 0.5 of probabilities, else 0"},
                  {"missing", "-1", "target of labels that are not known and do not count"},
                  {"names", "", "names of the labels, joined by +; empty: their numbers"}},
      .fits = [](const TaskSubject& subject) { return subject.targets > 1 && Labels::same_width(subject); },
      .make = [](const SpecOptions& options, const TaskSubject& subject) -> std::unique_ptr<Task> {
        return std::make_unique<Labels>(options, subject);
      }};
}

}  // namespace assay::task
