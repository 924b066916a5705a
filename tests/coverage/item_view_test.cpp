// Where items lie in layers.

#include "assay/coverage/item_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::coverage {
namespace {

using testing::ElementsAre;
using testing::Optional;

// Of records [neurons, ...].
Layer layer_of(Shape shape) {
  Layer layer;
  layer.neurons = shape[0];
  layer.shape = std::move(shape);
  layer.neuron_axes = {1};
  return layer;
}

std::optional<std::vector<std::int64_t>> at(const Layer& layer, std::int64_t positions, Shape grid,
                                            std::vector<std::int64_t> cells) {
  return positions_in(layer, positions, grid, cells);
}

TEST(PositionsOfItems, AreTheirsWhereTheLayerHasAsMany) {
  EXPECT_THAT(at(layer_of({8, 2, 3}), 6, {2, 3}, {0, 4, 5}), Optional(ElementsAre(0, 4, 5)));
  EXPECT_THAT(at(layer_of({8, 7}), 7, {7}, {6}), Optional(ElementsAre(6)));
}

TEST(PositionsOfItems, AreThoseInWhichTheMiddleOfTheCellLies) {
  // Of 4 x 6 cells, a layer of 2 x 3 holds 2 x 2 in each; cell 9 is in row 1 and column 3.
  EXPECT_THAT(at(layer_of({8, 2, 3}), 6, {4, 6}, {0, 9, 23}), Optional(ElementsAre(0, 1, 5)));
  // Of 3 cells on 2 positions the middle one, from 1/3 to 2/3, lies at 1/2: the second begins there.
  EXPECT_THAT(at(layer_of({8, 2}), 2, {3}, {0, 1, 2}), Optional(ElementsAre(0, 1, 1)));
  // A layer may be finer.
  EXPECT_THAT(at(layer_of({8, 4}), 4, {2}, {0, 1}), Optional(ElementsAre(1, 3)));
}

TEST(PositionsOfItems, DoNotDependOnAxesOfOne) {
  EXPECT_THAT(at(layer_of({8, 1, 4}), 4, {4}, {3}), Optional(ElementsAre(3)));
  EXPECT_THAT(at(layer_of({8, 5}), 5, {1, 5, 1}, {2}), Optional(ElementsAre(2)));
}

TEST(PositionsOfItems, AreCountedWhereALayerHasThemInOneRow) {
  EXPECT_THAT(at(layer_of({8, 6}), 6, {2, 3}, {4}), Optional(ElementsAre(4)));
}

TEST(PositionsOfItems, OfAnotherKindAreNone) {
  EXPECT_EQ(at(layer_of({8}), 1, {2, 3}, {4}), std::nullopt);
  EXPECT_EQ(at(layer_of({8, 5}), 5, {2, 3}, {4}), std::nullopt);
  EXPECT_EQ(at(layer_of({8, 2, 3}), 6, {}, {}), std::nullopt);
}

}  // namespace
}  // namespace assay::coverage
