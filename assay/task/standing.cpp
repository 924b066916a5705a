#include "assay/task/standing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include <assay/error.h>
#include <assay/evaluate.h>
#include "assay/engine/elements.h"

namespace assay::task {

namespace {

[[noreturn]] void fail_without_scores(const Task& task) {
  fail(Fault::unsupported,
       "the output of task '{}' does not hold a score for each class of an item, so that only evaluation "
       "knows it",
       task.describe());
}

}  // namespace

std::vector<std::int64_t> Task::decide(std::span<const float> /*output*/) const {
  fail_without_scores(*this);
}

std::vector<Lead> Task::leads(std::span<const float> /*output*/,
                              std::span<const std::int64_t> /*classes*/) const {
  fail_without_scores(*this);
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
  const std::vector<float> scores = floats_of(outputs), labels = floats_of(batch.targets);
  const std::size_t records = batch.indices.size(), out = scores.size() / records,
                    wanted = labels.size() / records;
  RightItems items;
  for (std::size_t r = 0; r < records; ++r) {
    Judgement judged = judged_record(
        task, {std::span(scores).subspan(r * out, out), std::span(labels).subspan(r * wanted, wanted)},
        dataset, batch.indices[r]);
    for (std::size_t i = 0; i < judged.wanted.size(); ++i) {
      if (judged.decided[i] != judged.wanted[i]) judged.wanted[i] = no_class;
    }
    items.push_back(std::move(judged.wanted));
  }
  return items;
}

ItemRows rows_of(const Task& task, const Array& outputs, const Batch& batch, const Dataset& dataset) {
  try {
    return task.rows(outputs, batch.targets);
  } catch (const Error&) {
    right_items(task, outputs.detach(), batch, dataset);  // names the record
    throw;
  }
}

Standing standing_of(std::span<const Lead> leads, std::span<const std::int64_t> classes, double share) {
  Standing standing;
  std::vector<std::size_t> counted;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (classes[i] < 0) continue;
    counted.push_back(i);
    standing.changed += leads[i].holds ? 0 : 1;
  }
  standing.items = counted.size();
  if (counted.empty()) return standing;
  const double allowed = share * static_cast<double>(counted.size());
  standing.beyond = static_cast<double>(standing.changed) > allowed;
  const auto place = std::min(counted.size() - 1, static_cast<std::size_t>(allowed));
  const auto value = [&](std::size_t i) {
    return std::isnan(leads[i].value) ? -std::numeric_limits<float>::infinity() : leads[i].value;
  };
  std::ranges::nth_element(counted, counted.begin() + static_cast<std::ptrdiff_t>(place), std::less<>(),
                           value);
  standing.deciding = leads[counted[place]];
  return standing;
}

ItemScores item_scores(std::span<const Lead> leads, std::span<const std::int64_t> classes,
                       std::size_t outputs) {
  ItemScores scores;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (classes[i] < 0) continue;
    scores.weights.resize(outputs);
    const Lead& lead = leads[i];
    scores.threshold = lead.threshold;
    if (lead.own == Lead::none)
      scores.weights[static_cast<std::size_t>(lead.rival)] -= 0.5F;
    else
      scores.weights[static_cast<std::size_t>(lead.own)] += lead.rival == Lead::none ? 0.5F : 1.0F;
  }
  return scores;
}

void keep_class(const Task& task, std::int64_t only, std::vector<std::int64_t>& classes) {
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const bool kept = task.items_are_labels() ? static_cast<std::int64_t>(i) == only && classes[i] == 1
                                              : classes[i] == only;
    if (!kept) classes[i] = no_class;
  }
}

std::string change_in_words(double share) {
  return share == 0 ? "an item is decided otherwise"
                    : fmt::format("more than {:.4g} of the items are decided otherwise", share);
}

}  // namespace assay::task
