#include <assay/evaluate.h>

#include <assay/dataset.h>

namespace assay {

void walk(const Session& session, DatasetPtr dataset, const WalkOptions& options, Progress& progress,
          const std::function<void(const Batch&, const Tensors&)>& visit) {
  const std::size_t size = options.records ? options.records->size() : dataset->size();
  Stage stage(progress, options.stage, size, "records");
  if (size == 0) return;
  BatchReader reader(dataset, options.batch > 0 ? options.batch : session.preferred_batch(),
                     options.records.value_or(std::vector<std::size_t>()));
  while (const auto batch = reader.next()) {
    visit(*batch, session.bind(*batch));
    stage.advance(batch->indices.size());
  }
}

}  // namespace assay
