#include "assay/data/files/numpy.h"

#include "assay/data/files/npy_rows.h"

#include <assay/dataset.h>
#include <assay/error.h>

#include <zip.h>

#include <fstream>
#include <map>

#include "assay/support/files/file.h"
#include "files.h"

namespace assay::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

std::string header(const std::string& type, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + type + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }";
}

template <typename T>
std::vector<float> parsed(const std::string& type, const std::vector<T>& elements) {
  const Array array =
      parse_npy(npy_bytes(header(type, "(" + std::to_string(elements.size()) + ",)"), raw_bytes(elements)),
                "x")
          .to(DType::float32);
  return {array.as<float>().begin(), array.as<float>().end()};
}

TEST(Npy, EveryElementType) {
  EXPECT_THAT(parsed<float>("<f4", {1.5F, -2}), ElementsAre(1.5, -2));
  EXPECT_THAT(parsed<double>("<f8", {1.5, -2}), ElementsAre(1.5, -2));
  EXPECT_THAT(parsed<std::int64_t>("<i8", {7, -2}), ElementsAre(7, -2));
  EXPECT_THAT(parsed<std::int32_t>("<i4", {7, -2}), ElementsAre(7, -2));
  EXPECT_THAT(parsed<std::int16_t>("<i2", {7, -2}), ElementsAre(7, -2));
  EXPECT_THAT(parsed<std::int8_t>("|i1", {7, -2}), ElementsAre(7, -2));
  EXPECT_THAT(parsed<std::uint8_t>("|u1", {7, 254}), ElementsAre(7, 254));
  EXPECT_THAT(parsed<std::uint16_t>("<u2", {7, 65534}), ElementsAre(7, 65534));
  EXPECT_THAT(parsed<std::uint32_t>("<u4", {7, 1U << 31}), ElementsAre(7, 2147483648.0F));
  EXPECT_THAT(parsed<std::uint64_t>("<u8", {7, 9}), ElementsAre(7, 9));
  EXPECT_THAT(parsed<std::uint8_t>("|b1", {0, 1}), ElementsAre(0, 1));
  // IEEE 754 half precision: 1, -2, the smallest subnormal 2^-24, the largest number.
  EXPECT_THAT(parsed<std::uint16_t>("<f2", {0x3C00, 0xC000, 0x0001, 0x7BFF}),
              ElementsAre(1, -2, 5.9604645e-8F, 65504));
}

template <typename T>
std::string big_endian(std::vector<T> values) {
  std::string bytes = raw_bytes(values);
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(T))
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                 bytes.begin() + static_cast<std::ptrdiff_t>(at + sizeof(T)));
  return bytes;
}

TEST(Npy, BigEndianNumbersAndTexts) {
  const auto read = [](const std::string& type, const std::string& shape, const std::string& bytes,
                       bool fortran = false) {
    const Array array = parse_npy(npy_bytes(header(type, shape, fortran), bytes), "x").to(DType::float32);
    return std::vector<float>(array.as<float>().begin(), array.as<float>().end());
  };
  EXPECT_THAT(read(">f4", "(2,)", big_endian<float>({1.5F, -2})), ElementsAre(1.5, -2));
  EXPECT_THAT(read(">f8", "(2,)", big_endian<double>({1.5, -2})), ElementsAre(1.5, -2));
  EXPECT_THAT(read(">i8", "(2,)", big_endian<std::int64_t>({7, -2})), ElementsAre(7, -2));
  EXPECT_THAT(read(">i2", "(2,)", big_endian<std::int16_t>({700, -2})), ElementsAre(700, -2));
  EXPECT_THAT(read(">u4", "(1,)", big_endian<std::uint32_t>({1U << 31})), ElementsAre(2147483648.0F));
  EXPECT_THAT(read(">f2", "(2,)", big_endian<std::uint16_t>({0x3C00, 0xC000})), ElementsAre(1, -2));
  EXPECT_THAT(read(">f4", "(2, 3)", big_endian<float>({0, 3, 1, 4, 2, 5}), true),
              ElementsAre(0, 1, 2, 3, 4, 5));
  const std::string floats =
      put("big.npy", npy_bytes(header(">f4", "(2, 2)"), big_endian<float>({1, 2, 3, 4})));
  EXPECT_THAT(all_values(*open_dataset(floats)), ElementsAre(1, 2, 3, 4));
  const std::string turned =
      put("turned.npy", npy_bytes(header(">f8", "(2, 2)", true), big_endian<double>({1, 3, 2, 4})));
  EXPECT_THAT(all_values(*open_dataset(turned)), ElementsAre(1, 2, 3, 4));
  const std::string tokens =
      put("tokens.npy", npy_bytes(header(">i8", "(1, 2)"), big_endian<std::int64_t>({7, 300})));
  const std::size_t first = 0;
  EXPECT_THAT(open_dataset(tokens)->read(std::span(&first, 1)).inputs.as<std::int64_t>(),
              ElementsAre(7, 300));
  const Array texts =
      parse_npy_texts(npy_bytes(header(">U2", "(1,)"), big_endian<std::uint32_t>({'a', 0xE9})), "x");
  EXPECT_THAT(texts.as<std::uint8_t>(), ElementsAre('a', 0xC3, 0xA9));
}

