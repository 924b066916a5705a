#include <numeric>

#include "files.h"

namespace assay::testing {
namespace {

TEST(BatchReader, AnyBatchSizeGivesTheSameRecordsInOrder) {
  const auto data = open_dataset("digits:37,seed=2");
  const auto expected = all_values(*data);
  for (const std::size_t batch : {0U, 1U, 5U, 36U, 37U, 100U}) {
    for (const std::size_t ahead : {0U, 1U, 4U}) {
      BatchReader reader(data, batch, {}, ahead);
      std::vector<float> read;
      std::vector<std::size_t> indices;
      while (const auto next = reader.next()) {
        EXPECT_LE(next->indices.size(), std::max<std::size_t>(batch, 1));
        read.insert(read.end(), next->inputs.as<float>().begin(), next->inputs.as<float>().end());
        indices.insert(indices.end(), next->indices.begin(), next->indices.end());
      }
      EXPECT_EQ(read, expected);
      std::vector<std::size_t> all(37);
      std::iota(all.begin(), all.end(), std::size_t{0});
      EXPECT_EQ(indices, all);
      EXPECT_FALSE(reader.next().has_value());
    }
  }
}

TEST(BatchReader, ChosenRecordsInTheirOrder) {
  const auto data = open_dataset("digits:10");
  BatchReader reader(data, 2, {7, 7, 1});
  EXPECT_THAT(reader.next()->indices, ::testing::ElementsAre(7, 7));
  EXPECT_THAT(reader.next()->indices, ::testing::ElementsAre(1));
  EXPECT_FALSE(reader.next().has_value());
}

TEST(BatchReader, ErrorsComeAfterTheGoodBatches) {
  const std::string path = put("x.csv", "1\n2\n3\nnan\n5\n");
  BatchReader reader(open_dataset(path), 2);
  EXPECT_THAT(reader.next()->inputs.as<float>(), ::testing::ElementsAre(1, 2));
  for (int again = 0; again < 2; ++again)
    expect_error(Fault::data, {"x.csv", "record '3'"}, [&] { reader.next(); });
}

TEST(BatchReader, MayBeLeftEarly) {
  const auto data = open_dataset("digits:200");
  BatchReader reader(data, 3);
  EXPECT_TRUE(reader.next().has_value());
}

}  // namespace
}  // namespace assay::testing
