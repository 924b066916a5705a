// Numbers with a target each. Without options <assay/evaluate.h> measures them; with a tolerance each is
// right or wrong.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include <assay/array_math.h>
#include <assay/error.h>
#include <assay/evaluate.h>
#include "assay/engine/elements.h"
#include "assay/support/text/parse.h"
#include "assay/support/text/so_many.h"
#include "assay/task/counts.h"
#include "assay/task/positions.h"

namespace assay::task {
namespace {

// What a number may differ from its target: 0.1, or 5% of the target.
struct Tolerance {
  double value = 0;
  bool relative = false;
  double of(double target) const { return relative ? value * std::abs(target) : value; }
  std::string text() const {
    constexpr double percent = 100;
    return relative ? fmt::format("{:g} % of the target", value * percent) : fmt::format("{:g}", value);
  }
};

Tolerance tolerance_of(const SpecOptions& options) {
  std::string text = options.text("tolerance");
  const bool relative = text.ends_with('%');
  if (relative) text.pop_back();
  const auto value = number_of<double>(text);
  if (!value || *value < 0)
    fail(Fault::usage, "{}: tolerance={} is not a number such as 0.1, or a share of the target such as 5%",
         options.owner(), options.text("tolerance"));
  constexpr double percent = 100;
  return {relative ? *value / percent : *value, relative};
}

class Regression final : public Task {
 public:
  Regression(const SpecOptions& options, const TaskSubject& subject)
      : count_(subject.targets), tolerance_(tolerance_of(options)) {
    if (!options.text("wrap").empty()) wrap_ = options.number("wrap");
    if (wrap_ && !(*wrap_ > 0)) fail(Fault::usage, "{}: wrap={:g} is not above 0", options.owner(), *wrap_);
    names_ = names_of_classes(options, count_);
  }

  std::string describe() const override {
    std::string text =
        fmt::format("regression: {}, right within {}", so_many(count_, "target"), tolerance_.text());
    if (wrap_) text += fmt::format(", {:g} is 0 again", *wrap_);
    return text;
  }
  std::vector<std::string> class_names() const override { return names_; }
  bool items_are_labels() const override { return true; }

  Judgement judge(const JudgedRecord& record) const override {
    Judgement result{.wanted = std::vector<std::int64_t>(count_, 1),
                     .places = {record.targets.begin(), record.targets.end()},
                     .sums = {.items = count_,
                              .classes = std::vector<Counts>(count_),
                              .amounts = std::vector<double>(amounts * count_)}};
    for (std::size_t k = 0; k < count_; ++k) {
      const double target = record.targets[k], error = std::abs(difference(record.output[k], target));
      const bool right = error <= tolerance_.of(target);
      result.decided.push_back(std::isnan(error) ? no_class : right ? 1 : 0);
      result.sums.right += right ? 1 : 0;
      result.sums.classes[k] = {.matched = right ? 1U : 0U, .decided = 1, .wanted = 1};
      if (!std::isfinite(error)) continue;
      result.sums.amounts[amounts * k] = 1;
      result.sums.amounts[amounts * k + 1] = error;
      result.sums.amounts[amounts * k + 2] = error * error;
    }
    count_record(result.sums);
    return result;
  }

  // Each number, which another output may differ from by the tolerance.
  Items decide(std::span<const float> output) const override {
    Items items{.places = {output.begin(), output.end()}};
    for (const float number : output) items.classes.push_back(std::isnan(number) ? no_class : 1);
    return items;
  }

  // What is left of the tolerance.
  std::vector<Lead> leads(std::span<const float> output, const Items& items) const override {
    std::vector<Lead> leads(items.classes.size());
    for (std::size_t k = 0; k < leads.size(); ++k) {
      const double target = items.places[k], allowed = tolerance_.of(target),
                   error = difference(output[k], target);
      (error < 0 ? leads[k].own : leads[k].rival) = k;
      leads[k].value = static_cast<float>(allowed - std::abs(error));
      leads[k].scale = std::max(std::abs(output[k]), std::abs(items.places[k]));
      leads[k].holds = std::abs(error) <= allowed;
    }
    return leads;
  }

