#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <assay/dataset.h>
#include <assay/error.h>

namespace assay::training {
namespace {

Batch all_of(const DatasetPtr& data) {
  std::vector<std::size_t> indices(data->size());
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  return data->read(indices);
}

TEST(Digits, AreBalancedEightBitImagesInTheUnitRange) {
  const DatasetPtr data = open_dataset("digits:200,seed=5");
  EXPECT_EQ(data->record_shape(), (Shape{1, 28, 28}));
  const Batch batch = all_of(data);
  std::vector<int> counts(10);
  for (const std::int64_t label : batch.labels) ++counts.at(static_cast<std::size_t>(label));
  EXPECT_EQ(counts, std::vector<int>(10, 20));
  for (const float value : batch.inputs.as<float>()) {
    ASSERT_GE(value, 0.0f);
    ASSERT_LE(value, 1.0f);
    ASSERT_NEAR(value * 255, std::round(value * 255), 1e-4);
  }
}

TEST(Digits, ARecordDependsOnSeedAndPositionAlone) {
  const DatasetPtr few = open_dataset("digits:20,seed=5"), many = open_dataset("digits:50,seed=5");
  const std::vector<std::size_t> backwards{17, 3};
  const Batch a = few->read(backwards), b = all_of(many);
  EXPECT_TRUE(std::equal(a.inputs.as<float>().begin(), a.inputs.as<float>().begin() + 784,
                         b.inputs.as<float>().begin() + 17 * 784));
  EXPECT_EQ(a.labels[1], b.labels[3]);
  const Batch other = all_of(open_dataset("digits:50,seed=6"));
  EXPECT_FALSE(
      std::equal(b.inputs.as<float>().begin(), b.inputs.as<float>().end(), other.inputs.as<float>().begin()));
}

TEST(Digits, EveryPictureHasInkAndPaper) {
  const Batch batch = all_of(open_dataset("digits:300,seed=9"));
  const auto pixels = batch.inputs.as<float>();
  for (std::size_t i = 0; i < 300; ++i) {
    const auto picture = pixels.subspan(i * 784, 784);
    const double ink = std::accumulate(picture.begin(), picture.end(), 0.0);
    EXPECT_GT(ink, 10) << i;
    EXPECT_LT(ink, 400) << i;
  }
}

TEST(Digits, ACountThatIsNoneIsAnError) {
  for (const char* spec : {"digits:0", "digits:ten", "digits:-4"})
    EXPECT_THROW(open_dataset(spec), Error) << spec;
}

}  // namespace
}  // namespace assay::training
