// Zip archives as other programs write them, and as no program should.

#include "assay/support/files/zip_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "assay/support/files/file.h"

namespace assay::inline support {
namespace {

using testing::HasSubstr;

constexpr std::uint32_t crc_of_abc = 0x352441C2;

// What the directory and the header of an entry say; its bytes are "abc".
struct Said {
  std::string name = "a";
  std::uint32_t size = 3, packed_size = 3;
  unsigned method = 0;
};

std::string number(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
  return text;
}

// APPNOTE.TXT 4.3.
std::string archive_of(const std::vector<Said>& entries, const std::string& comment = {}) {
  std::string files, directory;
  for (const Said& said : entries) {
    const std::string facts = number(0, 2) + number(said.method, 2) + number(0, 2) + number(0x21, 2) +
                              number(crc_of_abc, 4) + number(said.packed_size, 4) + number(said.size, 4) +
                              number(said.name.size(), 2) + number(0, 2);
    directory += "PK\x01\x02" + number(20, 2) + number(20, 2) + facts + number(0, 10) +
                 number(files.size(), 4) + said.name;
    files += "PK\x03\x04" + number(20, 2) + facts + said.name + "abc";
  }
  return files + directory + "PK\x05\x06" + number(0, 4) + number(entries.size(), 2) +
         number(entries.size(), 2) + number(directory.size(), 4) + number(files.size(), 4) +
         number(comment.size(), 2) + comment;
}

std::optional<ZipFile> opened(const std::string& bytes) {
  const auto path = std::filesystem::path(testing::TempDir()) / "assay_zip_file_test.zip";
  write_file(path, bytes);
  return ZipFile::open(path);
}

std::string bytes_of(const ZipFile& archive, const ZipEntry& entry) {
  std::string bytes;
  const bool whole = archive.read(entry, [&](std::string_view piece) {
    bytes += piece;
    return true;
  });
  return whole ? bytes : "not whole";
}

// The record of the end begins with these letters, and comments may have any.
TEST(ZipFile, CommentsMayHoldAnything) {
  const std::string mark = "PK\x05\x06";
  for (const std::string& comment :
       {std::string(), std::string("a comment"), mark, "see " + mark + " and more",
        mark + std::string(40, 'x'), std::string(0xFFFF, 'x')}) {
    const auto archive = opened(archive_of({{}}, comment));
    ASSERT_TRUE(archive) << comment.size();
    ASSERT_EQ(archive->entries().size(), 1U) << comment.size();
    EXPECT_EQ(bytes_of(*archive, archive->entries()[0]), "abc");
    EXPECT_EQ(archive->position(archive->entries()[0]), 31U);
  }
  const auto archive = opened("before" + archive_of({{}}) + "after");
  ASSERT_TRUE(archive) << "what surrounds an archive is left alone";
  EXPECT_EQ(archive->position(archive->entries()[0]), 37U);
}

// 65535 is also what programs write for more than they can count.
TEST(ZipFile, AsManyEntriesAsARecordCanCount) {
  for (const std::size_t count : {1U, 0xFFFEU, 0xFFFFU}) {
    const auto archive = opened(archive_of(std::vector<Said>(count)));
    ASSERT_TRUE(archive) << count;
    EXPECT_EQ(archive->entries().size(), count);
  }
}

TEST(ZipFile, StoredEntriesEndWhereTheirBytesEnd) {
  const auto archive = opened(archive_of({{"longer", 60, 3}, {"shorter", 2, 3}, {"past", 3, 1U << 30}}));
  ASSERT_TRUE(archive);
  for (const ZipEntry& entry : archive->entries()) {
    EXPECT_EQ(bytes_of(*archive, entry), "not whole") << entry.name;
    EXPECT_FALSE(archive->position(entry)) << entry.name;
    EXPECT_THAT(std::string(fault_of(entry)), HasSubstr("is damaged or cut short"));
  }
}

TEST(ZipFile, OtherWaysOfCompressingAreNamed) {
  constexpr unsigned bzip2 = 12, lzma = 14;
  for (const unsigned method : {bzip2, lzma}) {
    const auto archive = opened(archive_of({{"a", 3, 3, method}}));
    ASSERT_TRUE(archive);
    EXPECT_EQ(bytes_of(*archive, archive->entries()[0]), "not whole");
    EXPECT_THAT(std::string(fault_of(archive->entries()[0])), HasSubstr("pack it again with deflate"));
  }
}

}  // namespace
}  // namespace assay::inline support
