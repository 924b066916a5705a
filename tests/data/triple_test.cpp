#include "assay/data/files/triple.h"

#include <gtest/gtest.h>

#include <limits>

namespace assay::testing {
namespace {

constexpr int side = 112,
              gap = 4;  // of one picture of two by two pixels, 56 times enlarged; between pictures

// The middle of pixel (x, y) of the picture `part` of two pixels by two.
int seen(const Image& image, int part, int x, int y, int channel = 0) {
  return image.at(part * (side + gap) + x * 56 + 28, y * 56 + 28, channel);
}

TEST(Triples, ShowBeforeAfterAndDifference) {
  const std::vector<float> before{-1, 0, 1, 0.5}, after{-1, 0.25, 0.75, 0.5};
  const Triple triple = triple_of(before, after, {1, 2, 2}, {{-1}, {1}});
  EXPECT_EQ(triple.image.width, 3 * side + 2 * gap);
  EXPECT_EQ(triple.image.height, side);
  EXPECT_EQ(triple.image.channels, 1);
  // (v + 1) / 2 of 255, to the nearest.
  EXPECT_EQ(seen(triple.image, 0, 0, 0), 0);
  EXPECT_EQ(seen(triple.image, 0, 1, 0), 128);
  EXPECT_EQ(seen(triple.image, 0, 0, 1), 255);
  EXPECT_EQ(seen(triple.image, 1, 1, 0), 159);
  // An eighth of the range is the greatest difference: up is white, down is black, the rest grey.
  EXPECT_DOUBLE_EQ(triple.amplification, 8);
  EXPECT_EQ(seen(triple.image, 2, 0, 0), 128);
  EXPECT_EQ(seen(triple.image, 2, 1, 0), 255);
  EXPECT_EQ(seen(triple.image, 2, 0, 1), 0);
  EXPECT_EQ(seen(triple.image, 2, 1, 1), 128);
}

TEST(Triples, MapEachChannelFromItsOwnRange) {
  std::vector<float> before(12), after(12);
  for (int c = 0; c < 3; ++c) {
    for (std::size_t i = 0; i < 4; ++i)
      before[4 * static_cast<std::size_t>(c) + i] = after[4 * static_cast<std::size_t>(c) + i] =
          static_cast<float>(c);
  }
  after[4] += 1;  // first pixel of the second channel
  const Triple triple = triple_of(before, after, {3, 2, 2}, {{0, -1, 0}, {4, 3, 2}});
  EXPECT_EQ(triple.image.channels, 3);
  EXPECT_EQ(seen(triple.image, 0, 0, 0, 0), 0);
  EXPECT_EQ(seen(triple.image, 0, 0, 0, 1), 128);
  EXPECT_EQ(seen(triple.image, 0, 0, 0, 2), 255);
  EXPECT_DOUBLE_EQ(triple.amplification, 4);
  EXPECT_EQ(seen(triple.image, 2, 0, 0, 1), 255);
  EXPECT_EQ(seen(triple.image, 2, 0, 0, 0), 128);
}

TEST(Triples, OfRecordsThatDidNotChangeOrAreNotFiniteAreDrawn) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> same{0, 1, nan, 1};
  const Triple triple = triple_of(same, same, {1, 2, 2}, {{0}, {1}});
  EXPECT_DOUBLE_EQ(triple.amplification, 1);
  for (const int y : {0, 1}) {
    for (const int x : {0, 1}) EXPECT_EQ(seen(triple.image, 2, x, y), 128);
  }
  EXPECT_EQ(seen(triple.image, 0, 0, 1), 0);
}

TEST(Triples, OfLargeRecordsAreNotEnlarged) {
  const std::vector<float> record(120 * 80, 0.5F);
  const Triple triple = triple_of(record, record, {1, 80, 120}, {{0}, {1}});
  EXPECT_EQ(triple.image.width, 3 * 120 + 2 * gap);
  EXPECT_EQ(triple.image.height, 80);
}

}  // namespace
}  // namespace assay::testing
