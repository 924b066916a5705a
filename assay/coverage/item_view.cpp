#include "assay/coverage/item_view.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include <assay/error.h>
#include <assay/evaluate.h>
#include <assay/extend/random.h>
#include "assay/engine/elements.h"
#include "assay/task/standing.h"

namespace assay::coverage {
namespace {

std::int64_t product(std::span<const std::int64_t> sides) {
  return std::accumulate(sides.begin(), sides.end(), std::int64_t{1}, std::multiplies<>());
}

// Axes of a layer's value that are neither of records nor of neurons. Where sizes follow from the input, a
// single one is told by the number of positions.
std::vector<std::int64_t> grid_of(const Layer& layer, std::int64_t positions) {
  std::vector<std::int64_t> grid;
  if (layer.batch_multiple > 1) grid.push_back(layer.batch_multiple);
  for (int axis = 0; axis <= static_cast<int>(layer.shape.size()); ++axis) {
    if (axis == layer.batch_axis || std::ranges::find(layer.neuron_axes, axis) != layer.neuron_axes.end())
      continue;
    grid.push_back(layer.shape[axis > layer.batch_axis ? axis - 1 : axis]);
  }
  if (grid.size() == 1) grid[0] = positions;
  return product(grid) == positions ? grid : std::vector<std::int64_t>{positions};
}

std::vector<std::int64_t> longer_than_one(std::span<const std::int64_t> sides) {
  std::vector<std::int64_t> longer(sides.begin(), sides.end());
  std::erase(longer, 1);
  return longer;
}

// The cell of a grid in which the middle of a cell of another one lies.
std::int64_t cell_in(std::span<const std::int64_t> to, std::span<const std::int64_t> from,
                     std::int64_t cell) {
  std::int64_t result = 0, step = 1;
  for (std::size_t axis = from.size(); axis-- > 0;) {
    const std::int64_t at = cell % from[axis];
    cell /= from[axis];
    result += step * ((2 * at + 1) * to[axis] / (2 * from[axis]));
    step *= to[axis];
  }
  return result;
}

float reduced_of(std::span<const float> values, Reduction reduction) {
  if (reduction == Reduction::max) return std::ranges::max(values);
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  return static_cast<float>(sum / values.size());
}

}  // namespace

std::optional<std::vector<std::int64_t>> positions_in(const Layer& layer, std::int64_t positions,
                                                      std::span<const std::int64_t> grid,
                                                      std::span<const std::int64_t> cells) {
  if (grid.empty() || positions < 2) return std::nullopt;
  std::vector<std::int64_t> to = grid_of(layer, positions), from(grid.begin(), grid.end());
  if (to.size() != from.size()) to = longer_than_one(to), from = longer_than_one(from);
  if (to.size() != from.size()) {
    if (product(grid) != positions) return std::nullopt;
    return std::vector(cells.begin(), cells.end());
  }
  std::vector<std::int64_t> found;
  found.reserve(cells.size());
  for (const std::int64_t cell : cells) found.push_back(cell_in(to, from, cell));
  return found;
}

ItemView::ItemView(const Session& session, std::vector<const Layer*> layers, const ItemChoice& choice,
                   Reduction reduction)
    : session_(session), layers_(std::move(layers)), choice_(choice), reduction_(reduction) {
  if (choice.task->items_are_numbers())
    fail(Fault::unsupported, "the items of task '{}' are numbers, which have no classes; leave out {}",
         choice.task->describe(), About{"the choice of items", "{items}"});
  if (reduction == Reduction::every_position)
    fail(Fault::usage,
         "an item has one activation of each neuron: reduce positions by their mean or maximum");
}

ItemRows ItemView::rows(const Batch& batch, const Array& decisions, const ItemActivations& activations,
                        const std::vector<bool>& usable, const Dataset& dataset) const {
  require_rows(session_, decisions, batch.indices.size());
  const std::vector<float> outputs = floats_of(decisions), targets = batch.targets.count() == 0
                                                                         ? std::vector<float>()
                                                                         : floats_of(batch.targets);
  const std::size_t records = batch.indices.size(), width = outputs.size() / records,
                    wanted = targets.size() / records;
  ItemRows rows;
  rows.layers.resize(layers_.size());
  rows.least.resize(activations.least.size());
  rows.greatest.resize(activations.greatest.size());
  for (std::size_t r = 0; r < records; ++r) {
    if (!usable[r]) continue;
    Chosen items = items_of(batch, r, std::span(outputs).subspan(r * width, width),
                            std::span(targets).subspan(r * wanted, wanted), dataset);
    draw(batch.indices[r], items);
    const std::size_t count = items.decided.size();
    rows.indices.insert(rows.indices.end(), count, batch.indices[r]);
    rows.predicted.insert(rows.predicted.end(), items.decided.begin(), items.decided.end());
    if (wanted > 0) rows.labels.insert(rows.labels.end(), items.wanted.begin(), items.wanted.end());
    for (std::size_t l = 0; l < layers_.size(); ++l)
      add_layer(*layers_[l], activations.every[l].row(r), items, rows.layers[l]);
    for (std::size_t l = 0; l < rows.least.size(); ++l) {
      rows.least[l].insert(rows.least[l].end(), count, activations.least[l][r]);
      rows.greatest[l].insert(rows.greatest[l].end(), count, activations.greatest[l][r]);
    }
  }
  return rows;
}

// All that count, have a class and, where items have positions, one.
ItemView::Chosen ItemView::items_of(const Batch& batch, std::size_t r, std::span<const float> output,
                                    std::span<const float> targets, const Dataset& dataset) const {
  const task::Task& task = *choice_.task;
  task::Items items;
  std::vector<std::int64_t> wanted;
  if (targets.empty()) {
    items = task.decide(output);
  } else {
    task::Judgement judged = task::judged_record(task, {output, targets}, dataset, batch.indices[r]);
    items = {std::move(judged.decided), std::move(judged.places)};
    wanted = std::move(judged.wanted);
  }
  const task::Positions where = task.positions(items);
  Chosen chosen;
  chosen.grid = where.grid;
  const task::Items labelled{wanted};
  for (std::size_t i = 0; i < items.classes.size(); ++i) {
    const std::int64_t decided = task::counted_class(task, items, i);
    if (decided == no_class || (!wanted.empty() && wanted[i] == no_class)) continue;
    if (!where.cells.empty() && where.cells[i] < 0) continue;
    chosen.decided.push_back(decided);
    if (!where.cells.empty()) chosen.cells.push_back(where.cells[i]);
    if (!wanted.empty()) chosen.wanted.push_back(task::counted_class(task, labelled, i));
  }
  return chosen;
}

void ItemView::draw(std::size_t record, Chosen& items) const {
  if (choice_.most == 0 || items.decided.size() <= choice_.most) return;
  Rng random(choice_.seed, {record});
  const std::vector<std::size_t> kept = random.sample(items.decided.size(), choice_.most);
  for (auto* column : {&items.decided, &items.wanted, &items.cells}) {
    if (column->empty()) continue;
    for (std::size_t k = 0; k < kept.size(); ++k) (*column)[k] = (*column)[kept[k]];
    column->resize(kept.size());
  }
}

void ItemView::add_layer(const Layer& layer, std::span<const float> all, const Chosen& items,
                         Activations& to) const {
  const std::size_t neurons = layer.neurons, positions = all.size() / neurons;
  const auto at = positions_in(layer, positions, items.grid, items.cells);
  std::vector<float> whole;
  for (std::size_t n = 0; !at && n < neurons; ++n)
    whole.push_back(reduced_of(all.subspan(n * positions, positions), reduction_));
  to.columns = neurons;
  to.rows += items.decided.size();
  to.values.reserve(to.rows * neurons);
  for (std::size_t i = 0; i < items.decided.size(); ++i) {
    for (std::size_t n = 0; n < neurons; ++n)
      to.values.push_back(at ? all[n * positions + (*at)[i]] : whole[n]);
  }
}

}  // namespace assay::coverage
