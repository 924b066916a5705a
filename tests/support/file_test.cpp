#include "assay/support/file.h"

#include <gtest/gtest.h>

#include <ostream>

#include <assay/error.h>
#include "assay/support/hash.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

fs::path folder() {
  const fs::path path = fs::path(testing::TempDir()) / "assay_file_test";
  fs::remove_all(path);
  fs::create_directories(path);
  return path;
}

TEST(File, WritesReadsAndLeavesNoTemporary) {
  const fs::path dir = folder();
  write_file(dir / "deep" / "a.txt", "hello");
  EXPECT_EQ(read_file(dir / "deep" / "a.txt"), "hello");
  EXPECT_EQ(std::distance(fs::directory_iterator(dir / "deep"), fs::directory_iterator()), 1);
}

TEST(File, AFailedWriteKeepsTheOldFile) {
  const fs::path dir = folder();
  write_file(dir / "a.txt", "old");
  EXPECT_THROW(write_file(dir / "a.txt", [](std::ostream&) { throw std::runtime_error("stop"); }),
               std::runtime_error);
  EXPECT_EQ(read_file(dir / "a.txt"), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(dir), fs::directory_iterator()), 1);
}

TEST(File, ADiskThatIsFullIsNamed) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const fs::path dir = folder();
  fs::create_directory(dir / "taken");
  EXPECT_THROW(write_file(dir / "taken", "x"), Error);  // a folder stands where the file should go
}

TEST(File, MissingFilesAndLimitsAreClearErrors) {
  const fs::path dir = folder();
  try {
    read_file(dir / "none");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::io);
    EXPECT_NE(std::string(error.what()).find("none: no such file"), std::string::npos);
  }
  write_file(dir / "big", std::string(100, 'x'));
  EXPECT_THROW(read_file(dir / "big", 99), Error);
}

TEST(Hash, BoundariesBetweenTextsMatter) {
  EXPECT_NE(Hasher().text("ab").text("c").hex(), Hasher().text("a").text("bc").hex());
  EXPECT_EQ(hash_hex("abc").size(), 32U);
}

}  // namespace
}  // namespace assay
