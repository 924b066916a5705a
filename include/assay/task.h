#pragma once

// Evaluating networks with several decisions a record: a class for every pixel or token, several labels,
// boxes.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <assay/evaluate.h>
#include <assay/extend/task.h>

namespace assay::task {

struct ItemEvaluation {
  std::string task;  // Task::describe()
  std::vector<std::string> class_names;
  Sums sums;
  std::uint64_t uncounted = 0;  // items whose label says that they do not count
  // With intervals from a bootstrap over records (Efron, 1979), resampled in at most 500 groups: items of a
  // record are not independent. None where there are fewer than 10 records.
  std::vector<Figure> figures;
  // (wanted, decided) -> items, where they differ.
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint64_t> confusions;
  struct Worst {
    std::string id;
    std::size_t index = 0;  // in the data
    std::uint64_t items = 0, right = 0;
  };
  std::vector<Worst> worst;    // records with the smallest share of right items, at most 10, none all right
  std::size_t non_finite = 0;  // records with a NaN or an infinity in the output
  std::vector<std::string> non_finite_ids;  // the first few
};

// What a task of this network and these data can be told from. Throws Error{mismatch} where the network does
// not hold its records along an axis of its output, nor runs them one at a time.
TaskSubject subject_of(const Session& session, const Dataset& dataset);

// The same records, as the task that `spec` names needs them: of classes, binary and embedding with
// whole-number targets as labels. Throws Error{mismatch} where labels or targets are not those of the task,
// naming a record.
DatasetPtr prepared_for(const std::string& spec, const DatasetPtr& dataset);

// The task that `spec` names ("pixels[ignore=255]"), or without one the task that network and data have.
// Nothing where that is one decision a record, or where data have no targets. Throws Error{usage} naming the
// choices where several fit, Error{mismatch} where the one that is named does not. `beside`: other records
// that the task is of, such as those of training. Throws Error{mismatch} where labels of 255 mean something
// else there.
std::unique_ptr<Task> task_of(const Session& session, const DatasetPtr& dataset, const std::string& spec = {},
                              const DatasetPtr& beside = nullptr);

// What labels decided that `spec` leaves open, in a sentence: that 255 is class 1. Empty: nothing.
std::string inferred_from_labels(const Task& task, const std::string& spec);

// One pass. `seed`: of the intervals. Throws Error{data} naming a record with labels that are not those of
// the task. O(records * items * classes) beside the network, O(records * classes) memory, and what the task
// keeps of each record.
ItemEvaluation evaluate(const Session& session, const DatasetPtr& dataset, const Task& task,
                        const WalkOptions& options, Progress& progress, std::uint64_t seed = 1);

// Evaluations of all records and of parts of them, from one pass.
struct PartsItemEvaluation {
  ItemEvaluation whole;
  std::vector<ItemEvaluation> parts;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> right_of;  // per record: right items, those that count
};
// `parts`: positions in the data set.
PartsItemEvaluation evaluate_parts(const Session& session, const DatasetPtr& dataset, const Task& task,
                                   const std::vector<std::vector<std::size_t>>& parts,
                                   const WalkOptions& options, Progress& progress, std::uint64_t seed = 1);

// What is decided of single records. Throws as evaluate().
std::vector<Judgement> judgements_of(const Session& session, const DatasetPtr& dataset, const Task& task,
                                     std::span<const std::size_t> records);

// The task, or of one that decides of records by the others the one that decides by these. One pass,
// of `batch` records at a time (0: chosen by the engine).
std::shared_ptr<const Task> settled(const Session& session, const DatasetPtr& dataset,
                                    std::shared_ptr<const Task> task, std::size_t batch, Progress& progress);

// assay::evaluate(), or with a task the share of right items as its accuracy. Throws Error{data} where no
// item counts.
Evaluation evaluate_decisions(const Session& session, const DatasetPtr& dataset, const Task* task,
                              const WalkOptions& options, Progress& progress);

}  // namespace assay::task
