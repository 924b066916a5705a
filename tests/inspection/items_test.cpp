// Labels of items as hypotheses.

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include <assay/error.h>
#include <assay/extend/hypothesis.h>
#include <assay/records.h>

namespace assay::inspection {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::NanSensitiveFloatEq;

DatasetPtr records_with_items(const Shape& shape, const std::vector<std::vector<float>>& labels,
                              std::vector<std::string> class_names = {}) {
  Shape all = shape;
  all.insert(all.begin(), static_cast<std::int64_t>(labels.size()));
  std::vector<float> targets;
  for (const auto& one : labels) targets.insert(targets.end(), one.begin(), one.end());
  const auto width = static_cast<std::int64_t>(labels[0].size());
  RecordOptions options;
  options.class_names = std::move(class_names);
  options.targets = Array::of<float>({static_cast<std::int64_t>(labels.size()), width}, targets);
  return from_arrays(Array::of<float>(all, std::vector<float>(static_cast<std::size_t>(element_count(all)))),
                     {}, std::move(options));
}

struct ItemsSaid {
  std::vector<std::string> names;
  Behaviours behaviours;
};

ItemsSaid items_said(const std::string& spec, const DatasetPtr& data) {
  const auto items = make_annotator(annotator_choice(spec), data, {});
  ItemsSaid all;
  for (const Hypothesis& one : items->hypotheses()) all.names.push_back(one.name);
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < data->size(); ++i) indices.push_back(i);
  const Batch batch = data->read(indices);
  all.behaviours = items->annotate({*data, batch, {}});
  return all;
}

std::string items_fault(const std::string& spec, const DatasetPtr& data) {
  try {
    items_said(spec, data);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

constexpr float no_number = std::numeric_limits<float>::quiet_NaN();

TEST(ItemsHypothesis, OfPixelsAreTheirClasses) {
  const ItemsSaid found =
      items_said("items[ignore=9,names=sky+road]", records_with_items({1, 1, 3}, {{0, 1, 9}, {1, 1, 0}}));
  EXPECT_THAT(found.names, ElementsAre("items", "items:sky", "items:road"));
  EXPECT_EQ(found.behaviours.positions, (Shape{1, 3}));
  EXPECT_THAT(std::vector<float>(found.behaviours.values.begin(), found.behaviours.values.begin() + 9),
              ElementsAre(0, 1, NanSensitiveFloatEq(no_number), 1, 0, NanSensitiveFloatEq(no_number), 0, 1,
                          NanSensitiveFloatEq(no_number)));
}

TEST(ItemsHypothesis, OfTokensHaveAPositionEach) {
  const ItemsSaid found = items_said("items", records_with_items({4, 2}, {{0, 2, 1, -1}}));
  EXPECT_EQ(found.behaviours.positions, (Shape{4}));
  EXPECT_THAT(found.names, ElementsAre("items", "items:0", "items:1", "items:2"));
}

TEST(ItemsHypothesis, OfVolumesAndSignalsHaveAPositionEach) {
  const ItemsSaid volume = items_said("items", records_with_items({1, 1, 2, 2}, {{0, 2, 1, 0}}));
  EXPECT_EQ(volume.behaviours.positions, (Shape{1, 2, 2}));
  EXPECT_THAT(volume.names, ElementsAre("items", "items:0", "items:1", "items:2"));
  const ItemsSaid signal = items_said("items[of=positions]", records_with_items({2, 3}, {{0, 2, 1}}));
  EXPECT_EQ(signal.behaviours.positions, (Shape{3}));
}

TEST(ItemsHypothesis, LabelsThatMayBeOfASignalOrNotAreAskedFor) {
  EXPECT_THAT(items_fault("items", records_with_items({2, 3}, {{0, 2, 1}})),
              HasSubstr("say items[of=positions] or items[of=numbers]"));
  EXPECT_THAT(items_fault("items", records_with_items({2, 3}, {{0, 1, 1}})),
              HasSubstr("say items[of=positions] or items[of=labels]"));
  const ItemsSaid numbers = items_said("items", records_with_items({2, 3}, {{0, 0.5F, 1}}));
  EXPECT_TRUE(numbers.behaviours.positions.empty());
}

TEST(ItemsHypothesis, OfBoxesAreThePixelsInside) {
  // A box over the first two pixels of the first row, an ignored one over the last pixel.
  const DatasetPtr data =
      records_with_items({1, 2, 3}, {{0, 0, 0, 2, 1, -3, 2, 1, 3, 2, -1, 0, 0, 0, 0}}, {"cat", "dog"});
  const ItemsSaid found = items_said("items", data);
  EXPECT_THAT(found.names, ElementsAre("items:cat", "items:dog"));
  EXPECT_EQ(found.behaviours.positions, (Shape{2, 3}));
  EXPECT_THAT(found.behaviours.values,
              ElementsAre(1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, NanSensitiveFloatEq(no_number)));
}

TEST(ItemsHypothesis, OfSeveralLabelsAndNumbersHaveOneValueARecord) {
  const ItemsSaid labels = items_said("items[names=a+b]", records_with_items({5}, {{0, 1}, {-1, 1}}));
  EXPECT_THAT(labels.names, ElementsAre("items:a", "items:b"));
  EXPECT_TRUE(labels.behaviours.positions.empty());
  EXPECT_THAT(labels.behaviours.values, ElementsAre(0, 1, NanSensitiveFloatEq(no_number), 1));
  const ItemsSaid numbers = items_said("items", records_with_items({5}, {{0.5F, -1}}));
  EXPECT_THAT(numbers.behaviours.values, ElementsAre(0.5F, -1));
}

TEST(ItemsHypothesis, WhatDoesNotFitIsSaid) {
  EXPECT_THAT(items_fault("items", from_arrays(Array::of<float>({1, 2}, std::vector<float>(2)), {0})),
              HasSubstr("has no labels of items"));
  EXPECT_THAT(items_fault("items[of=positions]", records_with_items({5}, {{0, 1}})),
              HasSubstr("one for each position"));
  EXPECT_THAT(items_fault("items[of=labels]", records_with_items({5}, {{0, 3}})),
              HasSubstr("are not 0 and 1"));
  EXPECT_THAT(items_fault("items[names=a]", records_with_items({1, 1, 2}, {{0, 1}})),
              HasSubstr("label 1 is not one of 1 classes"));
  EXPECT_THAT(items_fault("items[names=a]", records_with_items({5}, {{0, 1}})),
              HasSubstr("1 names for 2 labels"));
}

}  // namespace
}  // namespace assay::inspection
