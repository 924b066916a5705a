#pragma once

// What the output of a network means to a question: the task that is named, or the one that network and data
// have.

#include <memory>
#include <optional>
#include <string>

#include <assay/coverage.h>
#include <assay/report.h>
#include <assay/task.h>
#include "assay/answers/accuracy.h"
#include "assay/answers/setting.h"

namespace assay::answers {

// Data as the task needs them, and the task where records have many items (null: one decision a record).
struct Decided {
  DatasetPtr data;
  std::shared_ptr<const task::Task> task;
  std::string inferred = {};  // task::inferred_from_labels()
};

// Whether records may have items by the task that is named, whatever the data hold.
bool may_have_items(const std::string& spec);

// What an analysis needs of a task: that it judges records, or also the scores of items (Task::leads()).
enum class Need { judgement, scores };

// `spec`: of a task; empty: the one that output and labels fit. Throws as task::task_of(), and Error{usage}
// for an accuracy that is declared of items. `batch`: of records at a time, where a task decides of records
// by the others; 0: chosen by the engine. `beside`: other records that the task is of.
Decided decided(const std::string& spec, const Session& session, const DatasetPtr& data,
                const DeclaredAccuracy& accuracy, std::size_t batch, Need need = Need::scores,
                const DatasetPtr& beside = nullptr);

// Items in place of records: so many of each, or "all"; nothing for an empty text. Throws Error{usage} for
// another text, and where records have no items.
std::optional<coverage::ItemChoice> chosen_items(const std::string& text, const Decided& decided,
                                                 const Setting& setting);

// The layers that are asked for. Where none is and a task reads several numbers of an item, of which not all
// say what is decided (corners of boxes): the penultimate layer of those that the first records show to have
// relevance, with a notice; else none. `batch`: of records at a time; 0: chosen by the engine.
std::vector<std::string> layers_for(const std::vector<std::string>& asked, const Session& session,
                                    const Decided& decided, std::size_t batch, Progress& progress);

// Throws Error{usage} for a share of items that is not in [0, 1).
void require_share(const std::optional<double>& margin, const Decided& decided);

// Says in a document what decides, and with a share when a record counts as changed.
void add_task(report::Document& document, const Decided& decided, std::optional<double> share = {});

}  // namespace assay::answers
