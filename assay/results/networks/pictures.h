#pragma once

// Records as pictures for a result document: heat maps of decisions, and changes of records.

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <assay/dataset.h>
#include <assay/relevance.h>
#include <assay/report.h>
#include <assay/task.h>

namespace assay::results {

// True when a record can be drawn: float32, [channels, height, width].
bool is_picture(const Dataset& data);

// How many random records are drawn, and where the files relevance-INDEX.png go.
struct Drawing {
  std::size_t count = 0;
  std::uint64_t seed = 1;
  std::filesystem::path folder;
};

// Attributes the decisions on random records to their inputs and writes a heat map for each: the record next
// to the relevance of its elements, summed over channels and scaled to its largest absolute value; red speaks
// for the decision, blue against it, white is silent. `task`: of records with many items, of which those
// decided rightly are explained together; null: one decision a record. REQUIRES is_picture().
std::vector<report::Picture> draw_relevance(const Session& session, const Dataset& data,
                                            const std::string& method, relevance::AttributionOptions options,
                                            const Drawing& drawing, const task::Task* task = nullptr);

// Writes FOLDER/decided-INDEX.png for these records: with their items as labelled on the left, as decided on
// the right. They go into the document, with the names of their colours. Records whose items have no place in
// a picture are left out. REQUIRES is_picture(). Throws Error{io}.
void draw_decided(report::Document& document, const Session& session, const DatasetPtr& data,
                  const task::Task& task, std::span<const task::ItemEvaluation::Worst> records,
                  const std::filesystem::path& folder);

struct ChangedRecord {
  std::span<const float> before, after;                 // elements of a record each, as the data set has them
  std::string caption;                                  // "record '7': 2 is taken for 3"
  task::Marks decided_before = {}, decided_after = {};  // drawn over the records
};

// Writes FOLDER/NAME-1.png, NAME-2.png, ... (before, after, difference) and names them for a result document,
// in the order given; the caption is followed by how much the difference is amplified. Values are mapped from
// the valid range of `data`, or from the range of the record before, to black and white. REQUIRES
// is_picture(data). Throws Error{io}.
std::vector<report::Picture> draw_triples(const Dataset& data, std::span<const ChangedRecord> records,
                                          const std::filesystem::path& folder, const std::string& name);

}  // namespace assay::results
