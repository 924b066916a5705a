#include <unistd.h>

#include <assay/dataset.h>
#include "assay/data/storage.h"
#include "files.h"

namespace assay::testing {
namespace {

using ::testing::ElementsAre;
namespace fs = std::filesystem;

const std::string two_images("\x00\x33\x66\x99\xCC\xFF\x01\x02", 8);

// Two 2x2 images with labels 3 and 1 beside them.
std::string put_pair(bool gzip = false) {
  const std::string images = idx_bytes(8, {2, 2, 2}, two_images), marks = idx_bytes(8, {2}, "\x03\x01");
  put(gzip ? "t-labels-idx1-ubyte.gz" : "t-labels-idx1-ubyte", gzip ? gzipped(marks) : marks);
  return put(gzip ? "t-images-idx3-ubyte.gz" : "t-images-idx3-ubyte", gzip ? gzipped(images) : images);
}

TEST(Idx, ImagesAndTheLabelsBesideThem) {
  for (const bool gzip : {false, true}) {
    const auto data = open_dataset(put_pair(gzip) + ",scale=1");
    EXPECT_EQ(data->size(), 2U);
    EXPECT_EQ(data->record_shape(), (Shape{1, 2, 2}));
    EXPECT_THAT(values(*data, 0), ElementsAre(0, 51, 102, 153));
    EXPECT_THAT(values(*data, 1), ElementsAre(204, 255, 1, 2));
    EXPECT_THAT(labels(*data), ElementsAre(3, 1));
    EXPECT_EQ(data->class_count(), 4U);
    EXPECT_THAT(ids(*data), ElementsAre("0", "1"));
  }
}

TEST(Idx, EveryElementType) {
  const auto read = [](int type, const std::string& bytes) {
    return all_values(*open_dataset(put("x.idx", idx_bytes(type, {2, 1}, bytes)) + ",scale=1"));
  };
  EXPECT_THAT(read(0x08, std::string("\xFF\x01", 2)), ElementsAre(255, 1));
  EXPECT_THAT(read(0x09, std::string("\xFF\x01", 2)), ElementsAre(-1, 1));
  EXPECT_THAT(read(0x0B, std::string("\xFF\xFE\x01\x00", 4)), ElementsAre(-2, 256));
  EXPECT_THAT(read(0x0C, std::string("\xFF\xFF\xFF\xFD\x00\x01\x00\x00", 8)), ElementsAre(-3, 65536));
  EXPECT_THAT(read(0x0D, std::string("\x3F\x80\x00\x00\xC0\x20\x00\x00", 8)), ElementsAre(1, -2.5));
  EXPECT_THAT(read(0x0E, std::string("\x3F\xF0\x00\x00\x00\x00\x00\x00\xC0\x04\x00\x00\x00\x00\x00\x00", 16)),
              ElementsAre(1, -2.5));
}

TEST(Idx, StorageIsTheSameInMemoryInPlaceAndInATemporaryFile) {
  std::string bytes(100'000, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * i % 251);
  const std::string plain = put("plain", bytes), packed = put("packed.gz", gzipped(bytes));
  for (const std::string& path : {plain, packed}) {
    for (const std::uint64_t in_memory : {0, 5'000'000}) {
      const StoredBytes stored(path, bytes.size(), in_memory);
      for (const std::size_t offset : {0U, 777U, 99'990U}) {
        std::string out(10, '\0');
        stored.read(offset, out.data(), out.size());
        EXPECT_EQ(out, bytes.substr(offset, 10));
      }
    }
  }
}

TEST(Idx, TemporaryFilesSayWhereTheyWouldLie) {
  const char* const before = std::getenv("TMPDIR");
  const std::string saved = before == nullptr ? "" : before;
  setenv("TMPDIR", "/nonexistent/folder", 1);
  expect_error(Fault::io, {"big.tar.gz", "/nonexistent/folder", "TMPDIR"},
               [] { FileBytes::temporary("big.tar.gz"); });
  if (before == nullptr)
    unsetenv("TMPDIR");
  else
    setenv("TMPDIR", saved.c_str(), 1);
}

TEST(IdxErrors, TruncatedFilesNameThemselves) {
  const std::string whole = idx_bytes(8, {2, 2, 2}, two_images), packed = gzipped(whole);
  expect_data_error(Fault::data, {"cut.idx", "promises 24 bytes", "23"},
                    put("cut.idx", whole.substr(0, whole.size() - 1)));
  expect_data_error(Fault::data, {"more.idx", "promises 24 bytes", "25"}, put("more.idx", whole + "x"));
  expect_data_error(Fault::data, {"head.idx", "header is cut short"},
                    put("head.idx", whole.substr(0, 9)) + ",format=idx");
  expect_data_error(Fault::data, {"cut.gz", "cut short"},
                    put("cut.gz", packed.substr(0, packed.size() - 9)) + ",format=idx");
  expect_data_error(Fault::data, {"tiny.idx", "not an IDX file"},
                    put("tiny.idx", std::string("\0\0", 2)) + ",format=idx");
  std::string damaged = packed;
  damaged[packed.size() / 2] = static_cast<char>(damaged[packed.size() / 2] ^ 0x55);
  expect_data_error(Fault::data, {"bad.gz", "bad.gz"}, put("bad.gz", damaged) + ",format=idx");
}

TEST(IdxErrors, BadMagic) {
  expect_data_error(Fault::data, {"magic.idx", "not an IDX"},
                    put("magic.idx", "\1\2\3\4 something") + ",format=idx");
  expect_data_error(Fault::data, {"type.idx", "0x7"},
                    put("type.idx", idx_bytes(7, {1}, "x")) + ",format=idx");
  expect_data_error(Fault::data, {"magic.bin", "format=NAME"}, put("magic.bin", "\1\2\3\4 something"));
}

TEST(IdxErrors, GiantDimensionsAreNotAllocated) {
  const std::string giant = put("giant.idx", idx_bytes(8, {0xFFFFFFFF, 28, 28}, "abc"));
  expect_data_error(Fault::data, {"giant.idx", "promises"}, giant);
  const std::string overflow = idx_bytes(14, {0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}, "abc");
  EXPECT_THROW(open_dataset(put("overflow.idx", overflow)), Error);
  expect_data_error(Fault::data, {"bomb.gz", "at least"},
                    put("bomb.gz", gzipped(idx_bytes(8, {2, 2}, std::string(50'000'000, 'x')))));
}

// Four thousand million records of nothing were 32 GiB of positions.
TEST(IdxErrors, RecordsWithoutElementsAreNotCounted) {
  expect_data_error(Fault::data, {"nothing.idx", "no elements"},
                    put("nothing.idx", idx_bytes(8, {0xFFFFFFFF, 0}, "")));
}

TEST(IdxErrors, EmptySet) {
  expect_data_error(Fault::data, {"empty.idx", "no records"}, put("empty.idx", idx_bytes(8, {0, 2, 2}, "")));
}

TEST(IdxErrors, LabelsThatDoNotFit) {
  const std::string images = put("a.idx", idx_bytes(8, {2, 2, 2}, two_images));
  expect_data_error(Fault::data, {"few.idx", "do not fit 2 records", "a.idx"},
                    images + ",labels=" + put("few.idx", idx_bytes(8, {1}, "\1")));
  expect_data_error(Fault::data, {"a.idx", "record '1'", "label -2"},
                    images + ",labels=" + put("low.idx", idx_bytes(9, {2}, "\1\xFE")));
  expect_data_error(
      Fault::data, {"a.idx", "record '0'", "16777216"},
      images + ",labels=" + put("high.idx", idx_bytes(12, {2}, std::string("\1\0\0\0\0\0\0\1", 8))));
  expect_data_error(Fault::io, {"absent.idx", "no such file"},
                    images + ",labels=" + temporary("absent.idx").string());
}

// NaN was converted to an integer.
TEST(IdxErrors, FloatingPointLabels) {
  const std::string images = put("a.idx", idx_bytes(8, {1, 2, 2}, "abcd"));
  expect_data_error(Fault::data, {"nan.idx", "floating-point"},
                    images + ",labels=" + put("nan.idx", idx_bytes(13, {1}, std::string("\x7F\xC0\0\0", 4))));
}

TEST(IdxErrors, NotANumberNamesTheRecord) {
  const std::string elements("\x3F\x80\0\0\x7F\xC0\0\0", 8);
  expect_data_error(Fault::data, {"nan.idx", "record '1'", "NaN"},
                    put("nan.idx", idx_bytes(13, {2, 1}, elements)));
}

TEST(IdxErrors, MissingFilesFoldersAndPermission) {
  expect_data_error(Fault::io, {"absent.idx", "no such file"}, temporary("absent.idx").string());
  expect_data_error(Fault::io, {"is a folder"}, temporary("x").parent_path().string() + ",format=idx");
  expect_data_error(Fault::io, {"File name too long"}, std::string(5000, 'x'));
  if (geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const std::string path = put("locked.idx", idx_bytes(8, {1}, "x"));
  fs::permissions(path, fs::perms::none);
  expect_data_error(Fault::io, {"locked.idx", "ermission denied"}, path);
}

}  // namespace
}  // namespace assay::testing
