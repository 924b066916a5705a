#include "assay/explore/disagreement.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <assay/error.h>
#include <assay/evaluate.h>
#include <assay/extend/task.h>
#include "assay/engine/elements.h"

namespace assay::explore {
namespace {

// How far apart the networks' outputs are for a record.
bool values_differ(const Answers& answers, std::size_t record, const DisagreementOptions& options,
                   float& greatest_distance) {
  bool differ = false;
  greatest_distance = 0;
  for (std::size_t t = 0; t < answers.width; ++t) {
    float low = std::numeric_limits<float>::infinity(), high = -low;
    bool above = true, below = true;
    for (std::size_t k = 0; k < answers.networks; ++k) {
      const float value = answers.outputs_of(k, record)[t];
      low = std::min(low, value);
      high = std::max(high, value);
      above &= value > 0;
      below &= value < 0;
    }
    greatest_distance = std::max(greatest_distance, high - low);
    const bool same_side = options.opposite_signs && (above || below);
    differ |= static_cast<double>(high - low) > options.margin && !same_side;
  }
  return differ;
}

// Decides the items of a record, and says whether more than the share of them differs between networks.
bool items_differ(Answers& answers, std::size_t record, const DisagreementOptions& options,
                  float& closeness) {
  std::vector<std::vector<std::int64_t>> decided;
  for (std::size_t k = 0; k < answers.networks; ++k)
    decided.push_back(options.task->decide(answers.outputs_of(k, record)));
  const std::size_t count = decided[0].size();
  answers.items.resize(answers.networks * answers.records() * count);
  std::vector<float> nearest(count, std::numeric_limits<float>::infinity());
  std::vector<bool> same(count, true);
  for (std::size_t k = 0; k < answers.networks; ++k) {
    std::ranges::copy(decided[k], answers.items.begin() +
                                      static_cast<std::ptrdiff_t>((k * answers.records() + record) * count));
    const std::vector<task::Lead> leads = options.task->leads(answers.outputs_of(k, record), decided[k]);
    for (std::size_t i = 0; i < count; ++i) {
      same[i] = same[i] && decided[k][i] == decided[0][i];
      nearest[i] = std::min(nearest[i], leads[i].value);
    }
  }
  for (std::size_t i = 0; i < count; ++i) nearest[i] = same[i] ? nearest[i] : -1;
  const double allowed = options.margin * static_cast<double>(count);
  const auto place = std::min(count - 1, static_cast<std::size_t>(allowed));
  std::ranges::nth_element(nearest, nearest.begin() + static_cast<std::ptrdiff_t>(place));
  closeness = nearest[place];
  return static_cast<double>(std::ranges::count(same, false)) > allowed;
}

// The first class of a record's scores, and its lead over the second.
std::int64_t first_class(std::span<const float> scores, float& lead) {
  std::size_t best = 0;
  for (std::size_t c = 1; c < scores.size(); ++c) {
    if (scores[c] > scores[best]) best = c;
  }
  lead = std::numeric_limits<float>::infinity();
  for (std::size_t c = 0; c < scores.size(); ++c) {
    if (c != best) lead = std::min(lead, scores[best] - scores[c]);
  }
  return static_cast<std::int64_t>(best);
}

std::vector<float> votes_on_items(const Answers& answers, std::size_t record) {
  std::vector<float> voted;
  for (std::size_t i = 0; i < answers.items_of(0, record).size(); ++i) {
    std::map<std::int64_t, std::size_t> votes;
    for (std::size_t k = 0; k < answers.networks; ++k) ++votes[answers.items_of(k, record)[i]];
    voted.push_back(static_cast<float>(
        std::ranges::max_element(votes, {}, [](const auto& vote) { return vote.second; })->first));
  }
  return voted;
}

}  // namespace

Answers compare(const std::vector<Array>& scores, const DisagreementOptions& options) {
  const auto records = static_cast<std::size_t>(scores[0].size(0));
  Answers answers{.networks = scores.size(),
                  .width = static_cast<std::size_t>(scores[0].size(1)),
                  .outputs = {},
                  .classes = {},
                  .finite = std::vector<bool>(records, true),
                  .differ = std::vector<bool>(records),
                  .items = {},
                  .closeness = std::vector<float>(records)};
  for (const Array& of_network : scores) {
    if (of_network.size(1) != scores[0].size(1)) {
      fail(Fault::mismatch,
           "the first network has {} outputs and another one {}; only networks for the same task can be "
           "compared",
           scores[0].size(1), of_network.size(1));
    }
    const std::vector<float> outputs = floats_of(of_network);
    answers.outputs.insert(answers.outputs.end(), outputs.begin(), outputs.end());
  }
  if (!options.regression) answers.classes.resize(answers.networks * records);
  for (std::size_t r = 0; r < records; ++r) {
    for (std::size_t k = 0; k < answers.networks; ++k) {
      if (!std::ranges::all_of(answers.outputs_of(k, r), [](float x) { return std::isfinite(x); }))
        answers.finite[r] = false;
    }
    bool differ = false;
    if (options.task) {
      differ = items_differ(answers, r, options, answers.closeness[r]);
    } else if (options.regression) {
      float distance = 0;
      differ = values_differ(answers, r, options, distance);
      answers.closeness[r] = -distance;
    } else {
      answers.closeness[r] = std::numeric_limits<float>::infinity();
      for (std::size_t k = 0; k < answers.networks; ++k) {
        float lead = 0;
        answers.classes[k * records + r] = first_class(answers.outputs_of(k, r), lead);
        answers.closeness[r] = std::min(answers.closeness[r], lead);
        differ |= answers.class_of(k, r) != answers.class_of(0, r);
      }
    }
    answers.differ[r] = differ && answers.finite[r];
  }
  return answers;
}

std::optional<std::int64_t> majority(const Answers& answers, std::size_t record) {
  if (answers.networks < 3 || answers.classes.empty()) return std::nullopt;
  std::map<std::int64_t, std::size_t> votes;
  for (std::size_t k = 0; k < answers.networks; ++k) {
    const std::int64_t named = answers.class_of(k, record);
    if (2 * ++votes[named] > answers.networks) return named;
  }
  return std::nullopt;
}

std::vector<std::int64_t> agreed_items(const Answers& answers, std::size_t record) {
  const std::span<const std::int64_t> first = answers.items_of(0, record);
  std::vector<std::int64_t> agreed(first.begin(), first.end());
  for (std::size_t k = 1; k < answers.networks; ++k) {
    for (std::size_t i = 0; i < agreed.size(); ++i) {
      if (answers.items_of(k, record)[i] != agreed[i]) agreed[i] = no_class;
    }
  }
  return agreed;
}

std::optional<std::vector<float>> median(const Answers& answers, std::size_t record) {
  if (answers.networks < 3) return std::nullopt;
  if (!answers.items.empty()) return votes_on_items(answers, record);
  std::vector<float> middle;
  for (std::size_t t = 0; t < answers.width; ++t) {
    std::vector<float> values;
    for (std::size_t k = 0; k < answers.networks; ++k) values.push_back(answers.outputs_of(k, record)[t]);
    std::ranges::sort(values);
    middle.push_back(values.size() % 2 == 1
                         ? values[values.size() / 2]
                         : (values[values.size() / 2 - 1] + values[values.size() / 2]) / 2);
  }
  return middle;
}

}  // namespace assay::explore
