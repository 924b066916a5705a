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

// Items that no network decides otherwise, and of all items how near each is to that.
class ItemComparison {
 public:
  ItemComparison(const Answers& answers, std::size_t record, const task::Task& task)
      : answers_(answers), record_(record), task_(task) {
    for (std::size_t k = 0; k < answers.networks; ++k) items_.decided.push_back(task.decide(outputs(k)));
    items_.agreed = items_.decided[0];
    nearest_.assign(items_.agreed.classes.size(), std::numeric_limits<float>::infinity());
    for (std::size_t k = 0; k < answers.networks; ++k) {
      look_for_first(k);
      if (!known_by_position()) look_for_others(k);
    }
    differing_ += static_cast<std::size_t>(std::ranges::count(items_.agreed.classes, no_class));
    items_.differing = nearest_.empty() ? 0 : static_cast<double>(differing_) / nearest_.size();
  }

  RecordItems take() { return std::move(items_); }
  std::size_t differing() const { return differing_; }
  // By item; below 0 where networks differ.
  std::vector<float>& nearest() { return nearest_; }

 private:
  std::span<const float> outputs(std::size_t k) const { return answers_.outputs_of(k, record_); }
  bool known_by_position() const {
    return std::ranges::all_of(items_.decided, [](const task::Items& one) { return one.places.empty(); });
  }

  void look_for_first(std::size_t k) {
    const task::Items& first = items_.decided[0];
    const std::vector<task::Lead> leads = task_.leads(outputs(k), first);
    for (std::size_t i = 0; i < leads.size(); ++i) {
      const bool same = first.classes[i] != no_class && leads[i].holds;
      if (!same) items_.agreed.classes[i] = no_class;
      nearest_[i] = same ? std::min(nearest_[i], leads[i].value) : -1;
    }
  }

  // Items of a network that the first one does not decide.
  void look_for_others(std::size_t k) {
    for (const task::Lead& lead : task_.leads(outputs(0), items_.decided[k])) {
      if (lead.holds) continue;
      ++differing_;
      nearest_.push_back(-1);
    }
  }

  const Answers& answers_;
  std::size_t record_;
  const task::Task& task_;
  RecordItems items_;
  std::vector<float> nearest_;
  std::size_t differing_ = 0;
};

// Decides the items of a record, and says whether more than the share of them differs between networks.
bool items_differ(Answers& answers, std::size_t record, const DisagreementOptions& options,
                  float& closeness) {
  ItemComparison comparison(answers, record, *options.task);
  std::vector<float>& nearest = comparison.nearest();
  closeness = std::numeric_limits<float>::infinity();
  const double allowed = options.margin * nearest.size();
  if (!nearest.empty()) {
    const auto place = std::min(nearest.size() - 1, static_cast<std::size_t>(allowed));
    std::ranges::nth_element(nearest, nearest.begin() + place);
    closeness = nearest[place];
  }
  answers.items.push_back(comparison.take());
  return comparison.differing() > allowed;
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
  return best;
}

// Nothing of items that are not known by their position.
std::optional<std::vector<float>> votes_on_items(const RecordItems& items) {
  const std::vector<task::Items>& decided = items.decided;
  if (std::ranges::any_of(decided, [](const task::Items& one) { return !one.places.empty(); }))
    return std::nullopt;
  std::vector<float> voted;
  for (std::size_t i = 0; i < decided[0].classes.size(); ++i) {
    std::map<std::int64_t, std::size_t> votes;
    for (const task::Items& of_network : decided) ++votes[of_network.classes[i]];
    voted.push_back(static_cast<float>(
        std::ranges::max_element(votes, {}, [](const auto& vote) { return vote.second; })->first));
  }
  return voted;
}

}  // namespace

Answers compare(const std::vector<Array>& scores, const DisagreementOptions& options) {
  const std::size_t records = scores[0].size(0);
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

std::optional<std::vector<float>> median(const Answers& answers, std::size_t record) {
  if (answers.networks < 3) return std::nullopt;
  if (!answers.items.empty()) return votes_on_items(answers.items[record]);
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