// As the network calls its inputs, when no array has a usual name.
TEST(Npz, ArraysThatAreLeftAreInputsByTheirNames) {
  const auto file = [](const std::map<std::string, Array>& arrays) {
    const std::filesystem::path path = temporary("named.npz");
    write_npz(path, arrays);
    return path.string();
  };
  const Array tokens = Array::of<std::int64_t>({2, 3}, std::vector<std::int64_t>{1, 2, 3, 4, 5, 6}),
              mask = Array::of<float>({2, 3}, std::vector<float>(6, 1)),
              classes = Array::of<std::int64_t>({2}, std::vector<std::int64_t>{1, 0});
  const auto one = open_dataset(file({{"input_ids", tokens}, {"y", classes}}));
  EXPECT_EQ(one->record_shape(), (Shape{3}));
  EXPECT_EQ(one->facts().input_name, "");
  EXPECT_THAT(labels(*one), ElementsAre(1, 0));
  const auto two = open_dataset(file({{"input_ids", tokens}, {"attention_mask", mask}, {"labels", classes}}));
  EXPECT_EQ(two->facts().input_name, "attention_mask");
  ASSERT_EQ(two->facts().others.size(), 1U);
  EXPECT_EQ(two->facts().others[0].name, "input_ids");
  EXPECT_THAT(labels(*two), ElementsAre(1, 0));
  const Array other = Array::of<float>({5}, std::vector<float>(5, 1));
  expect_data_error(Fault::data, {"which array holds the inputs?"}, file({{"a", tokens}, {"b", other}}));
  expect_data_error(Fault::data, {"which array holds the inputs?"}, file({{"y", classes}}));
}

// Of keys and members of one name the last counts, as in Python's dictionaries and zip files.
TEST(Npy, OfTwoThingsOfOneNameTheLastCounts) {
  const Array array = parse_npy(
      npy_bytes("{'descr': '<f8', 'descr': '<f4', 'fortran_order': False, 'shape': (9,), 'shape': (1,), }",
                raw_bytes<float>({7})),
      "x");
  EXPECT_THAT(array.as<float>(), ElementsAre(7));
  const auto entry = [](float value) {
    return Entry{"x.npy", npy_bytes(header("<f4", "(1, 1)"), raw_bytes<float>({value}))};
  };
  const std::filesystem::path archive = put_archive("twice.zip", {entry(1), entry(2)});
  const std::filesystem::path named = temporary("twice.npz");
  std::filesystem::copy_file(archive, named);
  EXPECT_THAT(all_values(*open_dataset(named.string())), ElementsAre(2));
  EXPECT_THAT(read_npz(named).at("x").as<float>(), ElementsAre(2));
}

