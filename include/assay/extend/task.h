#pragma once

// What the output of a network means where a record has many decisions: which items a record has (pixels,
// tokens, labels, boxes), what is decided of each, and when that is right. The catalogue of such tasks
// (docs/tasks.md).

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <assay/array.h>
#include <assay/extend/catalogue.h>
#include <assay/extend/judgement.h>
#include <assay/extend/spec.h>

namespace assay::task {

// How far the class of an item is ahead of the strongest other one, and which numbers of the output say so
// (what these are is a matter of tasks that have a differentiate() of their own).
struct Lead {
  static constexpr std::int64_t none = -1;  // the threshold is compared in place of a number of the output
  std::int64_t own = none, rival = none;
  float threshold = 0;
  float value = 0;     // score of the class less that of the rival; NaN where a score of the item is
  float scale = 0;     // the greater magnitude of both
  bool holds = false;  // whether the item is decided to be of the class
};

// Items as rows of scores, as losses take records.
struct ItemRows {
  Array scores;  // [items, classes], of which the softmax are probabilities, or [items, 1] for yes or no
  Array labels;  // int64 [items]
  Array numbers = {};          // of items that are numbers, in place of labels: [items, 1]
  bool probabilities = false;  // of one score: it is a probability itself
};

// Immutable; called by several threads at a time.
class Task {
 public:
  static constexpr const char* kind = "task";
  virtual ~Task() = default;
  // One line for people, with everything that was inferred: "pixels: 3 classes along axis 1, 64 positions".
  virtual std::string describe() const = 0;
  // Names of the classes that items have.
  virtual std::vector<std::string> class_names() const = 0;
  // Throws Error{data} for targets that are not labels of the task; the caller names the record.
  virtual Judgement judge(const JudgedRecord& record) const = 0;
  // The items of one output with what is decided of each, as judge() says. Throws as leads().
  virtual Items decide(std::span<const float> output) const;
  // Leads of items, which decide() or judge() found in this output or in another one of the same record;
  // those of items of no_class are unspecified. Attacks, mutants and relevance start from them. Throws
  // Error{unsupported} if no numbers of the output say how sure the network is of an item.
  virtual std::vector<Lead> leads(std::span<const float> output, const Items& items) const;
  // Leads of all that could be items of the class and were not `before`, what decide() found in the output of
  // the unchanged record. Throws Error{unsupported} if such items have no place.
  virtual std::vector<Lead> appearing(std::span<const float> output, std::int64_t of_class,
                                      const Items& before) const;
  // Adds `weight` times how the value of a lead of this output changes with each number of it.
  virtual void differentiate(std::span<const float> output, const Lead& lead, float weight,
                             std::span<float> gradients) const;
  // Adds the weights with which numbers of the output make up the score of the item that explanations start
  // from: 1 for the score of its class; where one score says yes or no a half, below 0 for no.
  virtual void explain(std::span<const float> output, const Lead& lead, std::span<float> weights) const;
  // The items that count of `outputs` [records, ...], whose gradients are those of the rows; `targets`:
  // [records, n]. Throws as judge() and leads().
  virtual ItemRows rows(const Array& outputs, const Array& targets) const;
  // Items as they are drawn over a picture. Nothing where they have no place in it.
  virtual Marks marks(const Items&) const { return {}; }
  // Where items lie in the record, so that layers that keep positions are looked at there.
  virtual Positions positions(const Items&) const { return {}; }
  // In the order in which they are reported, the first ones in the headline. Called for resampled sums as
  // well.
  virtual std::vector<Figure> figures(const Sums& sums) const = 0;
  // Whether items are labels, yes or no (class 1 or 0): item i of every record is label i, and Sums::classes
  // counts labels.
  virtual bool items_are_labels() const { return false; }
  // Whether items are numbers, near their targets or not.
  virtual bool items_are_numbers() const { return false; }
  // Names of the network's outputs that the task reads, in the order of JudgedRecord. None: the decision
  // value.
  virtual std::vector<std::string> outputs() const { return {}; }
  // Names of the figures that only overall() has.
  virtual std::vector<std::string> overall_figures() const { return {}; }
  // Whether a record is decided by the others: Overall::judgement() does, and settled() gives a task that
  // decides of each record by those that judge() kept.
  virtual bool needs_all_records() const { return false; }
  virtual std::shared_ptr<const Task> settled(std::span<const std::vector<float>>) const { return nullptr; }
  // Of what judge() kept of each record, in the order of the data. Null: figures() has all there are.
  virtual std::unique_ptr<Overall> overall(std::vector<std::vector<float>>) const { return nullptr; }
};

// One output of the network.
struct TaskOutput {
  std::string name;
  // Without the batch axis, but where the network runs one record at a time; sizes that depend on what is in
  // a record are those of some record.
  Shape shape = {};
  bool whole = false;  // whole numbers
};

// Facts known before a record is read.
struct TaskSubject {
  Shape output = {};                          // of a record's decision value, without the batch axis
  std::size_t targets = 0;                    // of a record
  bool probabilities = false;                 // whether all scores are in [0, 1]
  Shape input = {};                           // of a record
  std::vector<TaskOutput> outputs = {};       // all of them
  std::vector<std::string> class_names = {};  // as the data have them
};

struct TaskInfo {
  std::string name, summary;  // "pixels", one line
  std::string definition, limits, paper;
  std::vector<SpecOption> options;
  // Whether output and targets have the shapes of this task, as its options say. Not every task that fits is
  // meant: where several do, users choose.
  std::function<bool(const TaskSubject&)> fits = {};
  // Throws Error{mismatch} for a subject that does not fit, saying what would. Empty, or null: there is one
  // decision a record, which <assay/evaluate.h> measures.
  std::function<std::unique_ptr<Task>(const SpecOptions&, const TaskSubject&)> make = {};
  bool record_labels = false;  // the targets of a record are its class, one number
};

// classes, binary, regression; pixels, tokens, labels, boxes, text, embedding.
Catalogue<TaskInfo>& tasks();

}  // namespace assay::task
