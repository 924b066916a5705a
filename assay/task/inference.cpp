#include <assay/task.h>

#include <algorithm>

#include <fmt/ranges.h>

#include <assay/error.h>
#include <assay/records.h>
#include "assay/data/files/filling.h"
#include "assay/data/given.h"
#include "assay/data/summary.h"
#include "assay/engine/evaluation/rows.h"
#include "assay/engine/preparation/value_bounds.h"
#include "assay/task/threshold.h"

namespace assay::task {
namespace {

std::unique_ptr<Task> make(const Spec& spec, const TaskSubject& subject) {
  const TaskInfo& info = tasks().find(spec.name);
  return info.make(SpecOptions("task", spec, info.options), subject);
}

// Which labels there are, of pictures of yes and no as they are drawn.
struct Levels {
  bool black = false, white = false, other = false;  // 0, 255, and any other
};

// Ends at the first other one.
Levels levels_of(const DatasetPtr& dataset) {
  constexpr std::size_t batch = 64;
  Levels levels;
  BatchReader reader(dataset, batch);
  while (const std::optional<Batch> read = reader.next()) {
    for (const float label : read->targets.as<float>()) {
      levels.black |= label == 0;
      levels.white |= label == 255;
      levels.other = label != 0 && label != 255;
      if (levels.other) return levels;
    }
  }
  return levels;
}

// Whether 255 is class 1: there are no labels but 0 and 255, in neither data set. Throws Error{usage} where
// all are 255, which may be either, and Error{mismatch} where only one of the two has others.
bool are_black_and_white(const DatasetPtr& dataset, const DatasetPtr& beside) {
  Levels levels = levels_of(dataset);
  if (beside && given_data(beside)->target_width() > 0) {
    const Levels more = levels_of(beside);
    const bool differ = levels.other ? more.white && !more.other : levels.white && more.other;
    if (differ)
      fail(Fault::mismatch,
           "labels of 255 mean class 1 in {} and do not count in {}, by the other labels there; name the "
           "task: "
           "pixels[foreground=255] or pixels[ignore=255]",
           (levels.other ? beside : dataset)->describe(), (levels.other ? dataset : beside)->describe());
    levels = {levels.black || more.black, levels.white || more.white, levels.other || more.other};
  }
  if (levels.other) return false;
  if (levels.white && !levels.black)
    fail(Fault::usage,
         "all labels of {} are 255, which may be class 1 or what does not count; name the task: "
         "pixels[foreground=255] or pixels[ignore=255]",
         dataset->describe());
  return levels.white;
}

bool says_levels(const Spec& spec) {
  return spec.options.contains("ignore") || spec.options.contains("foreground");
}

// Of two classes in pictures. Labels of 255 are class 1 where there is no other than 0.
std::unique_ptr<Task> at_levels_of(const DatasetPtr& dataset, const DatasetPtr& beside, Spec spec,
                                   const TaskSubject& subject) {
  std::unique_ptr<Task> task = make(spec, subject);
  if (spec.name != "pixels" || says_levels(spec) || task->class_names().size() != 2 ||
      !are_black_and_white(dataset, beside))
    return task;
  spec.options["foreground"] = "255";
  return make(spec, subject);
}

// Targets that are integers, one a record, as labels.
DatasetPtr with_labels(const std::string& task, const DatasetPtr& dataset) {
  constexpr std::size_t batch = 1024;
  std::vector<std::int64_t> labels;
  BatchReader reader(dataset, batch);
  while (const std::optional<Batch> read = reader.next()) {
    for (const float target : read->targets.as<float>()) {
      const auto label = static_cast<std::int64_t>(target);
      if (target < 0 || static_cast<float>(label) != target)
        fail(Fault::mismatch, "task '{}': record '{}' has the target {}, which is not the number of a class",
             task, dataset->id(labels.size()), target);
      labels.push_back(label);
    }
  }
  return relabelled(dataset, std::move(labels));
}

// Tasks with one decision a record are not made, so that nothing else reads their options.
void require_options(const Spec& named) {
  const TaskInfo& info = tasks().find(named.name);
  if (!info.make) const SpecOptions checked("task", named, info.options);
}

void require_two_classes(const Dataset& dataset) {
  for (std::size_t i = 0; i < dataset.size(); ++i) {
    if (dataset.label(i) > 1)
      fail(Fault::mismatch, "task 'binary': record '{}' has label {}, which is not 0 or 1", dataset.id(i),
           dataset.label(i));
  }
}

// Names that fit, where an output is neither a single number nor a row of numbers with a target each.
std::vector<std::string> fitting(const TaskSubject& subject) {
  std::vector<std::string> names;
  for (const TaskInfo& info : tasks()) {
    if (info.make && info.fits(subject)) names.push_back(info.name);
  }
  return names;
}

// What a record has of a value.
Shape record_shape(const Session& session, ValueId id) {
  const Session::RecordAxis axis = session.record_axis(id);
  Shape shape = session.shape(id);
  if (axis.axis < 0) return shape;
  shape.erase(shape.begin() + axis.axis);
  if (axis.rows > 1) shape.insert(shape.begin(), axis.rows);
  return shape;
}

bool is_regression(const TaskSubject& subject) {
  return element_count(subject.output) == static_cast<std::int64_t>(subject.targets);
}

// Two levels, 0 and 1 or 255, by a sample; 255 beside 1 marks what does not count.
bool has_levels_of_mask(const Dataset& dataset) {
  const Array sample = sampled_targets(dataset);
  const auto targets = sample.as<float>();
  const auto has = [&](float level) { return std::ranges::find(targets, level) != targets.end(); };
  return has(0) && (has(1) || has(255)) &&
         std::ranges::all_of(targets, [](float t) { return t == 0 || t == 1 || t == 255; });
}

// One number for each pixel of the picture that is given, and two levels to compare with: a mask.
bool is_mask(const TaskSubject& subject, const Dataset& dataset) {
  const Shape &output = subject.output, &input = subject.input;
  if (output.size() != 3 || input.size() != 3 || output[0] != 1 || output[1] < 2 || output[2] < 2)
    return false;
  return output[1] == input[1] && output[2] == input[2] && has_levels_of_mask(dataset);
}

// A number among others of a regression, or the mark of labels that do not count.
[[noreturn]] void refuse_left_out(const Dataset& dataset, const TaskSubject& subject) {
  std::vector<std::string> names = fitting(subject);
  names.emplace_back("regression");
  fail(Fault::usage,
       "{}: some targets are -100 and all others whole numbers from 0, which fits classes of which some do "
       "not count, and numbers as well; name the task: {}{}",
       dataset.describe(), fmt::join(names, ", "),
       names.size() == 1 ? ", where -100 counts as a number, or bring a network that scores classes" : "");
}

}  // namespace

TaskSubject subject_of(const Session& session, const Dataset& dataset) {
  const ValueId decision = session.logits();
  if (session.record_axis(decision).axis < 0 && session.group() != 1)
    fail(Fault::mismatch,
         "network '{}' does not hold its records along an axis of its output. An exporter may have written "
         "the suppression of boxes for one picture into a network of many; export it for one record at a "
         "time, with a fixed batch",
         session.graph().name());
  constexpr double rounding = 1e-6;
  const Bounds bounds = ValueBounds(session.graph()).of(decision);
  TaskSubject subject{
      .output = record_shape(session, decision),
      .targets = dataset.target_width(),
      .probabilities = session.ends_in_sigmoid() || (bounds.low >= -rounding && bounds.high <= 1 + rounding),
      .input = dataset.record_shape(),
      .class_names = dataset.class_names()};
  for (const ValueId id : session.graph().outputs()) {
    const Value& value = session.graph().value(id);
    const Shape shape = session.group() == 1 ? session.shape(id) : record_shape(session, id);
    subject.outputs.push_back({value.name, shape, !is_real(value.dtype)});
  }
  return subject;
}

std::optional<Threshold> threshold_of(const std::string& spec) {
  const Spec named = spec.empty() ? Spec() : parse_spec("task", spec);
  if (named.name != "binary") return std::nullopt;
  const SpecOptions options("task", named, tasks().find(named.name).options);
  static const std::vector<std::string> kinds{"probability", "score"};
  const bool of_score = options.word("of", kinds) == "score";
  if (!options.text("threshold").empty()) return Threshold{options.number("threshold"), of_score};
  if (of_score) fail(Fault::usage, "{}: of=score has no effect without a threshold", options.owner());
  return std::nullopt;
}

DatasetPtr prepared_for(const std::string& spec, const DatasetPtr& dataset) {
  const Spec named = spec.empty() ? Spec() : parse_spec("task", spec);
  const std::string& name = named.name;
  if (!name.empty()) require_options(named);
  if (name == "regression" && given_data(dataset)->target_width() == 0)
    fail(Fault::mismatch,
         "task 'regression' needs targets, and {} has none; give them as floating-point numbers",
         dataset->describe());
  if (name.empty() || !tasks().find(name).record_labels) return given_data(dataset);
  if (!given_data(dataset)->has_labels() && dataset->target_width() != 1)
    fail(Fault::mismatch, "task '{}' needs one label a record, and {} has {}", name, dataset->describe(),
         dataset->target_width() == 0
             ? "none; give labels as y"
             : fmt::format(
                   "{} targets; give one, or name the task of many items (pixels, tokens, labels, ...)",
                   dataset->target_width()));
  DatasetPtr labelled = dataset->has_labels() ? dataset : with_labels(name, dataset);
  if (name == "binary") require_two_classes(*labelled);
  return tasks().find(name).make ? numbered(labelled) : labelled;
}

namespace {

void require_two_scores(const Session& session) {
  const std::size_t classes = class_count(session);
  if (classes == 2) return;
  fail(Fault::mismatch,
       "task 'binary': network '{}' gives {} for a record, and not one score, or one of each of two classes; "
       "name {}",
       session.graph().name(), to_string(record_shape(session, session.logits())),
       classes > 2 ? "task 'classes'" : "the task that fits the output (pixels, labels, ...)");
}

}  // namespace

std::unique_ptr<Task> task_of(const Session& session, const DatasetPtr& dataset, const std::string& spec,
                              const DatasetPtr& beside) {
  const Spec named = spec.empty() ? Spec() : parse_spec("task", spec);
  if (named.name == "binary") require_two_scores(session);
  if (!spec.empty() && !tasks().find(named.name).make) return nullptr;
  if (given_data(dataset)->target_width() == 0) {
    if (spec.empty()) return nullptr;
    fail(Fault::mismatch,
         "task '{}' needs a label for every item, and {} has none; give an array of labels as y, one row a "
         "record{}",
         spec, dataset->describe(),
         dataset->has_labels()
             ? "; in files rows with a single 1 each are read as classes, unless y has a further axis of 1"
             : "");
  }
  const TaskSubject subject = subject_of(session, *dataset);
  if (!spec.empty()) return at_levels_of(dataset, beside, named, subject);
  if (is_regression(subject)) {
    if (subject.targets > 1 && may_leave_out_targets(*dataset)) refuse_left_out(*dataset, subject);
    if (is_mask(subject, *dataset)) return at_levels_of(dataset, beside, {"pixels", {}}, subject);
    const bool labels = subject.targets > 1 && session.ends_in_sigmoid() && has_binary_targets(*dataset);
    return labels ? make({"labels", {}}, subject) : nullptr;
  }
  const std::vector<std::string> names = fitting(subject);
  if (names.empty()) return nullptr;
  if (names.size() > 1)
    fail(Fault::usage,
         "network '{}' gives {} a record for {} targets, which fits several tasks; name one of: {}",
         session.graph().name(), to_string(subject.output), subject.targets, fmt::join(names, ", "));
  return at_levels_of(dataset, beside, {names[0], {}}, subject);
}

std::string inferred_from_labels(const Task& task, const std::string& spec) {
  if (!spec.empty() && says_levels(parse_spec("task", spec))) return {};
  if (task.describe().find("label 255 is class 1") == std::string::npos) return {};
  return "all labels are 0 and 255: 255 is taken as class 1; pixels[ignore=255] leaves it out";
}

}  // namespace assay::task
