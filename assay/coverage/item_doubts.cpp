#include "assay/coverage/item_doubts.h"

#include <algorithm>
#include <cmath>

#include <assay/error.h>
#include <assay/evaluate.h>
#include "assay/engine/elements.h"
#include "assay/task/standing.h"

namespace assay::coverage {
namespace {

// Of the classes of an item: a single score says yes, its class 1.
std::vector<float> probabilities_of_item(std::span<const float> scores, bool probabilities) {
  if (scores.size() == 1) {
    const float yes = probabilities ? scores[0] : 1 / (1 + std::exp(-scores[0]));
    return {1 - yes, yes};
  }
  const float greatest = std::ranges::max(scores);
  std::vector<float> shares;
  double sum = 0;
  for (const float score : scores) {
    shares.push_back(std::exp(score - greatest));
    sum += shares.back();
  }
  for (float& share : shares) share = static_cast<float>(share / sum);
  return shares;
}

// 0 where no item counts.
double mean_doubt(const task::ItemRows& rows, const std::function<double(std::span<const float>)>& doubt) {
  const std::vector<float> scores = floats_of(rows.scores);
  const std::size_t items = rows.scores.size(0);
  if (items == 0) return 0;
  double sum = 0;
  for (std::size_t i = 0; i < items; ++i) {
    const std::size_t width = scores.size() / items;
    sum += doubt(probabilities_of_item(std::span(scores).subspan(i * width, width), rows.probabilities));
  }
  return sum / items;
}

}  // namespace

std::vector<double> doubts_of_items(const Session& session, const DatasetPtr& test, const task::Task& task,
                                    const std::function<double(std::span<const float>)>& doubt,
                                    std::size_t batch, Progress& progress) {
  if (task.items_are_numbers())
    fail(Fault::unsupported,
         "the items of task '{}' are numbers, of which there is no doubt; select by coverage",
         task.describe());
  std::vector<double> doubts;
  const ValueId decision = session.logits();
  walk(session, test, {.batch = batch, .stage = "doubts about items"}, progress,
       [&](const Batch& read, const Tensors& given) {
         const Array outputs = session.run(given, std::span(&decision, 1)).at(decision);
         require_rows(session, outputs, read.indices.size());
         for (std::int64_t r = 0; r < outputs.size(0); ++r) {
           Batch one;
           one.indices = {read.indices[r]};
           one.targets = read.targets.narrow(0, r, 1);
           doubts.push_back(mean_doubt(task::rows_of(task, outputs.narrow(0, r, 1), one, *test), doubt));
         }
       });
  return doubts;
}

}  // namespace assay::coverage