  // The numbers themselves.
  void explain(std::span<const float> /*output*/, const Lead& lead, std::span<float> weights) const override {
    weights[std::max(lead.own, lead.rival)] += 1;
  }

  bool items_are_numbers() const override { return true; }

  ItemRows rows(const Array& outputs, const Array& targets) const override {
    const Array numbers = outputs.reshape({-1, 1});
    std::vector<float> wanted = floats_of(targets);
    const std::vector<float> now = floats_of(numbers.detach());
    for (std::size_t i = 0; i < wanted.size() && wrap_; ++i)
      wanted[i] = now[i] - static_cast<float>(difference(now[i], wanted[i]));
    return {.scores = numbers, .labels = {}, .numbers = array::tensor(wanted).reshape({-1, 1})};
  }

  std::vector<Figure> figures(const Sums& sums) const override {
    std::vector<Figure> all = {
        {.name = "within-tolerance", .value = share(sums.right, sums.items).value_or(0)},
        {.name = "records-within-tolerance", .value = share(sums.whole, sums.records).value_or(0)}};
    add_error(all, "mean-absolute-error", sums, 1);
    add_error(all, "mean-squared-error", sums, 2);
    add_by_class(all, "within-tolerance", sums, recall);
    return all;
  }

 private:
  static constexpr std::size_t amounts = 3;  // of a target: finite errors, their sum, that of their squares

  // The way round that is shorter.
  double difference(double number, double target) const {
    return wrap_ ? std::remainder(number - target, *wrap_) : number - target;
  }

  void add_error(std::vector<Figure>& all, const std::string& name, const Sums& sums,
                 std::size_t which) const {
    double records = 0, error = 0;
    std::vector<Figure> by_target;
    for (std::size_t k = 0; k < count_ && amounts * (k + 1) <= sums.amounts.size(); ++k) {
      const double here = sums.amounts[amounts * k];
      if (here == 0) continue;
      const double sum = sums.amounts[amounts * k + which];
      records += here;
      error += sum;
      by_target.push_back(figure(name, sum / here));
      by_target.back().of_class = k;
    }
    if (records == 0) return;
    all.push_back(figure(name, error / records));
    all.insert(all.end(), by_target.begin(), by_target.end());
  }

  static Figure figure(const std::string& name, double value) {
    return {.name = name, .value = value, .higher_is_better = false, .is_share = false};
  }

  std::size_t count_;
  Tolerance tolerance_;
  std::optional<double> wrap_;
  std::vector<std::string> names_;
};

}  // namespace

namespace {

void require_one_number_a_target(const SpecOptions& options, const TaskSubject& subject) {
  if (subject.targets > 0 && element_count(subject.output) == static_cast<std::int64_t>(subject.targets))
    return;
  fail(Fault::mismatch,
       "{}: the network gives {} a record, which is not one number for each of {} targets; "
       "give as many targets, in the order of the output",
       options.owner(), to_string(subject.output), subject.targets);
}

}  // namespace

TaskInfo regression_task() {
  return {
      .name = "regression",
      .summary = "numbers with a target each",
      .definition =
          "mean squared error over records and targets; by target the mean squared, mean absolute and "
          "greatest error. With a tolerance: within-tolerance, the share of numbers that differ from their "
          "target by at most that, over all records and by target; records-within-tolerance, records all of "
          "whose numbers do",
      .limits = "as many outputs as targets",
      .paper = "Gauss, 1809, for the mean of squares",
      .options =
          {{"tolerance", "",
            "greatest difference of a number that is right: 0.1, or 5% of its target; empty: errors only"},
           {"wrap", "", "number that is 0 again, such as 360 of degrees; needs a tolerance"},
           {"names", "", "names of the targets, joined by +; empty: their numbers"}},
      .fits = [](const TaskSubject&) { return false; },
      .make = [](const SpecOptions& options, const TaskSubject& subject) -> std::unique_ptr<Task> {
        require_one_number_a_target(options, subject);
        if (!options.text("tolerance").empty()) return std::make_unique<Regression>(options, subject);
        for (const char* const other : {"wrap", "names"}) {
          if (!options.text(other).empty())
            fail(Fault::usage, "{}: {}= needs a tolerance=", options.owner(), other);
        }
        return nullptr;
      }};
}

}  // namespace assay::task
