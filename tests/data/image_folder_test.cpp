#include "assay/data/files/image_folder.h"

#include <assay/records.h>
#include "files.h"

namespace assay::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatEq;
namespace fs = std::filesystem;

// Records [1, 2, 2] from -1 to 1 of classes 11 and 2 of twelve.
DatasetPtr pictures(const std::vector<float>& values,
                    RecordOptions options = {.valid_range = ValidRange{{-1}, {1}}}) {
  for (int c = 0; c < 12; ++c) options.class_names.push_back("class " + std::to_string(c));
  const auto count = static_cast<std::int64_t>(values.size() / 4);
  std::vector<std::int64_t> labels(static_cast<std::size_t>(count), 2);
  labels[0] = 11;
  return from_arrays(Array::of<float>({count, 1, 2, 2}, values), labels, options);
}

TEST(ImageFolder, HoldsTheRecordsByClass) {
  const DatasetPtr data = pictures({-1, 1, 0.2F, 0.6F, 1, 1, -1, -1, -1, -1, -1, 1});
  const fs::path folder = temporary("pictures");
  const PixelScale scale = write_image_folder(*data, folder);
  EXPECT_EQ(scale.low, -1);
  EXPECT_EQ(scale.high, 1);
  EXPECT_NEAR(scale.changed, 0, 1e-6);  // all are multiples of 2 / 255 above -1
  EXPECT_TRUE(fs::exists(folder / "11" / "0.png"));
  EXPECT_TRUE(fs::exists(folder / "02" / "1.png"));
  EXPECT_TRUE(fs::is_directory(folder / "05"));
  const DatasetPtr read = open_dataset(folder.string() + ",color=grey");
  EXPECT_THAT(labels(*read), ElementsAre(0, 0, 1));  // of the classes that have pictures
  EXPECT_THAT(values(*read, 2), ElementsAre(0, 1, FloatEq(0.6F), FloatEq(0.8F)));
}

TEST(ImageFolder, SaysHowMuchRoundingAndCuttingOffChange) {
  const fs::path folder = temporary("rounded");
  EXPECT_NEAR(write_image_folder(*pictures({-1, 1, 0, 1}), folder).changed, 1.0 / 255, 1e-6);
  EXPECT_NEAR(write_image_folder(*pictures({-1, 1.25F, 1, 1}), folder).changed, 0.25, 1e-6);
}

TEST(ImageFolder, WhatIsNoPictureIsAnError) {
  const fs::path folder = temporary("none");
  expect_error(Fault::usage, {"not pictures"}, [&] {
    write_image_folder(*from_arrays(Array::zeros(DType::float32, {2, 3}), {0, 1}), folder);
  });
  expect_error(Fault::usage, {"no classes"}, [&] {
    write_image_folder(*from_arrays(Array::zeros(DType::float32, {2, 1, 2, 2})), folder);
  });
  expect_error(Fault::usage, {"black and white"}, [&] {
    write_image_folder(*pictures({0, 0, 0, 0}, {}), folder);
  });
}

}  // namespace
}  // namespace assay::testing
