// How sure detectors are of boxes, and which numbers of their output say so.

#include <algorithm>

#include <assay/array_math.h>
#include "assay/task/detector.h"

namespace assay::task {

std::size_t Detector::column_of(std::int64_t of_class) const {
  if (!classes_) return 0;
  return of_class + (form_.background == Background::first ? 1 : 0);
}

const PartView& Detector::scores_in(const Views& views) const {
  return views.parts.at(classes_ ? BoxPart::scores : BoxPart::score);
}

std::pair<std::size_t, std::size_t> Detector::box_and_column(const PartView& scores,
                                                             std::int64_t number) const {
  const std::size_t at = number;
  for (const BoxBlock& block : scores.blocks()) {
    if (at < block.start) continue;
    const std::size_t from_start = at - block.start,
                      box = form_.columns ? from_start % block.step : from_start / block.box_step,
                      column = form_.columns ? from_start / block.step : from_start % block.box_step;
    if (box < block.boxes && column < std::max<std::size_t>(scores_, 1)) return {block.first + box, column};
  }
  fail(Fault::internal, "number {} of the output is not a score", number);
}

Lead Detector::lead(std::span<const float> output, std::size_t box, std::int64_t of_class,
                    double least) const {
  return lead(views_of({.output = output, .targets = {}}), box, of_class, least);
}

std::vector<Lead> Detector::leads_apart(std::span<const float> output, std::int64_t of_class, double least,
                                        std::span<const Box> others, double overlap) const {
  const Views views = views_of({.output = output, .targets = {}});
  std::vector<Lead> leads;
  for (std::size_t b = 0; b < views.boxes; ++b) {
    const Box box = box_of(views.parts.at(BoxPart::box), b);
    if (!may_be(views, b, of_class) || only_fills(views.parts.at(BoxPart::box), b)) continue;
    if (std::ranges::any_of(others, [&](const Box& other) { return task::overlap(box, other) >= overlap; }))
      continue;
    leads.push_back(lead(views, b, of_class, least));
    leads.back().holds = leads.back().value >= 0;
  }
  return leads;
}

Lead Detector::lead(const Views& views, std::size_t box, std::int64_t of_class, double least) const {
  const PartView& scores = scores_in(views);
  const std::size_t column = column_of(of_class);
  const std::vector<float> all = class_probabilities(scores, box);
  const float object = objectness_of(views, box);
  Lead lead{.own = static_cast<std::int64_t>(scores.index(box, column))};
  lead.value = object * all[column] - static_cast<float>(least);
  lead.scale = std::max(object * all[column], static_cast<float>(least));
  for (std::size_t k = 0; k < all.size() && !form_.all_labels; ++k) {
    if (k != column) lead.value = std::min(lead.value, object * (all[column] - all[k]));
  }
  return lead;
}

// A network that gives the number of a box's class scores no other one.
bool Detector::may_be(const Views& views, std::size_t box, std::int64_t of_class) const {
  const auto number = views.parts.find(BoxPart::number);
  return number == views.parts.end() || number->second.at(box) == static_cast<float>(of_class + form_.first);
}

// Rows that only fill up have -1, which must not make a score of another -1.
float Detector::objectness_of(const Views& views, std::size_t box) const {
  const auto objectness = views.parts.find(BoxPart::objectness);
  if (objectness == views.parts.end()) return 1;
  return std::max(probability_of(form_.scores, objectness->second.at(box)), 0.0F);
}

void Detector::differentiate(std::span<const float> output, const Lead& lead, float weight,
                             std::span<float> gradients) const {
  if (lead.own == Lead::none) return;
  const Views views = views_of({.output = output, .targets = {}});
  const PartView& scores = scores_in(views);
  const auto [box, column] = box_and_column(scores, lead.own);
  const auto objectness = views.parts.find(BoxPart::objectness);
  const float object = objectness_of(views, box);
  const std::vector<float> all = class_probabilities(scores, box);
  const float own = all[column];
  if (form_.scores == ScoreKind::softmax) {
    for (std::size_t k = 0; k < all.size(); ++k)
      gradients[scores.index(box, k)] += weight * object * own * ((k == column ? 1.0F : 0.0F) - all[k]);
  } else {
    gradients[scores.index(box, column)] += weight * object * slope_at(own);
  }
  if (objectness != views.parts.end())
    gradients[objectness->second.index(box)] += weight * own * slope_at(object);
}

float Detector::slope_at(float probability) const {
  return form_.scores == ScoreKind::sigmoid ? probability * (1 - probability) : 1;
}

// Of probabilities, each factor has its share of the product; of logits there is a sum.
void Detector::explain(std::span<const float> output, const Lead& lead, std::span<float> weights) const {
  if (lead.own == Lead::none) return;
  const Views views = views_of({.output = output, .targets = {}});
  const PartView& scores = scores_in(views);
  const auto objectness = views.parts.find(BoxPart::objectness);
  float own = 1;
  if (objectness != views.parts.end()) {
    const std::size_t box = box_and_column(scores, lead.own).first, place = objectness->second.index(box);
    const bool product = form_.scores == ScoreKind::probability;
    constexpr float half = 0.5F;
    weights[place] += product ? half * output[lead.own] : 1;
    own = product ? half * output[place] : 1;
  }
  weights[lead.own] += own;
}

Array Detector::probabilities(const Array& outputs, std::span<const Pair> pairs) const {
  if (pairs.empty()) return array::empty({0});
  const std::int64_t width = outputs.count() / outputs.size(0);
  const std::vector<float> zeros(width);
  const Views views = views_of({.output = zeros, .targets = {}});
  const PartView& scores = scores_in(views);
  const auto objectness = views.parts.find(BoxPart::objectness);
  const std::size_t together = form_.scores == ScoreKind::softmax ? scores_ : 1;
  std::vector<std::int64_t> numbers, objects, own;
  for (const Pair& pair : pairs) {
    const auto begin = static_cast<std::int64_t>(pair.record) * width;
    const std::size_t column = column_of(pair.of_class);
    own.push_back(own.size() * together + (together > 1 ? column : 0));
    for (std::size_t k = 0; k < together; ++k)
      numbers.push_back(begin + static_cast<std::int64_t>(scores.index(pair.box, together > 1 ? k : column)));
    if (objectness != views.parts.end())
      objects.push_back(begin + static_cast<std::int64_t>(objectness->second.index(pair.box)));
  }
  const Array flat = outputs.reshape({-1});
  const auto chosen = [&](const std::vector<std::int64_t>& places) {
    const Array some = flat.index_select(0, array::tensor(places));
    return form_.scores == ScoreKind::sigmoid ? some.sigmoid() : some;
  };
  Array found = chosen(numbers);
  if (together > 1) {
    found = array::softmax(found.reshape({-1, static_cast<std::int64_t>(together)}), 1)
                .reshape({-1})
                .index_select(0, array::tensor(own));
  }
  return objects.empty() ? found : found * chosen(objects);
}

}  // namespace assay::task
