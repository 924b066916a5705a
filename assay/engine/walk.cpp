#include <assay/evaluate.h>

#include <algorithm>
#include <numeric>
#include <span>

#include <assay/dataset.h>
#include "assay/data/given.h"
#include "assay/data/portions.h"
#include "assay/engine/shared_walk.h"
#include "assay/support/files/frames.h"
#include "assay/support/kept_blocks.h"
#include "assay/support/threads.h"

namespace assay::inline engine {
namespace {

// Some for each rank, so that none waits long for the last; not too few batches, which are read ahead.
std::size_t batches_per_piece(std::size_t batches, std::size_t ranks) {
  constexpr std::size_t pieces_per_rank = 16, most = 16;
  return std::clamp<std::size_t>(batches / (pieces_per_rank * ranks), 1, most);
}

std::size_t batch_of(const Session& session, const WalkOptions& options) {
  return options.batch > 0 ? options.batch : session.preferred_batch(options.keeps_values);
}

// Values of large records leave the caches whatever the batch, and memory that is touched for the first time
// takes longer than a batch spares: as many as keep the threads busy. Lanes have to be filled with records.
std::size_t few_if_large(const Session& session, std::size_t batch) {
  constexpr std::size_t usual = 64, fewest = 4;
  const std::size_t enough = std::max(fewest, available_threads());
  if (batch >= usual || batch <= enough) return batch;
  const std::vector<PlannedSegment> plan = session.plan();
  const bool in_lanes = std::ranges::find(plan, "lanes", &PlannedSegment::engine) != plan.end();
  return in_lanes ? batch : enough;
}

// Of these as many as are decoded and run at a time. Pieces of work do not follow from it: they are the same
// in every rank, for any memory and threads of its machine.
std::size_t read_at_once(const Session& session, const Dataset& dataset, std::size_t batch,
                         const WalkOptions& options) {
  return options.batch > 0 ? batch : records_at_once(dataset, few_if_large(session, batch));
}

}  // namespace

void walk(const Session& session, DatasetPtr dataset, const WalkOptions& options, Progress& progress,
          const std::function<void(const Batch&, const Tensors&)>& visit) {
  const std::size_t size = options.records ? options.records->size() : given_data(dataset)->size();
  Stage stage(progress, options.stage, size, "records");
  if (size == 0) return;
  const KeptBlocks kept;  // of one batch for the next
  BatchReader reader(dataset, read_at_once(session, *dataset, batch_of(session, options), options),
                     options.records.value_or(std::vector<std::size_t>()));
  while (const auto batch = reader.next()) {
    visit(*batch, session.bind(*batch));
    stage.advance(batch->indices.size());
  }
}

void walk_pieces(const Session& session, const DatasetPtr& dataset, const WalkOptions& options,
                 Progress& progress, const std::function<std::string(const Batch&, const Tensors&)>& look,
                 const std::function<void(std::string_view)>& take) {
  std::vector<std::size_t> records(options.records ? options.records->size() : given_data(dataset)->size());
  if (options.records)
    records = *options.records;
  else
    std::iota(records.begin(), records.end(), std::size_t{0});
  const std::size_t batch = batch_of(session, options);
  const std::size_t step = batch * batches_per_piece((records.size() + batch - 1) / batch, ranks().size());
  const auto part = [&](std::size_t piece) {
    return std::span(records).subspan(piece * step, std::min(step, records.size() - piece * step));
  };
  Stage stage(progress, options.stage, records.size(), "records");
  const KeptBlocks kept;  // of one batch for the next
  const std::size_t at_once = read_at_once(session, *dataset, batch, options);
  SharedLoop loop(ranks(), (records.size() + step - 1) / step,
                  [&](std::size_t piece, std::string_view bytes) {
                    while (const auto seen = take_text(bytes)) take(*seen);
                    stage.advance(part(piece).size());
                  });
  while (const auto piece = loop.next()) {
    const auto mine = part(*piece);
    BatchReader reader(dataset, at_once, std::vector<std::size_t>(mine.begin(), mine.end()));
    std::string seen;
    while (const auto next = reader.next()) {
      check_interrupt();
      put_text(seen, look(*next, session.bind(*next)));
    }
    loop.give(*piece, std::move(seen));
  }
  loop.finish();
}

}  // namespace assay::inline engine
