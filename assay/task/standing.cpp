#include "assay/task/standing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <assay/error.h>
#include <assay/evaluate.h>
#include "assay/engine/elements.h"
#include "assay/support/text/parse.h"
#include "assay/support/text/text.h"

namespace assay::task {

namespace {

[[noreturn]] void fail_without_scores(const Task& task) {
  fail(Fault::unsupported,
       "the output of task '{}' does not hold a score for each class of an item, so that only evaluation "
       "knows it",
       task.describe());
}

}  // namespace

Items Task::decide(std::span<const float> /*output*/) const { fail_without_scores(*this); }

std::vector<Lead> Task::leads(std::span<const float> /*output*/, const Items& /*items*/) const {
  fail_without_scores(*this);
}

void Task::differentiate(std::span<const float> /*output*/, const Lead& lead, float weight,
                         std::span<float> gradients) const {
  if (lead.own != Lead::none) gradients[lead.own] += weight;
  if (lead.rival != Lead::none) gradients[lead.rival] -= weight;
}

void Task::explain(std::span<const float> /*output*/, const Lead& lead, std::span<float> weights) const {
  if (lead.own != Lead::none)
    weights[lead.own] += lead.rival == Lead::none ? 0.5F : 1.0F;
  else if (lead.rival != Lead::none)
    weights[lead.rival] -= 0.5F;
}

std::vector<Lead> Task::appearing(std::span<const float> output, std::int64_t of_class,
                                  const Items& before) const {
  if (!before.places.empty())
    fail(Fault::unsupported, "task '{}': items that were not there have no place, so none can appear",
         describe());
  Items wanted{std::vector<std::int64_t>(before.classes.size(), of_class)};
  if (items_are_labels()) {
    for (std::size_t i = 0; i < before.classes.size(); ++i)
      wanted.classes[i] = static_cast<std::int64_t>(i) == of_class && before.classes[i] == 0 ? 1 : no_class;
  } else {
    for (std::size_t i = 0; i < before.classes.size(); ++i) {
      if (before.classes[i] == of_class || before.classes[i] == no_class) wanted.classes[i] = no_class;
    }
  }
  std::vector<Lead> chosen;
  const std::vector<Lead> all = leads(output, wanted);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (wanted.classes[i] != no_class) chosen.push_back(all[i]);
  }
  return chosen;
}

ItemRows Task::rows(const Array& /*outputs*/, const Array& /*targets*/) const { fail_without_scores(*this); }

Judgement judged_record(const Task& task, const JudgedRecord& record, const Dataset& dataset,
                        std::size_t index) {
  try {
    return task.judge(record);
  } catch (const Error& error) {
    fail(error.fault(), "record '{}': {}", dataset.id(index), error.message());
  }
}

RightItems right_items(const Task& task, const Array& outputs, const Batch& batch, const Dataset& dataset) {
  if (batch.targets.count() == 0)
    fail(Fault::data, "{} has no labels of items, which task '{}' needs", dataset.describe(),
         task.describe());
  const Array outputs_here = in_memory(outputs, DType::float32),
              targets_here = in_memory(batch.targets, DType::float32);
  const std::span<const float> scores = outputs_here.as<float>(), labels = targets_here.as<float>();
  const std::size_t records = batch.indices.size(), out = scores.size() / records,
                    wanted = labels.size() / records;
  RightItems items;
  for (std::size_t r = 0; r < records; ++r) {
    Judgement judged = judged_record(task, {scores.subspan(r * out, out), labels.subspan(r * wanted, wanted)},
                                     dataset, batch.indices[r]);
    for (std::size_t i = 0; i < judged.wanted.size(); ++i) {
      if (judged.decided[i] != judged.wanted[i]) judged.wanted[i] = no_class;
    }
    items.push_back({std::move(judged.wanted), std::move(judged.places)});
  }
  return items;
}

namespace {

// The same error of the first record that has it, with its name.
void name_record_of(const Task& task, const Array& outputs, const Batch& batch, const Dataset& dataset) {
  for (std::size_t r = 0; r < batch.indices.size(); ++r) {
    try {
      task.rows(outputs.narrow(0, r, 1), batch.targets.narrow(0, r, 1));
    } catch (const Error& error) {
      fail(error.fault(), "record '{}': {}", dataset.id(batch.indices[r]), error.message());
    }
  }
}

}  // namespace

ItemRows rows_of(const Task& task, const Array& outputs, const Batch& batch, const Dataset& dataset) {
  try {
    return task.rows(outputs, batch.targets);
  } catch (const Error&) {
    right_items(task, outputs.detach(), batch, dataset);  // names the record
    name_record_of(task, outputs.detach(), batch, dataset);
    throw;
  }
}

Standing standing_of(std::span<const Lead> leads, const Items& items, double share) {
  Standing standing;
  std::vector<std::size_t> counted;
  for (std::size_t i = 0; i < leads.size(); ++i) {
    if (items.classes[i] < 0) continue;
    counted.push_back(i);
    standing.changed += leads[i].holds ? 0 : 1;
  }
  standing.items = counted.size();
  if (counted.empty()) return standing;
  const double allowed = share * counted.size();
  standing.beyond = standing.changed > allowed;
  const auto place = std::min(counted.size() - 1, static_cast<std::size_t>(allowed));
  const auto value = [&](std::size_t i) {
    return std::isnan(leads[i].value) ? -std::numeric_limits<float>::infinity() : leads[i].value;
  };
  std::ranges::nth_element(counted, counted.begin() + place, std::less<>(), value);
  standing.deciding = leads[counted[place]];
  return standing;
}

ItemScores item_scores(const Task& task, std::span<const float> output, const Items& items) {
  ItemScores scores;
  if (!any_counts(items)) return scores;
  const std::vector<Lead> leads = task.leads(output, items);
  scores.weights.resize(output.size());
  for (std::size_t i = 0; i < leads.size(); ++i) {
    if (items.classes[i] < 0) continue;
    scores.threshold = leads[i].threshold;
    task.explain(output, leads[i], scores.weights);
  }
  return scores;
}

std::int64_t counted_class(const Task& task, const Items& items, std::size_t item) {
  const std::int64_t own = items.classes[item];
  if (!task.items_are_labels()) return own < 0 ? no_class : own;
  return own == 1 ? static_cast<std::int64_t>(item) : no_class;
}

void keep_class(const Task& task, std::int64_t only, Items& items) {
  for (std::size_t i = 0; i < items.classes.size(); ++i) {
    if (counted_class(task, items, i) != only) items.classes[i] = no_class;
  }
}

bool any_counts(const Items& items) {
  return std::ranges::any_of(items.classes, [](std::int64_t c) { return c != no_class; });
}

std::int64_t class_of(const Task& task, const std::string& name) {
  const std::vector<std::string> names = task.class_names();
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return found - names.begin();
  const auto number = number_of<std::int64_t>(name);
  if (number && *number >= 0 && *number < std::ssize(names)) return *number;
  fail(Fault::usage, "class '{}' is not among those of task '{}'{}", name, task.describe(),
       did_you_mean(name, names));
}

std::string change_in_words(double share) {
  return share == 0 ? "an item is decided otherwise"
                    : fmt::format("more than {:.4g} of the items are decided otherwise", share);
}

}  // namespace assay::task
