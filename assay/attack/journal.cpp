#include "assay/attack/journal.h"

#include "assay/support/error.h"

namespace assay {
namespace {

using nlohmann::json;
using Record = AdversarialSet::Record;

template <typename T>
json column(const std::vector<Record>& records, T Record::* field) {
  std::vector<std::uint64_t> values;
  for (const Record& record : records) values.push_back(static_cast<std::uint64_t>(record.*field));
  return to_binary(values);
}

template <typename T>
void set_column(std::vector<Record>& records, T Record::* field, const json& values) {
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
  AttackedBatch batch{.walked = value.at("walked").get<std::size_t>(), .seconds = value.at("seconds").get<double>(),
                      .endings = value.at("endings").get<std::map<std::string, std::size_t>>(), .records = {}, .inputs = {}};
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

AttackJournal::AttackJournal(std::filesystem::path path, const std::string& job, std::size_t size, std::size_t record_bytes)
    : path_(std::move(path)), size_(size), record_bytes_(record_bytes), file_(path_) {
  if (file_.found().empty()) {
    file_.append({{"schema", "assay/attack-journal"}, {"job", job}});
    return;
  }
  const json& head = file_.found()[0];
  if (!head.is_object() || head.value("schema", "") != "assay/attack-journal") {
    fail(Fault::data, "{}: not the journal of an attack; remove the file to start anew", path_.string());
  }
  if (head.value("job", "") == job) return;
  fail(Fault::mismatch, "{} is the journal of an attack that was interrupted, of another network, data set or options; finish that one, use another folder, or remove the file",
       path_.string());
}

std::vector<AttackedBatch> AttackJournal::found() const {
  std::vector<AttackedBatch> batches;
  std::size_t walked = 0;
  try {
    for (std::size_t i = 1; i < file_.found().size(); ++i) {
      batches.push_back(from_json(file_.found()[i], record_bytes_));
      const std::size_t begin = walked, end = begin + batches.back().walked;
      if (end < begin || end > size_) throw std::runtime_error("it has more records than the data set");
      for (const Record& record : batches.back().records) {
        if (record.original < begin || record.original >= end) throw std::runtime_error("its records are not those of its batches");
      }
      walked = end;
    }
  } catch (const std::exception& error) {
    fail(Fault::data, "{}: the journal cannot be used: {}; remove the file to start anew", path_.string(), error.what());
  }
  return batches;
}

void AttackJournal::append(const AttackedBatch& batch) {
  file_.append(to_json(batch));
  file_.sync();
}

}  // namespace assay
