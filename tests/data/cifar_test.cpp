#include "files.h"

namespace assay::testing {
namespace {

using ::testing::ElementsAre;

// One record with constant colour planes.
std::string record(const std::string& label, char r, char g, char b) {
  return label + std::string(1024, r) + std::string(1024, g) + std::string(1024, b);
}

TEST(Cifar, TenClassesInAFile) {
  const auto data =
      open_dataset(put("data_batch_1.bin", record("\x07", 1, 2, 3) + record("\x02", 4, 5, 6)) + ",scale=1");
  EXPECT_EQ(data->record_shape(), (Shape{3, 32, 32}));
  EXPECT_THAT(labels(*data), ElementsAre(7, 2));
  const auto pixels = values(*data, 1);
  EXPECT_EQ(pixels[0], 4);
  EXPECT_EQ(pixels[1024], 5);
  EXPECT_EQ(pixels[3071], 6);
}

TEST(Cifar, HundredClassesTakeTheFineLabel) {
  const auto data = open_dataset(put("train.bin", record("\x03\x63", 1, 2, 3)));
  EXPECT_THAT(labels(*data), ElementsAre(99));
  EXPECT_EQ(data->class_count(), 100U);
}

TEST(Cifar, FoldersAndArchivesOfBatches) {
  const std::string one = record("\x01", 1, 1, 1), two = record("\x02", 2, 2, 2),
                    test = record("\x03", 3, 3, 3);
  put("folder/data_batch_2.bin", two);
  put("folder/test_batch.bin", test);
  const std::string folder =
      std::filesystem::path(put("folder/data_batch_1.bin", one)).parent_path().string();
  const std::vector<Entry> entries{{"cifar-10-batches-bin", "", Entry::Kind::folder},
                                   {"cifar-10-batches-bin/batches.meta.txt", "airplane\n"},
                                   {"cifar-10-batches-bin/data_batch_2.bin", two},
                                   {"cifar-10-batches-bin/test_batch.bin", test},
                                   {"cifar-10-batches-bin/data_batch_1.bin", one}};
  for (const std::string& path :
       {folder, put_archive("cifar-10-binary.tar.gz", entries), put_archive("any-name.tar", entries)}) {
    EXPECT_THAT(labels(*open_dataset(path)), ElementsAre(1, 2)) << path;
    const auto tests = open_dataset(path + ",part=test,scale=1");
    EXPECT_THAT(labels(*tests), ElementsAre(3));
    EXPECT_EQ(values(*tests, 0)[2000], 3);
  }
}

TEST(CifarErrors, TruncatedMislabelledAndMissing) {
  const std::string whole = record("\x01", 1, 1, 1);
  expect_data_error(Fault::data, {"data_batch_1.bin", "not whole CIFAR records of 3073"},
                    put("data_batch_1.bin", whole.substr(1)));
  expect_data_error(Fault::data, {"data_batch_2.bin", "0 bytes"}, put("data_batch_2.bin", ""));
  expect_data_error(Fault::data, {"data_batch_3.bin", "record 1 has label 10"},
                    put("data_batch_3.bin", whole + record("\x0A", 1, 1, 1)));
  expect_data_error(Fault::data, {"test.bin", "record 0 has label 100"},
                    put("test.bin", record("\x01\x64", 1, 1, 1)));
  expect_data_error(Fault::data, {"a.tar.gz", "data_batch_1.bin", "not whole"},
                    put_archive("a.tar.gz", {{"data_batch_1.bin", "short"}}));
  const std::string folder =
      std::filesystem::path(put("none/data_batch_1.bin", whole)).parent_path().string();
  expect_data_error(Fault::data, {"none", "no CIFAR batches"}, folder + ",part=test");
  put("mixed/data_batch_1.bin", whole);
  const std::string mixed =
      std::filesystem::path(put("mixed/train.bin", record("\x01\x01", 1, 1, 1))).parent_path().string();
  expect_data_error(Fault::data, {"train.bin", "side by side"}, mixed);
}

}  // namespace
}  // namespace assay::testing
