#include "assay/attack/attacked_batch.h"

#include <assay/error.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <stdexcept>

#include <assay/dataset.h>
#include <assay/extend/task.h>
#include "assay/attack/changes.h"
#include "assay/support/conditions.h"
#include "assay/support/files/binary.h"

namespace assay::attack {
namespace {

using nlohmann::json;
using Record = AdversarialSet::Record;

template <typename T>
json column(const std::vector<Record>& records, T Record::*field) {
  std::vector<std::uint64_t> values;
  for (const Record& record : records) values.push_back(record.*field);
  return to_binary(values);
}

template <typename T>
void set_column(std::vector<Record>& records, T Record::*field, const json& values) {
  const auto column = from_binary<std::uint64_t>(values, records.size());
  for (std::size_t i = 0; i < records.size(); ++i) records[i].*field = static_cast<T>(column[i]);
}

json to_json(const AttackedBatch& batch) {
  return {{"walked", batch.walked},
          {"seconds", batch.seconds},
          {"endings", batch.endings},
          {"original", column(batch.records, &Record::original)},
          {"predicted", column(batch.records, &Record::predicted)},
          {"success", column(batch.records, &Record::success)},
          {"forward", column(batch.records, &Record::forward)},
          {"backward", column(batch.records, &Record::backward)},
          {"inputs", to_binary(batch.inputs)}};
}

// Throws std::exception for what to_json() did not write.
AttackedBatch from_json(const json& value, std::size_t record_bytes) {
  AttackedBatch batch{.walked = value.at("walked").get<std::size_t>(),
                      .seconds = value.at("seconds").get<double>(),
                      .endings = value.at("endings").get<std::map<std::string, std::size_t>>(),
                      .records = {},
                      .inputs = {}};
  batch.records.resize(from_binary<std::uint64_t>(value.at("original")).size());
  set_column(batch.records, &Record::original, value.at("original"));
  set_column(batch.records, &Record::predicted, value.at("predicted"));
  set_column(batch.records, &Record::success, value.at("success"));
  set_column(batch.records, &Record::forward, value.at("forward"));
  set_column(batch.records, &Record::backward, value.at("backward"));
  batch.inputs = from_binary<std::byte>(value.at("inputs"), batch.records.size() * record_bytes);
  return batch;
}

}  // namespace

JournalKey journal_key(const Session& session, const Dataset& dataset, const Spec& spec,
                       const AttackOptions& options) {
  return JournalKey("attack")
      .add("network", session.graph().hash())
      .add("data set", dataset.hash())
      .add("attack", spec.text())
      .add("seed", options.seed)
      .add("choice of records", options.all ? "all" : "correct")
      .add("left out", fmt::format("{}", fmt::join(options.left_out, ",")))
      .add("storage", options.levels ? "levels" : "float32")
      .add("margin", options.margin)
      .add("goal", options.task ? goal_in_words(options, *options.task) : "")
      .add("task", options.task ? options.task->describe() : "");
}

std::string to_bytes(const AttackedBatch& batch) { return assay::to_bytes(to_json(batch)); }

AttackedBatch batch_from(std::string_view bytes, std::size_t record_bytes) {
  return from_json(from_bytes(bytes), record_bytes);
}

std::vector<AttackedBatch> batches_of(const Journal& journal, std::span<const std::size_t> candidates,
                                      std::size_t record_bytes) {
  std::vector<AttackedBatch> batches;
  std::size_t walked = 0;
  try {
    for (const Journal::Entry& entry : journal.found()) {
      batches.push_back(batch_from(entry.bytes, record_bytes));
      const std::size_t begin = walked, end = begin + batches.back().walked;
      if (end < begin || end > candidates.size())
        throw std::runtime_error("it has more records than the data set");
      for (const Record& record : batches.back().records) {
        if (!std::ranges::binary_search(candidates.subspan(begin, end - begin), record.original))
          throw std::runtime_error("its records are not those of its batches");
      }
      walked = end;
    }
  } catch (const std::exception& error) {
    pass_on_condition();
    journal.refuse(error.what());
  }
  return batches;
}

}  // namespace assay::attack
