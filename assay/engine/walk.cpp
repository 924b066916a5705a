#include "assay/engine/evaluate.h"

namespace assay {

void walk(const Session& session, DatasetPtr dataset, const WalkOptions& options, Progress& progress,
          const std::function<void(const Batch&, const Tensors&)>& visit) {
  Stage stage(progress, options.stage, dataset->size(), "records");
  if (dataset->size() == 0) return;
  BatchReader reader(dataset, options.batch > 0 ? options.batch : session.preferred_batch());
  while (const auto batch = reader.next()) {
    visit(*batch, session.bind(batch->inputs));
    stage.advance(batch->indices.size());
  }
}

}  // namespace assay
