#include "assay/relevance/quality/subsets.h"

#include <algorithm>
#include <cmath>

#include <assay/error.h>
#include <assay/extend/random.h>

namespace assay::relevance {

SubsetOptions::SubsetOptions(const SpecOptions& options)
    : share_(options.number("share", 0)),
      samples_(options.count("samples", 2)),
      seed_(options.count("seed", 0)) {
  if (share_ > 1) fail(Fault::usage, "{}: share={} is above 1", options.owner(), share_);
}

std::vector<SpecOption> SubsetOptions::declared() {
  return {{"share", "0.2", "of the positions in a subset, one at least"},
          {"samples", "100", "subsets"},
          {"seed", "1", "of the subsets"}};
}

Subsets SubsetOptions::subsets_of(const ExplainedBatch& batch) const {
  const std::size_t positions = batch.positions(), records = batch.relevance().size();
  const std::size_t wanted = std::lround(share_ * positions);
  const std::size_t size = std::clamp<std::size_t>(wanted, 1, positions);
  const std::vector<double> whole = batch.scores({std::vector<bool>(positions, true)});
  Subsets found{ExplainedBatch::Rows(records), ExplainedBatch::Rows(records)};
  for (std::size_t sample = 0; sample < samples_; ++sample) {
    const std::vector<std::size_t> subset = Rng(seed_, {sample}).sample(positions, size);
    std::vector<bool> kept(positions, true);
    for (const std::size_t position : subset) kept[position] = false;
    const std::vector<double> without = batch.scores({kept});
    for (std::size_t r = 0; r < records; ++r) {
      double sum = 0;
      for (const std::size_t position : subset) sum += batch.relevance()[r][position];
      found.relevance[r].push_back(sum);
      found.loss[r].push_back(whole[r] - without[r]);
    }
  }
  return found;
}

QualityValues SubsetQuality::of(const ExplainedBatch& batch) const {
  const Subsets subsets = options_.subsets_of(batch);
  QualityValues found;
  for (std::size_t r = 0; r < subsets.loss.size(); ++r)
    found.values.push_back(judge_(subsets.relevance[r], subsets.loss[r]));
  return found;
}

}  // namespace assay::relevance
