#include "assay/explore/guide.h"

#include <assay/array_math.h>

#include <algorithm>
#include <charconv>

#include <assay/coverage.h>
#include <assay/extend/abilities.h>
#include <assay/extend/attack_problem.h>
#include "assay/coverage/usable_records.h"

namespace assay::explore {

Guide::Guide(std::vector<const attack::AttackedNetwork*> networks,
             std::vector<std::shared_ptr<const coverage::Profile>> profiles,
             const coverage::CriterionChoice& criterion, const NeuronChoice& choice)
    : choice_(choice), parts_(networks.size()) {
  for (std::size_t k = 0; k < networks.size(); ++k) {
    Part& part = parts_[k];
    part.network = networks[k];
    part.profile = profiles[k];
    part.name = criterion.spec().text();
    part.criterion = coverage::make_criterion(*part.profile, criterion);
    part.observer = std::make_unique<coverage::Observer>(networks[k]->session(), *part.profile,
                                                         part.criterion->wants_extremes());
    part.guiding = &coverage::required<coverage::Guiding>(*part.criterion, part.name);
    part.itemised = coverage::ability<coverage::Itemised>(*part.criterion);
    if (part.itemised != nullptr) part.itemised->collect_into(&part.items);
    for (const coverage::LayerStatistics& layer : part.profile->statistics)
      part.active.emplace_back(layer.neurons(), 0);
  }
}

std::vector<coverage::Aim> Guide::pick(std::size_t network, const coverage::ActivationBatch& batch,
                                       std::size_t row, const ByNeuron<float>* relevance, Rng rng) const {
  const Part& part = parts_[network];
  std::vector<std::vector<coverage::Aim>> ways = part.guiding->aims(batch, row);
  if (ways.empty()) return {};
  const ChoiceView view{.ways = ways,
                        .batch = batch,
                        .row = row,
                        .profile = *part.profile,
                        .active = part.active,
                        .relevance = relevance,
                        .rng = rng};
  return std::move(ways[choice_.choose(view)]);
}

std::vector<std::optional<std::uint64_t>> Guide::add(Part& part, const Tensors& given, std::size_t count) {
  const coverage::Observer::Seen seen = part.observer->observe(given, count, !part.network->regression());
  const std::vector<bool> usable = coverage::usable_rows(seen.layers, seen.predicted, count);
  std::vector<std::optional<std::uint64_t>> gained(count);
  part.items.assign(records_ + count, {});
  for (std::size_t r = 0; r < count; ++r) {
    if (!usable[r]) continue;
    // One record at a time, so that the first of two that cover the same counts.
    coverage::Observer::Seen one;
    const auto pick = [&](const auto& from, auto& to) {
      if (!from.empty()) to = {from[r]};
    };
    for (const Activations& layer : seen.layers)
      one.layers.push_back({1, layer.columns, {layer.row(r).begin(), layer.row(r).end()}});
    for (const auto& layer : seen.least) pick(layer, one.least.emplace_back());
    for (const auto& layer : seen.greatest) pick(layer, one.greatest.emplace_back());
    pick(seen.predicted, one.predicted);
    const std::size_t index = records_ + r;
    part.criterion->observe(one.batch(std::span(&index, 1), one.predicted));
    if (part.itemised != nullptr) {
      gained[r] = 0;
      for (const std::uint64_t item : part.items[index]) *gained[r] += part.covered.insert(item).second;
    }
    for (std::size_t l = 0; l < seen.layers.size(); ++l) {
      const auto row = seen.layers[l].row(r);
      for (std::size_t n = 0; n < row.size(); ++n)
        part.active[l][n] += row[n] > part.profile->statistics[l].mean[n];
    }
  }
  return gained;
}

std::vector<std::vector<std::optional<std::uint64_t>>> Guide::add(const Array& points) {
  return add(points.size(0), [&](const Part& part) { return part.network->bind(points); });
}

void Guide::add(const Batch& batch) {
  add(batch.indices.size(), [&](const Part& part) { return part.network->session().bind(batch); });
}

std::vector<std::vector<std::optional<std::uint64_t>>> Guide::add(
    std::size_t count, const std::function<Tensors(const Part&)>& bound) {
  std::vector<std::vector<std::optional<std::uint64_t>>> gained(count);
  if (count == 0) return gained;
  for (Part& part : parts_) {
    const auto of_network = add(part, bound(part), count);
    for (std::size_t r = 0; r < count; ++r) gained[r].push_back(of_network[r]);
    part.items.clear();
    part.criterion->result();  // brings to rest what criteria put off, so that pick() only reads
  }
  records_ += count;
  return gained;
}

coverage::Coverage Guide::coverage(std::size_t network) const {
  const std::vector<coverage::Coverage> rows =
      coverage::result_of(*parts_[network].criterion, parts_[network].name);
  const auto all = std::ranges::find(rows, "all", &coverage::Coverage::layer);
  return all != rows.end() ? *all : rows.front();
}

std::optional<double> Guide::share() const {
  double covered = 0, coverable = 0;
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    const coverage::Coverage here = coverage(k);
    if (here.coverable.empty()) return std::nullopt;
    covered += std::stod(here.covered);
    coverable += std::stod(here.coverable);
  }
  return coverable > 0 ? covered / coverable : 0;
}

}  // namespace assay::explore
