#include "assay/explore/description.h"

#include <algorithm>
#include <cmath>

#include "assay/engine/elements.h"
#include "assay/explore/disagreement.h"
#include "assay/support/files/hash.h"

namespace assay::explore {
namespace {

ItemDecisions item_decisions(const RecordItems& items) {
  std::vector<std::int64_t> decided;
  for (const task::Items& own : items.decided)
    decided.insert(decided.end(), own.classes.begin(), own.classes.end());
  return {hash_128(decided.data(), decided.size() * sizeof(std::int64_t)), items.differing};
}

}  // namespace

void describe(std::span<Finding> findings, const Array& points, const Array& seeds,
              const std::vector<const attack::AttackedNetwork*>& networks,
              const DisagreementOptions& options) {
  std::vector<Array> scores;
  for (const attack::AttackedNetwork* network : networks) {
    const Array outputs = network->outputs(network->bind(points));
    scores.push_back(network->regression() ? outputs : network->scores_of({}, outputs));
  }
  const Answers answers = compare(scores, options);
  const std::vector<float> after = floats_of(points), before = floats_of(seeds);
  const std::size_t width = after.size() / std::max<std::size_t>(1, findings.size());
  for (std::size_t i = 0; i < findings.size(); ++i) {
    Finding& finding = findings[i];
    if (!answers.items.empty()) finding.items = item_decisions(answers.items[i]);
    for (std::size_t k = 0; k < answers.networks && !finding.items; ++k) {
      const auto own = answers.outputs_of(k, i);
      finding.outputs.emplace_back(own.begin(), own.end());
      if (!answers.classes.empty()) finding.classes.push_back(answers.class_of(k, i));
    }
    finding.majority = majority(answers, i);
    if (answers.classes.empty()) finding.median = median(answers, i);
    for (std::size_t e = i * width; e < (i + 1) * width; ++e) {
      const double change = std::abs(static_cast<double>(after[e] - before[e]));
      finding.l0 += change > least_change ? 1 : 0;
      finding.l1 += change;
      finding.l2 += change * change;
      finding.linf = std::max(finding.linf, change);
    }
    finding.l2 = std::sqrt(finding.l2);
  }
}

std::vector<std::int64_t> answers_of(const Finding& finding, double margin) {
  if (!finding.classes.empty()) return finding.classes;
  if (finding.items)
    return {static_cast<std::int64_t>(finding.items->hash[0]),
            static_cast<std::int64_t>(finding.items->hash[1])};
  std::vector<std::int64_t> steps;
  for (const auto& outputs : finding.outputs) {
    for (const float value : outputs)
      steps.push_back(static_cast<std::int64_t>(std::floor(value / std::max(1e-9, margin))));
  }
  return steps;
}

}  // namespace assay::explore
