#include <gmock/gmock.h>

#include <assay/extend/hypothesis.h>

namespace assay::inspection {
namespace {

TEST(Label, GivesTheClassAndOneHypothesisForEachClass) {
  const DatasetPtr digits = open_dataset("digits:12,seed=3");
  const auto label = make_annotator("label", digits, {});
  ASSERT_EQ(label->hypotheses().size(), 11U);
  EXPECT_EQ(label->hypotheses()[4].name, "label:3");
  const std::vector<std::size_t> first{0};
  const Batch batch = digits->read(first);
  const Behaviours behaviours = label->annotate({*digits, batch, {}});
  ASSERT_EQ(behaviours.values.size(), 11U);
  EXPECT_EQ(behaviours.values[0], static_cast<float>(batch.labels[0]));
  EXPECT_EQ(behaviours.values[1 + static_cast<std::size_t>(batch.labels[0])], 1.0F);
}

}  // namespace
}  // namespace assay::inspection
