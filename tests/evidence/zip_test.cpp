// Packs as archives: what comes out again, and what archives of others cannot do.

#include "assay/evidence/zip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>

#include <assay/error.h>
#include "assay/evidence/opened_pack.h"
#include "assay/support/files/file.h"

namespace assay::evidence {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// An entry of an archive that is written byte by byte, so that it may say anything.
struct Entry {
  std::string name, bytes;
  unsigned mode = 0100644;  // of Unix
  unsigned flags = 0;       // 1: encrypted
  unsigned method = 0;      // 12: bzip2
};

std::uint32_t crc_of(const std::string& bytes) {
  std::uint32_t crc = ~0U;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0U);
  }
  return ~crc;
}

std::string number(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
  return text;
}

// Stored, not compressed (APPNOTE.TXT 4.3).
std::string archive_of(const std::vector<Entry>& entries) {
  std::string files, directory;
  for (const Entry& entry : entries) {
    const std::string facts = number(entry.flags, 2) + number(entry.method, 2) + number(0, 2) +
                              number(0x21, 2) + number(crc_of(entry.bytes), 4) +
                              number(entry.bytes.size(), 4) + number(entry.bytes.size(), 4) +
                              number(entry.name.size(), 2) + number(0, 2);
    constexpr unsigned unix_system = 3;
    directory += "PK\x01\x02" + number(unix_system << 8 | 20, 2) + number(20, 2) + facts + number(0, 2) +
                 number(0, 2) + number(0, 2) + number(std::uint64_t{entry.mode} << 16, 4) +
                 number(files.size(), 4) + entry.name;
    files += "PK\x03\x04" + number(20, 2) + facts + entry.name + entry.bytes;
  }
  return files + directory + "PK\x05\x06" + number(0, 4) + number(entries.size(), 2) +
         number(entries.size(), 2) + number(directory.size(), 4) + number(files.size(), 4) + number(0, 2);
}

class Archives : public testing::Test {
 protected:
  Archives()
      : folder(fs::path(testing::TempDir()) / "assay_archives_test"),
        archive(folder / "a.zip"),
        unpacked(folder / "in" / "here") {
    fs::remove_all(folder);
    fs::create_directories(unpacked);
  }
  ~Archives() override { fs::remove_all(folder); }

