#pragma once

// Items as what criteria see, in place of records (ItemChoice).

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <assay/coverage.h>
#include <assay/dataset.h>
#include <assay/extend/task.h>
#include <assay/session.h>

namespace assay::coverage {

// A row for each item.
struct ItemRows {
  std::vector<std::size_t> indices;  // of the record of each
  std::vector<Activations> layers;
  std::vector<std::vector<float>> least, greatest;  // of its record, where asked for
  std::vector<std::int64_t> predicted, labels;      // labels: empty where the data have none
  ActivationBatch batch() const { return {indices, layers, least, greatest, predicted, labels}; }
};

// Activations of a batch of records. `every`: of each layer [records, neurons * positions].
struct ItemActivations {
  std::span<const Activations> every;
  std::span<const std::vector<float>> least = {}, greatest = {};
};

class ItemView {
 public:
  // Layers whose activations are looked at; `reduction`: of those that do not keep the items' positions. All
  // must outlive this. Throws Error{unsupported} for items that are numbers, which have no classes.
  ItemView(const Session& session, std::vector<const Layer*> layers, const ItemChoice& choice,
           Reduction reduction);

  // Of the records that are usable, the items that count and that the network decides to be of a class, in
  // the order of the records. Throws Error{data} naming a record whose labels are not those of the task.
  // O(records * items * neurons).
  ItemRows rows(const Batch& batch, const Array& decisions, const ItemActivations& activations,
                const std::vector<bool>& usable, const Dataset& dataset) const;

 private:
  struct Chosen {
    std::vector<std::int64_t> decided, wanted, cells, grid;
  };
  Chosen items_of(const Batch& batch, std::size_t r, std::span<const float> output,
                  std::span<const float> targets, const Dataset& dataset) const;
  void draw(std::size_t record, Chosen& items) const;
  void add_layer(const Layer& layer, std::span<const float> all, const Chosen& items, Activations& to) const;

  const Session& session_;
  std::vector<const Layer*> layers_;
  const ItemChoice& choice_;
  Reduction reduction_;
};

// The position in a layer of each item: its cell of `grid` in that of the layer, or nothing where the layer
// has other axes. `positions`: of the layer, which holds so many.
std::optional<std::vector<std::int64_t>> positions_in(const Layer& layer, std::int64_t positions,
                                                      std::span<const std::int64_t> grid,
                                                      std::span<const std::int64_t> cells);

}  // namespace assay::coverage