TEST(Npy, FortranOrderIsTurned) {
  // [[0, 1, 2], [3, 4, 5]] by columns.
  const Array array =
      parse_npy(npy_bytes(header("<f4", "(2, 3)", true), raw_bytes<float>({0, 3, 1, 4, 2, 5})), "x");
  EXPECT_EQ(array.shape(), (Shape{2, 3}));
  EXPECT_THAT(array.as<float>(), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(Npy, BytesAreImagesIntegersAreTokensFloatsAreValues) {
  const auto images =
      open_dataset(put("i.npy", npy_bytes(header("|u1", "(1, 2, 2)"), "\x01\x02\x03\x04")) + ",scale=1");
  EXPECT_EQ(images->record_shape(), (Shape{1, 2, 2}));
  EXPECT_THAT(values(*images, 0), ElementsAre(1, 2, 3, 4));
  const auto tokens =
      open_dataset(put("t.npy", npy_bytes(header("<i4", "(2, 2)"), raw_bytes<std::int32_t>({5, 6, 7, 8}))));
  EXPECT_EQ(tokens->dtype(), DType::int64);
  const std::size_t second[] = {1};
  EXPECT_THAT(tokens->read(second).inputs.as<std::int64_t>(), ElementsAre(7, 8));
  const auto floats =
      open_dataset(put("f.npy", npy_bytes(header("<f8", "(2, 2)"), raw_bytes<double>({5, 6, 7, 8}))));
  EXPECT_THAT(values(*floats, 1), ElementsAre(7, 8));
}

TEST(Npy, OutputsStandInAFileOfTheirOwn) {
  const std::string x = put("x.npy", npy_bytes(header("<f4", "(3, 1)"), raw_bytes<float>({1, 2, 3})));
  const std::string y = put("y.npy", npy_bytes(header("<i8", "(3,)"), raw_bytes<std::int64_t>({2, 0, 1})));
  EXPECT_THAT(labels(*open_dataset(x + ",y=" + y)), ElementsAre(2, 0, 1));
  EXPECT_THAT(labels(*open_dataset(x + ",labels=" + y)), ElementsAre(2, 0, 1));
  expect_data_error(Fault::io, {"absent.npy"}, x + ",y=absent.npy");
  expect_data_error(Fault::usage, {"y= and labels="}, x + ",y=" + y + ",labels=" + y);
  expect_data_error(Fault::usage, {"labels=FILE.csv"}, x + ",y=names.csv");
  expect_data_error(Fault::usage, {"part= chooses among the arrays"}, x + ",part=test");
}

TEST(Npz, EveryElementTypeIsReadAsItIsWritten) {
  const std::string path = temporary("types.npz").string();
  const Array numbers = Array::of<std::int64_t>({2, 2}, {0, 1, 2, 100});
  std::map<std::string, Array> arrays;
  for (const DType type :
       {DType::float32, DType::float64, DType::int64, DType::int32, DType::int8, DType::uint8, DType::boolean,
        DType::float16, DType::int16, DType::uint16, DType::uint32, DType::uint64})
    arrays.emplace(to_string(type), numbers.to(type));
  write_npz(path, arrays);
  const auto read = read_npz(path);
  EXPECT_EQ(read.size(), 12U);
  for (const auto& [name, array] : arrays) {
    EXPECT_EQ(to_string(read.at(name).dtype()), name);
    EXPECT_TRUE(read.at(name).equal(array)) << name;
  }
  expect_error(Fault::usage, {"bfloat16", "convert it to float32"}, [&] {
    write_npz(path, {{"x", numbers.to(DType::bfloat16)}});
  });
}

TEST(Npy, TokensAreThoseThatAnInt64Holds) {
  const auto tokens = [](std::uint64_t last) {
    return open_dataset(
        put("u.npy", npy_bytes(header("<u8", "(1, 2)"), raw_bytes<std::uint64_t>({5, last}))));
  };
  const std::size_t first[] = {0};
  EXPECT_THAT(tokens(6)->read(first).inputs.as<std::int64_t>(), ElementsAre(5, 6));
  expect_error(Fault::data, {"9223372036854775808", "more than an int64 holds"},
               [&] { tokens(std::uint64_t{1} << 63)->read(first); });
}

TEST(Npz, WhatIsWrittenIsRead) {
  const std::string path = temporary("a.npz").string();
  const Array x = Array::of<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  write_npz(path, {{"x", x},
                   {"y", Array::of<std::int64_t>({3}, {2, 0, 1})},
                   {"z", Array::of<double>({3, 1}, {.5, 1, 2})}});
  const auto arrays = read_npz(path);
  EXPECT_EQ(arrays.size(), 3U);
  EXPECT_THAT(arrays.at("x").as<float>(), ElementsAreArray(x.as<float>()));
  const auto data = open_dataset(path);
  EXPECT_THAT(labels(*data), ElementsAre(2, 0, 1));
  EXPECT_THAT(values(*data, 1), ElementsAre(3, 4));
  const auto regression = open_dataset(path + ",y=z");
  EXPECT_FALSE(regression->has_labels());
  EXPECT_EQ(regression->target_width(), 1U);
  const std::size_t first[] = {0};
  EXPECT_THAT(regression->read(first).targets.as<float>(), ElementsAre(.5));
}

TEST(Npz, OneHotOutputsAreClassesAndPartsAreChosen) {
  const std::string path = temporary("keras.npz").string();
  write_npz(path, {{"x_train", Array::of<float>({2, 1}, {1, 2})},
                   {"y_train", Array::of<float>({2, 3}, {0, 0, 1, 1, 0, 0})},
                   {"x_test", Array::of<float>({1, 1}, {9})},
                   {"y_test", Array::of<std::uint8_t>({1}, {1})}});
  EXPECT_THAT(labels(*open_dataset(path)), ElementsAre(2, 0));
  EXPECT_THAT(labels(*open_dataset(path + ",part=test")), ElementsAre(1));
  EXPECT_THAT(all_values(*open_dataset(path + ",part=test")), ElementsAre(9));
  expect_data_error(Fault::data, {"keras.npz", "'nothing'", "x_test"}, path + ",x=nothing");
}

TEST(Npz, ArraysWithoutElementsHaveTheRightChecksum) {
  const std::string path = temporary("empty.npz").string();
  write_npz(path, {{"ids", name_rows({})}, {"x", Array::of<float>({0, 2}, std::vector<float>())}});
  zip_t* const archive = zip_open(path.c_str(), ZIP_RDONLY | ZIP_CHECKCONS, nullptr);
  ASSERT_NE(archive, nullptr);
  for (zip_int64_t i = 0; i < 2; ++i) {
    zip_file_t* const file = zip_fopen_index(archive, static_cast<zip_uint64_t>(i), 0);
    std::string bytes(1000, ' ');
    EXPECT_GT(zip_fread(file, bytes.data(), bytes.size()), 0);
    EXPECT_EQ(zip_fread(file, bytes.data(), bytes.size()), 0);  // -1: the checksum is another one
    zip_fclose(file);
  }
  zip_discard(archive);
}

// Networks of token ids are often given them under this name, which otherwise names the records.
TEST(Npz, TheOnlyInputMayBeCalledIds) {
  const std::string path = temporary("tokens.npz").string();
  write_npz(path, {{"ids", Array::of<std::int64_t>({2, 3}, {1, 2, 3, 4, 5, 6})},
                   {"y", Array::of<std::int64_t>({2}, {0, 1})}});
  const DatasetPtr data = open_dataset(path + ",x=ids");
  EXPECT_THAT(labels(*data), ElementsAre(0, 1));
  EXPECT_THAT(ids(*data), ElementsAre("0", "1"));
  EXPECT_EQ(data->record_shape(), (Shape{3}));
}

TEST(Npz, TextsNameRecords) {
  const std::string path = temporary("named.npz").string();
  const auto with = [&](const std::string& type, const std::string& body) {
    zip_t* const archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
    const std::vector<float> x{1, 2};
    const std::string arrays[] = {npy_bytes(header("<f4", "(2, 1)"), raw_bytes(x)),
                                  npy_bytes(header(type, "(2,)"), body)};
    const char* names[] = {"x.npy", "ids.npy"};
    for (int i = 0; i < 2; ++i)
      zip_file_add(archive, names[i], zip_source_buffer(archive, arrays[i].data(), arrays[i].size(), 0), 0);
    zip_close(archive);
    return open_dataset(path);
  };
  const auto wide = [](const std::u32string& text) {
    return std::string(reinterpret_cast<const char*>(text.data()), 4 * text.size());
  };
  EXPECT_EQ(with("<U3", wide(std::u32string(U"a\0\0b\u00e4\U0001F600", 6)))->id(1), "b\u00e4\U0001F600");
  EXPECT_EQ(with("|S3", std::string("a\0\0bcd", 6))->id(0), "a");
  EXPECT_EQ(with("|S3", std::string("a\0\0bcd", 6))->id(1), "bcd");
  EXPECT_THROW(with("|S3", "abcd"), Error);
  EXPECT_THROW(with("<U3", std::string(24, '\xff')), Error);
  EXPECT_THROW(with("|S99999999999999999999", "abcdef"), Error);
  EXPECT_THROW(with("|S0", ""), Error);
}

TEST(Npz, PicturesOfEveryInputHaveTheirChannelsTurned) {
  const std::string path = temporary("two.npz").string();
  const Array stored =
      Array::of<float>({2, 1, 2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  write_npz(path, {{"left", stored}, {"right", stored}, {"table", Array::of<float>({2, 2}, {1, 2, 3, 4})}});
  const auto data = open_dataset(path + ",inputs=left+right+table,layout=nhwc");
  const std::size_t second[] = {1};
  const Batch batch = data->read(second);
  EXPECT_THAT(batch.inputs.as<float>(), ElementsAre(7, 10, 8, 11, 9, 12));
  ASSERT_EQ(batch.others.size(), 2U);
  EXPECT_EQ(batch.others[0].values.shape(), (Shape{1, 3, 1, 2}));
  EXPECT_EQ(data->facts().others[0].record_shape, (Shape{3, 1, 2}));
  EXPECT_THAT(batch.others[0].values.as<float>(), ElementsAre(7, 10, 8, 11, 9, 12));
  EXPECT_THAT(batch.others[1].values.as<float>(), ElementsAre(3, 4));
}

// Entries in the order of the names; compressed or as they are.
std::string zipped(const std::map<std::string, std::string>& entries, zip_int32_t method,
                   const std::string& comment = {}) {
  const std::string path = temporary("large.npz").string();
  zip_t* const archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
  for (const auto& [name, bytes] : entries) {
    const zip_int64_t at =
        zip_file_add(archive, name.c_str(), zip_source_buffer(archive, bytes.data(), bytes.size(), 0), 0);
    zip_set_file_compression(archive, static_cast<zip_uint64_t>(at), method, 0);
  }
  zip_set_archive_comment(archive, comment.c_str(), static_cast<zip_uint16_t>(comment.size()));
  EXPECT_EQ(zip_close(archive), 0);
  return path;
}

std::vector<float> row_of(const NpyRows& rows, std::size_t index) {
  std::vector<float> values(static_cast<std::size_t>(element_count(rows.shape()) / rows.shape()[0]));
  rows.read(index, DType::float32, values.data());
  return values;
}

TEST(Npz, TextsAreNoLabelsAndSaidToBeTexts) {
  const std::string path = zipped({{"x.npy", npy_bytes(header("<f4", "(2, 1)"), raw_bytes<float>({1, 2}))},
                                   {"y.npy", npy_bytes(header("|S3", "(2,)"), "catdog")}},
                                  ZIP_CM_STORE);
  const auto data = open_dataset(path);
  EXPECT_FALSE(data->has_labels());
  EXPECT_NE(data->describe().find("texts in 'y' passed over"), std::string::npos) << data->describe();
  expect_data_error(Fault::data, {"array 'y' holds text", "whole numbers from 0"}, path + ",y=y");
}

// What is too large for memory is the same as what is not.
TEST(NpyRows, RowsInMemoryInPlaceAndUnpackedAreTheSame) {
  const std::map<std::string, std::string> entries{
      {"a.npy", npy_bytes(header("<f4", "(3, 2)"), raw_bytes<float>({1, 2, 3, 4, 5, 6}))},
      {"b.npy", npy_bytes(header("|u1", "(3, 2)"), "\x01\x02\x03\x04\x05\x06")},
      {"c.npy", npy_bytes(header("<f2", "(3, 2)"),
                          raw_bytes<std::uint16_t>({0x3C00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600}))},
      {"d.npy", npy_bytes(header("<i8", "(3, 2)"), raw_bytes<std::int64_t>({1, 2, 3, 4, 5, 6}))},
      {"e.npy", npy_bytes(header("<f8", "(3, 2)", true), raw_bytes<double>({1, 3, 5, 2, 4, 6}))},
      {"readme.txt", "no array"}};
  for (const zip_int32_t method : {ZIP_CM_STORE, ZIP_CM_DEFLATE}) {
    const std::string path = zipped(entries, method, "a comment");
    const NpzFile archive(path);
    EXPECT_EQ(archive.entries().size(), 5U);
    for (const NpzEntry& entry : archive.entries()) {
      EXPECT_EQ(entry.as_it_is, method == ZIP_CM_STORE);
      for (const std::uint64_t in_memory : {std::uint64_t{0}, most_in_memory}) {
        const NpyRows rows(archive, entry, in_memory);
        EXPECT_THAT(row_of(rows, 2), ElementsAre(5, 6)) << entry.name << method << in_memory;
        EXPECT_THAT(row_of(rows, 0), ElementsAre(1, 2)) << entry.name << method << in_memory;
      }
    }
  }
  for (const auto& [name, bytes] : entries) {
    if (name == "readme.txt") continue;
    const std::string plain = put(name, bytes), packed = put(name + ".gz", gzipped(bytes));
    for (const std::string& file : {plain, packed}) {
      EXPECT_THAT(row_of(NpyRows(file, 0), 1), ElementsAre(3, 4)) << file;
      EXPECT_THAT(row_of(NpyRows(file), 1), ElementsAre(3, 4)) << file;
    }
  }
}

// An entry in place is read from the archive itself, wherever its headers lie.
TEST(NpyRows, ArchivesOfOurOwnAreReadInPlace) {
  const std::string path = temporary("own.npz").string();
  write_npz(path, {{"x", Array::of<float>({2, 2}, {1, 2, 3, 4})}, {"y", Array::of<float>({1}, {7})}});
  const NpzFile archive(path);
  const NpyRows rows(archive, *archive.find("x"), 0);
  std::string bytes = read_file(path);
  const std::size_t at = bytes.find(raw_bytes<float>({3, 4}));
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, 8, raw_bytes<float>({30, 40}));
  std::ofstream(path, std::ios::in | std::ios::binary) << bytes;
  EXPECT_THAT(row_of(rows, 1), ElementsAre(30, 40));
  std::filesystem::resize_file(path, at);
  expect_error(Fault::data, {"own.npz", "changed meanwhile"}, [&] { row_of(rows, 1); });
}

TEST(NpyRows, DamagedEntriesAreRefused) {
  const std::string x = npy_bytes(header("<f4", "(3, 2)"), raw_bytes<float>({1, 2, 3, 4, 5, 6}));
  const auto refuse = [](const std::string& path, const std::string& part) {
    for (const std::uint64_t in_memory : {std::uint64_t{0}, most_in_memory})
      expect_error(Fault::data, {path, part}, [&] {
        const NpzFile archive(path);
        NpyRows(archive, archive.entries().at(0), in_memory);
      });
  };
  refuse(zipped({{"x.npy", x.substr(0, x.size() - 4)}}, ZIP_CM_DEFLATE), "promises 6 elements");
  refuse(zipped({{"x.npy", x + "more"}}, ZIP_CM_STORE), "promises 6 elements");
  refuse(zipped({{"x.npy", "no array"}}, ZIP_CM_STORE), "not an npy file");
  const std::string path =
      zipped({{"x.npy", npy_bytes(header("<f4", "(3000,)"), raw_bytes(std::vector<float>(3000, 1)))}},
             ZIP_CM_DEFLATE);
  std::string bytes = read_file(path);
  bytes[60] = static_cast<char>(~bytes[60]);
  write_file(path, bytes);
  refuse(path, "damaged or cut short");
}

TEST(NpyErrors, DamagedHeaders) {
  const auto refuse = [](const std::string& bytes, const std::string& part) {
    expect_error(Fault::data, {"file.npy", part}, [&] { parse_npy(bytes, "file.npy"); });
  };
  const std::string whole = npy_bytes(header("<f4", "(2,)"), raw_bytes<float>({1, 2}));
  refuse("nonsense nonsense", "not an npy file");
  refuse(whole.substr(0, 60), "header is cut short");
  refuse(whole.substr(0, whole.size() - 1), "promises 2 elements");
  refuse(whole + "x", "promises 2 elements");
  refuse(npy_bytes("{'fortran_order': False}", ""), "no 'descr'");
  refuse(npy_bytes("{'descr': '<f4', 'shape': (1,)}", "abcd"), "no 'fortran_order'");
  refuse(npy_bytes("{'descr': '<f4', 'fortran_order': False, 'shape': 3}", "abcd"), "no shape");
  refuse(npy_bytes("{'descr': '<f4', 'fortran_order': False, 'shape': (-3,)}", "abcd"), "wrong shape");
  refuse(npy_bytes(header("|O", "(1,)"), "abcd"), "Python objects");
  refuse(npy_bytes(header("<U4", "(1,)"), "abcd"), "'U4' is not known");
  refuse(npy_bytes("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "abcd"), "structured");
}

// The value's position was npos, which left as std::out_of_range.
TEST(NpyErrors, HeaderThatEndsAfterTheColon) {
  std::string bytes("\x93NUMPY\x01\0", 8);
  const std::string text = "{'descr':   ";
  bytes += std::string{static_cast<char>(text.size()), '\0'} + text;
  EXPECT_THROW(parse_npy(bytes, "x"), Error);
}

TEST(NpyErrors, GiantDimensionsAreNotAllocated) {
  EXPECT_THROW(parse_npy(npy_bytes(header("<f8", "(1000000000000, 1000000)"), "abcdefgh"), "x"), Error);
  EXPECT_THROW(
      parse_npy(npy_bytes(header("<f8", "(9000000000000000000, 9000000000000000000)"), "abcdefgh"), "x"),
      Error);
  const std::string none = put("none.npy", npy_bytes(header("<f4", "(4000000000000000000, 0)"), ""));
  expect_data_error(Fault::data, {"none.npy", "no elements"}, none);
}

TEST(NpyErrors, OutputsThatDoNotFit) {
  const std::string path = temporary("a.npz").string();
  write_npz(path, {{"x", Array::of<float>({2, 1}, {1, 2})}, {"y", Array::of<std::int64_t>({3}, {1, 2, 3})}});
  expect_data_error(Fault::data, {"a.npz", "do not fit 2 records"}, path);
  write_npz(path, {{"bar", Array::of<float>({3, 1}, {1, 2, 3})}, {"foo", Array::of<float>({2, 1}, {1, 2})}});
  expect_data_error(Fault::data, {"a.npz", "foo", "x=NAME"}, path);
  write_npz(path, {{"x", Array::of<float>({2, 1}, {1, 2})}, {"y", Array::of<std::int64_t>({2}, {1, -1})}});
  expect_data_error(Fault::data, {"a.npz", "record '1'", "label -1"}, path);
  write_npz(path, {{"x", Array::of<float>({}, {1})}});
  expect_data_error(Fault::data, {"a.npz", "single number"}, path);
}

TEST(NpyErrors, NotANumber) {
  const std::string path = temporary("a.npz").string();
  write_npz(path, {{"x", Array::of<float>({2, 1}, {1, NAN})}});
  expect_data_error(Fault::data, {"a.npz", "record '1'", "NaN"}, path);
  write_npz(path, {{"x", Array::of<float>({2, 1}, {1, 2})}, {"y", Array::of<float>({2}, {1, INFINITY})}});
  expect_data_error(Fault::data, {"a.npz", "target of record '1'"}, path);
}

TEST(NpzErrors, TruncatedArchive) {
  const std::string path = temporary("a.npz").string();
  write_npz(path, {{"x", Array::of<float>({2, 1}, {1, 2})}});
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 30);
  expect_data_error(Fault::data, {"a.npz", "npz"}, path);
  expect_error(Fault::io, {"absent.npz", "no such file"}, [] { read_npz("absent.npz"); });
}

TEST(NpzErrors, BombsStopAtTheLimit) {
  const std::string path = temporary("bomb.npz").string();
  int code = 0;
  zip_t* const archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
  const std::string zeros = npy_bytes(header("|u1", "(10000000,)"), std::string(10'000'000, '\0'));
  zip_file_add(archive, "x.npy", zip_source_buffer(archive, zeros.data(), zeros.size(), 0), 0);
  zip_close(archive);
  EXPECT_LT(std::filesystem::file_size(path), 100'000U);
  expect_error(Fault::resources, {"bomb.npz", "more than 1000000 bytes"}, [&] { read_npz(path, 1'000'000); });
  EXPECT_EQ(read_npz(path).at("x").count(), 10'000'000);
}

}  // namespace
}  // namespace assay::testing
