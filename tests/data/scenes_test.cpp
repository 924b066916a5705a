// Procedural scenes.

#include <gmock/gmock.h>

#include <cmath>
#include <set>

#include <assay/dataset.h>
#include "tests/data/files.h"

namespace assay {
namespace {

std::vector<float> values_of(const Dataset& data, std::size_t index) {
  const Batch batch = data.read(std::span(&index, 1));
  const auto values = batch.inputs.as<float>();
  return {values.begin(), values.end()};
}

TEST(Scenes, ArePicturesOfTenClasses) {
  const DatasetPtr data = open_dataset("scenes:200");
  EXPECT_EQ(data->record_shape(), (Shape{3, 32, 32}));
  ASSERT_EQ(data->class_count(), 10U);
  EXPECT_EQ(data->class_names()[3], "checked square");
  std::set<std::int64_t> classes;
  for (std::size_t i = 0; i < data->size(); ++i) classes.insert(data->label(i));
  EXPECT_EQ(classes.size(), 10U);
  EXPECT_EQ(values_of(*data, 7), values_of(*open_dataset("scenes:8"), 7));
  EXPECT_NE(values_of(*data, 7), values_of(*open_dataset("scenes:8,seed=2"), 7));
}

// The views agree on where the ground is, and the object that gives the class is the larger one.
TEST(Scenes, MasksAreOfTheSameScene) {
  const DatasetPtr data = open_dataset("scenes:60"), shapes = open_dataset("scenes:60,show=shapes"),
                   textures = open_dataset("scenes:60,show=textures"),
                   colours = open_dataset("scenes:60,show=colours");
  EXPECT_EQ(shapes->record_shape(), (Shape{32, 32}));
  std::size_t agree = 0;
  for (std::size_t i = 0; i < data->size(); ++i) {
    const std::vector<float> shape = values_of(*shapes, i), texture = values_of(*textures, i),
                             colour = values_of(*colours, i), picture = values_of(*data, i);
    EXPECT_EQ(data->label(i), shapes->label(i));
    std::vector<int> count(6);
    double red = 0, reds = 0;
    for (std::size_t p = 0; p < 32 * 32; ++p) {
      EXPECT_EQ(shape[p] == 0, colour[p] == 0);
      EXPECT_EQ(shape[p] == 0, texture[p] == 0);
      EXPECT_TRUE(shape[p] <= 5 && texture[p] <= 2 && colour[p] <= 6);
      ++count[static_cast<std::size_t>(shape[p])];
      if (colour[p] == 1) red += picture[p] - picture[p + 2 * 32 * 32], ++reds;
    }
    if (reds > 20) {
      EXPECT_GT(red / reds, 0.3 * (data->valid_range() ? data->valid_range()->high[0] : 255));
    }
    const auto largest = std::max_element(count.begin() + 1, count.end()) - count.begin() - 1;
    agree += largest == data->label(i) / 2;
  }
  EXPECT_GT(agree, 55U);
}

TEST(Scenes, SayWhatTheyCannotShow) {
  testing::expect_data_error(Fault::usage, {"show=shape", "did you mean 'shapes'"}, "scenes:5,show=shape");
  testing::expect_data_error(Fault::usage, {"scenes:0", "between 1"}, "scenes:0");
}

}  // namespace
}  // namespace assay
