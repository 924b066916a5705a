#include "assay/support/files/file_lock.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <atomic>
#include <thread>
#include <vector>

#include <assay/error.h>
#include "assay/support/files/file.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

class FileLocks : public testing::Test {
 protected:
  FileLocks() {
    fs::remove_all(folder);
    fs::create_directories(folder);
  }
  ~FileLocks() override { fs::remove_all(folder); }

  std::string refusal(Fault fault) const {
    try {
      const FileLock lock(file);
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), fault) << error.what();
      return error.what();
    }
    return {};
  }

  const fs::path folder = fs::path(testing::TempDir()) / "assay_file_locks", file = folder / "s.cov",
                 lock_file = folder / "s.cov.lock";
};

TEST_F(FileLocks, HaveOneUserAtATimeAndLeaveNothing) {
  {
    const FileLock lock(file);
    EXPECT_THAT(refusal(Fault::io), testing::HasSubstr("s.cov: another run is changing this file"));
  }
  EXPECT_FALSE(fs::exists(lock_file));
  EXPECT_EQ(refusal(Fault::io), "");
}

TEST_F(FileLocks, AreTheSameThroughALink) {
  fs::create_symlink("s.cov", folder / "link.cov");
  const FileLock lock(folder / "link.cov");
  EXPECT_NE(refusal(Fault::io), "");
}

TEST_F(FileLocks, LeaveForeignFilesAndTakeOverWhatAKillLeft) {
  write_file(lock_file, "precious");
  EXPECT_THAT(refusal(Fault::data), testing::HasSubstr("not a lock"));
  EXPECT_EQ(read_file(lock_file), "precious");
  fs::remove(lock_file);
  fs::create_symlink("elsewhere", lock_file);
  EXPECT_THAT(refusal(Fault::data), testing::HasSubstr("not a lock"));
  EXPECT_FALSE(fs::exists(folder / "elsewhere"));
  fs::remove(lock_file);
  write_file(lock_file, "");
  EXPECT_EQ(refusal(Fault::data), "");
}

TEST_F(FileLocks, AreNotForPipes) {
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  const FileLock first(file), second(file);
  EXPECT_FALSE(fs::exists(lock_file));
}

// Each reads, adds and writes back.
TEST_F(FileLocks, LoseNoUpdate) {
  write_file(file, "0");
  std::vector<std::thread> writers;
  for (int i = 0; i < 8; ++i) {
    writers.emplace_back([this] {
      const FileLock lock(file, FileLock::Taken::wait);
      write_file(file, std::to_string(std::stoi(read_file(file)) + 1));
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(read_file(file), "8");
}

}  // namespace
}  // namespace assay
