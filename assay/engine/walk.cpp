#include "assay/engine/evaluate.h"

#include <algorithm>
#include <numeric>

namespace assay {

void walk(const Session& session, DatasetPtr dataset, const WalkOptions& options, Progress& progress,
          const std::function<void(const Batch&, const Tensors&)>& visit) {
  const std::size_t step = options.batch > 0 ? options.batch : session.preferred_batch();
  Stage stage(progress, options.stage, dataset->size(), "records");
  for (std::size_t begin = 0; begin < dataset->size(); begin += step) {
    std::vector<std::size_t> indices(std::min(step, dataset->size() - begin));
    std::iota(indices.begin(), indices.end(), begin);
    const Batch batch = dataset->read(indices);
    visit(batch, session.bind(batch.inputs));
    stage.advance(batch.indices.size());
  }
}

}  // namespace assay
