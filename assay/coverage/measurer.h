#pragma once

// Measuring a test set: the records to run, and the notes taken on the way.

#include <chrono>
#include <optional>
#include <span>
#include <vector>

#include <assay/coverage.h>
#include <assay/dataset.h>
#include <assay/evaluate.h>
#include <nlohmann/json.hpp>

#include "assay/coverage/inputs_seen.h"
#include "assay/coverage/item_view.h"
#include "assay/coverage/observer.h"
#include "assay/support/files/journal.h"

namespace assay::coverage {

// Small enough for 32 shards of a test set (more shards leave some empty), and a power of two, which back
// ends cut into equal chunks.
std::size_t batch_for(const Session& session, std::size_t size, const MeasureOptions& options);

// The records that a run has to read.
struct MeasurePlan {
  // Shards are whole batches, so that a record is computed in the same batch, and rounded the same way, in
  // any run.
  MeasurePlan(const Session& session, const CoveragePart& part, const Dataset& test,
              const MeasureOptions& options);

  std::size_t batches() const { return (records.size() + step - 1) / step; }
  std::span<const std::size_t> batch(std::size_t b) const {
    return std::span(records).subspan(b * step, std::min(step, records.size() - b * step));
  }
  // The block of a batch: growth is noted where the next batch is of another.
  std::size_t block(std::size_t b) const {
    return growth_step == 0 ? 0 : (walked + std::min(b * step, records.size())) / growth_step;
  }

  std::size_t step, walked;  // records of a batch; those that were walked before
  std::vector<std::size_t> records;
  std::size_t growth_step = 0;  // records from one point of growth to the next; 0: none is wanted
};

// What is noted of a record's input.
struct RecordNote {
  std::size_t record = 0;
  InputNote note;
};

// Runs records, passes their activations to the criteria of a state, and keeps further facts for the result.
class Measurer {
 public:
  // `state` is that of the journal, if there is one to continue.
  Measurer(const Session& session, CoverageState& state, DatasetPtr test, const MeasureOptions& options,
           Journal* journal, const std::optional<nlohmann::json>& seen_before);

  // Walks some of the records, in whole batches, and keeps notes for part().
  void walk_part(std::span<const std::size_t> records, std::size_t step);

  // Everything from walk_part() and absorb(), for the absorb() of another one.
  nlohmann::json part();

  // Adds such a part, unless it is here already. `scratch`: a temporary state of the same profile and
  // criteria. Throws std::exception for anything that part() did not make.
  void absorb(const nlohmann::json& part, CoverageState& scratch);

  // Adds the records of a later block.
  void take(Measurer& later);

  Observations finish(bool with_growth);

  const RecordRanges& walked() const { return part_.walked; }

  void note_growth();

  Observations run(Progress& progress);

 private:
  // Both give what is noted of the records' inputs.
  std::vector<InputNote> observe(const Batch& batch, const Tensors& given);
  std::vector<InputNote> note_inputs(const Batch& batch);
  void add_inputs(std::span<const InputNote> notes);
  // Records and counts.
  void append(Observations seen);
  void name_records();
  // Each class's rows to its criteria; whole batches where nothing has to be picked out.
  void hand_out(const ActivationBatch& whole, const std::vector<bool>& usable);
  void give(std::vector<std::unique_ptr<Criterion>>& criteria, const ActivationBatch& batch);
  void count_records(const ActivationBatch& whole, const std::vector<bool>& usable);
  void hand_out_items(const Batch& batch, const Observer::Seen& seen, const std::vector<bool>& usable);
  void remember(const Batch& batch, const std::vector<std::int64_t>& predicted, const Array& logits);
  void prepare_items();
  void prepare_histograms();
  void add_to_histograms(const ActivationBatch& batch);

  const Session& session_;
  CoverageState& state_;
  DatasetPtr test_;
  const MeasureOptions& options_;
  Journal* journal_;  // null: none
  CoveragePart& part_;
  std::size_t threads_;
  Observer observer_;
  std::optional<ItemView> items_;  // nothing: records
  bool classifies_ = true;
  std::chrono::steady_clock::time_point last_written_;
  std::size_t growth_step_ = 0;
  Observations seen_;
  std::vector<RecordNote> notes_;  // of walk_part() and absorb()
};

}  // namespace assay::coverage