  std::string refusal(const std::vector<Entry>& entries, const UnpackLimits& limits = {}) const {
    write_file(archive, archive_of(entries));
    fs::remove_all(unpacked);
    fs::create_directories(unpacked);
    try {
      unpack_zip(archive, unpacked, limits);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  // All that lies in the test's folder, but for the archive.
  std::vector<std::string> files() const {
    std::vector<std::string> found;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
      if (!entry.is_directory()) found.push_back(entry.path().lexically_relative(folder).generic_string());
    }
    std::erase(found, "a.zip");
    return found;
  }

  const fs::path folder, archive, unpacked;
};

TEST_F(Archives, ComeOutAsTheyWentIn) {
  const fs::path pack = folder / "pack";
  const std::string large(300'000, 'x');
  write_file(pack / "manifest.json", "{}");
  write_file(pack / "results/a b.json", large);
  write_file(pack / "empty", "");
  write_zip(pack, archive);
  unpack_zip(archive, unpacked);
  EXPECT_EQ(read_file(unpacked / "manifest.json"), "{}");
  EXPECT_TRUE(read_file(unpacked / "results/a b.json") == large);
  EXPECT_EQ(read_file(unpacked / "empty"), "");
  write_file(archive, archive_of({{"deep/", "", 040755}, {"deep/er/x.txt", "by hand"}}));
  unpack_zip(archive, unpacked);
  EXPECT_EQ(read_file(unpacked / "deep/er/x.txt"), "by hand");
}

TEST_F(Archives, WriteNowhereElse) {
  for (const char* name : {"../out", "a/../../out", "/tmp/out", "a//b", "./a", "a/.", "..", ".", "a\\..\\b",
                           "C:\\out", "C:out", "a\nb", "../", "/"})
    EXPECT_THAT(refusal({{"good", "x"}, {name, "x"}}), HasSubstr("a name that is not a path within")) << name;
  EXPECT_THAT(refusal({{std::string(2000, 'a'), "x"}}), HasSubstr("a name that is not a path within"));
  for (const std::string& file : files()) EXPECT_EQ(file, "in/here/good");
}

TEST_F(Archives, HoldPlainFilesAlone) {
  constexpr unsigned link = 0120777, device = 0020666, pipe = 0010644, socket = 0140644;
  for (const unsigned mode : {link, device, pipe, socket, 0040755U})
    EXPECT_THAT(refusal({{"a", "/etc/passwd", mode}}), HasSubstr("is a link or a special file")) << mode;
  EXPECT_THAT(refusal({{"a/", "", 0120777}}), HasSubstr("is a link or a special file"));
  EXPECT_THAT(refusal({{"b", "x"}, {"b", "y"}}),
              testing::AnyOf(HasSubstr("'b' occurs twice"), HasSubstr("already exists")));
  EXPECT_THAT(refusal({{"c", "x"}, {"c/", "", 0040755}}), HasSubstr("'c/' occurs twice"));
  EXPECT_THAT(refusal({{"d", "x"}, {"d/e", "y"}}), HasSubstr("is a file and a folder"));
  EXPECT_THAT(refusal({{"f/g", "x"}, {"f", "y"}}), HasSubstr("is a file and a folder"));
  EXPECT_THAT(refusal({{"h", "x", 0100644, 1}}), HasSubstr("is encrypted"));
  EXPECT_THAT(refusal({{"i", "x", 0100644, 0, 12}}), HasSubstr("in another way than deflate; no archive"));
}

TEST_F(Archives, AreLimited) {
  const std::string kilobyte(1024, 'x');
  EXPECT_THAT(refusal({{"a", "x"}, {"b", "x"}, {"c", "x"}}, {.entries = 2}), HasSubstr("has 3 entries"));
  EXPECT_EQ(refusal({{"a", kilobyte}, {"b", kilobyte}}, {.bytes = 2048}), "");
  EXPECT_THAT(refusal({{"a", kilobyte}, {"b", kilobyte + "x"}}, {.bytes = 2048}),
              HasSubstr("unpacks to more than"));
  EXPECT_FALSE(fs::exists(unpacked / "b")) << "nothing half written";
}

TEST_F(Archives, ThatAreNoneOrDamagedAreRefused) {
  std::string good = archive_of({{"a", "some bytes"}});
  for (const std::string& bytes :
       {std::string(), std::string("no archive"), good.substr(0, good.size() / 2), good.substr(1)}) {
    write_file(archive, bytes);
    EXPECT_THROW(unpack_zip(archive, unpacked), Error) << bytes.size();
  }
  good[good.find("some")] = 'S';
  write_file(archive, good);
  EXPECT_THROW(unpack_zip(archive, unpacked), Error) << "its checksum";
  EXPECT_FALSE(fs::exists(unpacked / "a"));
  EXPECT_THROW(unpack_zip(folder / "missing.zip", unpacked), Error);
}

TEST_F(Archives, OpenIntoAFolderThatGoesAgain) {
  write_file(archive, archive_of({{"mine/manifest.json", "{}"}, {"mine/results/a.json", "{}"}}));
  fs::path inside;
  {
    const OpenedPack opened(archive);
    inside = opened.folder();
    EXPECT_EQ(read_file(inside / "manifest.json"), "{}") << "the pack lies in the archive's only folder";
  }
  EXPECT_FALSE(fs::exists(inside));
  EXPECT_EQ(OpenedPack(folder).folder(), folder);
}

}  // namespace
}  // namespace assay::evidence
