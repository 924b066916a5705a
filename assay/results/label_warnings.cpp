#include "assay/results/label_warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "assay/data/files/filling.h"
#include "assay/data/summary.h"
#include "assay/engine/evaluation/accuracy_check.h"
#include "assay/results/document.h"
#include "assay/results/warnings.h"
#include "assay/support/text/so_many.h"
#include "assay/support/text/text.h"

namespace assay::results {
namespace {

using report::Warning;

// A network with one output that is not a probability.
bool gives_one_number(const Session& session) {
  const Shape& output = session.shape(session.logits());
  const std::int64_t rows = output.empty() ? 1 : std::max<std::int64_t>(1, output[0]);
  return element_count(output) == rows && !session.ends_in_sigmoid();
}

// Whether the labels, where there are any, are of several classes.
bool has_several_labels(const Dataset& data) {
  if (!data.has_labels()) return true;
  for (std::size_t i = 1; i < data.size(); ++i)
    if (data.label(i) != data.label(0)) return true;
  return false;
}

}  // namespace

std::string first_of(const std::vector<std::string>& names) {
  constexpr std::size_t shown = 5;
  if (names.size() <= shown) return joined(names);
  return fmt::format("{} and {} more", joined({names.begin(), names.begin() + shown}), names.size() - shown);
}

std::vector<Warning> answer_warnings(std::span<const std::int64_t> answers, const Dataset& data) {
  constexpr std::size_t least = 10;  // records that might agree by chance
  if (answers.size() < least || answers[0] == no_class || !has_several_labels(data) ||
      std::ranges::count(answers, answers[0]) < std::ssize(answers))
    return {};
  return {{"one-answer",
           fmt::format("all {} records get the same answer, class {}", answers.size(),
                       class_name(data.class_names(), answers[0])),
           "the inputs have another scale than those of training, or the network has not been trained, or "
           "gives the most frequent class"}};
}

std::vector<Warning> absent_class_warnings(const Dataset& data, std::size_t classes) {
  if (!data.has_labels()) return {};
  std::vector<char> seen(std::max(classes, data.class_count()));
  for (std::size_t i = 0; i < data.size(); ++i) seen[data.label(i)] = 1;
  std::vector<std::string> absent;
  for (std::size_t c = 0; c < seen.size(); ++c) {
    if (seen[c] == 0) absent.push_back(class_name(data.class_names(), c));
  }
  if (absent.empty()) return {};
  return {{"absent-classes",
           fmt::format("{} of {} classes without a record: {}", absent.size(), seen.size(), first_of(absent)),
           "figures say nothing about these classes; a set that was cut from ordered records, or labels of "
           "another numbering"}};
}

bool is_low(double accuracy, std::size_t classes) {
  return classes > 1 && accuracy < (1 + 1 / static_cast<double>(classes)) / 2;
}

std::vector<Warning> training_accuracy_warnings(double accuracy, std::size_t classes,
                                                const std::string& cause) {
  if (!is_low(accuracy, classes)) return {};
  return {
      {"training-accuracy",
       fmt::format("the network classifies {} of the training records correctly", report::percent(accuracy)),
       cause}};
}

std::vector<Warning> cause_warnings(const Session& session, const Dataset& data,
                                    const std::optional<double>& accuracy) {
  constexpr std::size_t most = 200;
  if (accuracy && data.has_labels() && is_low(*accuracy, class_count(session))) {
    if (const auto cause = likely_cause(session, data, {.expected = 1}, most))
      return {{cause->of_labels ? "class-order" : "preparation",
               fmt::format("of {} {} are classified correctly, and {} after one change: {}",
                           so_many(cause->records, "record"), report::percent(cause->now),
                           report::percent(cause->then), cause->remedy),
               cause->of_labels ? "labels or class folders are not numbered as when the network was trained"
                                : "the records are not prepared as when the network was trained"}};
    return {};
  }
  const auto cause = divided_by_255(session, data, most);
  if (!cause) return {};
  const std::string what =
      data.has_labels()
          ? fmt::format("classifies {} of {} correctly, and {} of the same", report::percent(cause->now),
                        so_many(cause->records, "record"), report::percent(cause->then))
          : fmt::format("gives {} of {} the same answer when they are", report::percent(cause->then),
                        so_many(cause->records, "record"));
  return {{"preparation", fmt::format("inputs reach 255, and the network {} divided by 255", what),
           "the network was trained on inputs from 0 to 1 (scale=1/255), so activations are 255 times as "
           "large as they should be, whatever the accuracy"}};
}

std::vector<Warning> task_warnings(const Session& session, const Dataset& data) {
  if (data.target_width() > 0 && !data.has_labels() && has_binary_targets(data))
    return {{"binary-targets", "all targets are 0 or 1, and errors are measured as for a regression",
             data.target_width() == 1
                 ? "labels of two classes in floating-point numbers, which `--task binary` of `assay "
                   "evaluate` reads as classes; whole numbers are always read as classes"
                 : "labels of several classes at a time, which `--task labels` of `assay evaluate` measures, "
                   "or one-hot rows that are not"}};
  if (data.target_width() > 1 && !data.has_labels() && may_leave_out_targets(data))
    return {{"left-out-targets",
             "some targets are -100 and all others whole numbers from 0, and errors are measured with -100 "
             "as a number",
             "labels of steps that are filled up (lengths=, mask=, `assay.sequences`), which a task of "
             "classes leaves out and a regression cannot"}};
  if (data.has_labels() && data.class_count() > 2 && gives_one_number(session))
    return {{"numbers-as-classes",
             fmt::format("the labels are whole numbers up to {}, and the network gives one number a record: "
                         "it is measured as a classifier of two classes",
                         data.class_count() - 1),
             "targets of a regression in whole numbers; floating-point numbers, or target=, make targets of "
             "them"}};
  return {};
}

std::vector<Warning> class_name_warnings(const std::vector<std::string>& training, const Dataset& data) {
  const std::vector<std::string>& names = data.class_names();
  const std::size_t both = std::min(training.size(), names.size());
  std::vector<std::string> other;
  for (std::size_t c = 0; c < both; ++c) {
    if (training[c] != names[c])
      other.push_back(fmt::format("{} is '{}' and '{}'", c, training[c], names[c]));
  }
  if (other.empty()) return {};
  return {{"class-names",
           fmt::format("classes have other names in the training set than here: {}", first_of(other)),
           "a class folder is missing or renamed, so that those after it have another number"}};
}

std::vector<Warning> text_label_warnings(const Dataset& data) {
  if (data.has_labels() || data.target_width() > 0 ||
      data.describe().find("passed over as labels") == std::string::npos)
    return {};
  return {{"text-labels",
           fmt::format("{}: there are no labels, because texts are not read as labels", data.describe()),
           "labels in words; number them as the network does and store the numbers"}};
}

void add_numbering_notice(report::Document& document, const Dataset& data) {
  if (!data.has_labels() || data.target_width() > 0 ||
      data.describe().find("labels numbered in alphabetical order") == std::string::npos)
    return;
  std::vector<std::string> numbered;
  for (std::size_t c = 0; c < data.class_count(); ++c)
    numbered.push_back(fmt::format("{} is '{}'", c, data.class_names()[c]));
  const Message notice(
      fmt::format("labels in words are numbered in alphabetical order: {}; where the network has another "
                  "order, give its numbers as labels",
                  first_of(numbered)));
  if (std::ranges::find(document.notices, notice) == document.notices.end())
    document.notices.push_back(notice);
}

std::vector<Warning> evaluation_warnings(const Session& session, const Dataset& data,
                                         const Evaluation& evaluation, bool items) {
  std::vector<Warning> warnings = class_warnings(session, data);
  if (!items) add(warnings, task_warnings(session, data));
  add(warnings, text_label_warnings(data));
  add(warnings, absent_class_warnings(data, class_count(session)));
  add(warnings, answer_warnings(evaluation.predictions, data));
  if (evaluation.accuracy) add(warnings, accuracy_warnings(*evaluation.accuracy, class_count(session)));
  add(warnings, cause_warnings(session, data, evaluation.accuracy));
  return warnings;
}

}  // namespace assay::results
