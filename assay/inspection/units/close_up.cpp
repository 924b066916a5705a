#include "assay/inspection/units/close_up.h"

#include <assay/array_math.h>

#include <algorithm>
#include <cmath>

#include <assay/error.h>
#include <assay/extend/random.h>
#include "assay/inspection/symbols/text_records.h"
#include "assay/inspection/units/unit_source.h"

namespace assay::inspection {
namespace {

constexpr std::uint64_t sample_stream = 0x636c6f7365;

std::vector<std::string> symbols_of(const RecordText& text) {
  std::vector<std::string> symbols;
  for (std::size_t k = 0; k + 1 < text.begins.size(); ++k)
    symbols.push_back(text.text.substr(text.begins[k], text.begins[k + 1] - text.begins[k]));
  return symbols;
}

// Behaviour of one hypothesis in one record.
void add_behaviour(CloseUp& close, const std::vector<std::shared_ptr<const Annotator>>& annotators,
                   const RecordBlock& block) {
  for (const auto& annotator : annotators) {
    const auto& own = annotator->hypotheses();
    const auto found = std::ranges::find(own, close.hypothesis, &Hypothesis::name);
    if (found == own.end()) continue;
    const Behaviours behaviours = annotator->annotate(block);
    const std::ptrdiff_t positions = element_count(behaviours.positions);
    const auto begin = behaviours.values.begin() + (found - own.begin()) * positions;
    close.hypothesis_positions = behaviours.positions;
    close.behaviour.assign(begin, begin + positions);
  }
}

}  // namespace

std::vector<CloseUp> close_ups(const std::vector<InspectedModel>& models,
                               const std::vector<UnitGroup>& groups, const DatasetPtr& dataset,
                               const std::vector<AnnotatorChoice>& hypotheses, const InspectOptions& options,
                               std::span<const Claim> claims, std::size_t sample, std::size_t top) {
  std::vector<std::shared_ptr<const Annotator>> annotators;
  for (const AnnotatorChoice& choice : hypotheses)
    annotators.push_back(make_annotator(choice, dataset, models.at(0).session->options()));
  const std::vector<std::size_t> records =
      Rng(options.seed, {sample_stream}).sample(dataset->size(), std::min(sample, dataset->size()));
  const Batch all = dataset->read(records);
  std::vector<CloseUp> found;
  for (const Claim& claim : claims) {
    UnitGroup group = groups.at(claim.group);
    group.units = {claim.units.at(0)};
    const UnitSource source(models.at(group.model), {group});
    const std::size_t first = 0, chosen = models.at(group.model).session->preferred_batch();
    const std::size_t step = options.batch == 0 ? chosen : options.batch;
    std::vector<Array> pieces;
    for (std::size_t begin = 0; begin < records.size(); begin += step)
      pieces.push_back(source.behaviours(slice(all, begin, std::min(records.size(), begin + step)),
                                         std::span(&first, 1))[0]);
    const Array values = array::cat(pieces);
    const std::size_t positions = values.size(1);
    const float* const data = values.elements<float>();
    std::vector<std::pair<float, std::size_t>> order;
    for (std::size_t r = 0; r < records.size(); ++r)
      order.emplace_back(*std::max_element(data + r * positions, data + (r + 1) * positions), r);
    std::ranges::stable_sort(order, std::greater{}, &std::pair<float, std::size_t>::first);
    for (std::size_t i = 0; i < std::min(top, order.size()); ++i) {
      const std::size_t r = order[i].second;
      const Batch record = slice(all, r, r + 1);
      std::vector<RecordText> texts;
      if (options.vocabulary) texts = texts_of(*options.vocabulary, record, *dataset);
      CloseUp close{
          group.name, claim.hypothesis, claim.units[0], records[r], {}, source.map(0).positions, {}, {}, {}};
      close.unit_values.assign(data + r * positions, data + (r + 1) * positions);
      if (!texts.empty()) close.symbols = symbols_of(texts[0]);
      add_behaviour(close, annotators, {*dataset, record, texts});
      found.push_back(std::move(close));
    }
  }
  return found;
}

}  // namespace assay::inspection
