#include "assay/relevance/item_target.h"

#include "assay/engine/elements.h"
#include "assay/task/standing.h"

namespace assay::relevance {

Target target_of_items(const task::Task& task, const Array& outputs, std::span<const task::Items> items) {
  const std::vector<float> all = floats_of(outputs);
  const std::size_t width = items.empty() ? 0 : all.size() / items.size();
  Target target;
  for (std::size_t r = 0; r < items.size(); ++r) {
    task::ItemScores scores = task::item_scores(task, std::span(all).subspan(r * width, width), items[r]);
    if (!scores.weights.empty()) target.threshold = scores.threshold;
    target.weights.push_back(std::move(scores.weights));
  }
  return target;
}

}  // namespace assay::relevance
