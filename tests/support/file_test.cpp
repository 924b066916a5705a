#include "assay/support/files/file.h"
#include "assay/support/files/input_file.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <ostream>
#include <thread>

#include <assay/error.h>
#include <assay/progress.h>
#include "assay/support/files/hash.h"
#include "assay/support/memory.h"

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

std::size_t entries(const fs::path& dir) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(dir), fs::directory_iterator()));
}

TEST(File, LinksAreFollowedAndPermissionsKept) {
  const fs::path dir = folder();
  write_file(dir / "target", "old");
  ::chmod((dir / "target").c_str(), 0640);
  fs::create_symlink("target", dir / "link");
  fs::create_symlink("missing", dir / "dangling");
  write_file(dir / "link", "new");
  write_file(dir / "dangling", "made");
  EXPECT_TRUE(fs::is_symlink(dir / "link"));
  EXPECT_EQ(read_file(dir / "target"), "new");
  EXPECT_EQ(read_file(dir / "missing"), "made");
  EXPECT_EQ(fs::status(dir / "target").permissions(), fs::perms(0640));
  fs::create_symlink("round", dir / "round");
  EXPECT_THROW(write_file(dir / "round", "x"), Error);
}

TEST(File, PipesAndDevicesAreWrittenAsTheyAre) {
  const fs::path dir = folder();
  ASSERT_EQ(::mkfifo((dir / "pipe").c_str(), 0600), 0);
  std::thread reader([&] { EXPECT_EQ(read_stream(dir / "pipe", 100), "through"); });
  write_file(dir / "pipe", "through");
  reader.join();
  EXPECT_TRUE(fs::is_fifo(dir / "pipe"));
  write_file("/dev/null", "x");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_EQ(entries(dir), 1U);
}

TEST(File, APipeThatNobodyWritesCanBeInterrupted) {
  const fs::path dir = folder();
  ASSERT_EQ(::mkfifo((dir / "pipe").c_str(), 0600), 0);
  request_interrupt();
  EXPECT_THROW(write_file(dir / "pipe", "x"), Error);
}

TEST(File, ForeseenTemporaryNamesAreNoWayIn) {
  const fs::path dir = folder();
  write_file(dir / "victim", "precious");
  // What older names looked like, and one of the present form.
  for (const std::string& name : {std::string("a.partial"), fmt::format("a.{}.partial", ::getpid()),
                                  std::string("a.0123456789abcdef.partial")})
    fs::create_symlink("victim", dir / name);
  write_file(dir / "a", "mine");
  EXPECT_EQ(read_file(dir / "victim"), "precious");
  EXPECT_FALSE(fs::is_symlink(dir / "a"));
}

TEST(File, WhatAKillLeftIsCleanedUnlessSomebodyWritesIt) {
  const fs::path dir = folder();
  const TemporaryFile held = make_temporary(dir / "other");
  const fs::path again = dir / "again";
  fs::create_directory(again);
  fs::rename(held.path, again / held.path.filename());
  write_file(again / "x.txt", "");  // a folder is cleaned when it is first written to
  EXPECT_TRUE(fs::exists(again / held.path.filename()));
  ::close(held.descriptor);
  const fs::path left = dir / "left";
  fs::create_directory(left);
  for (const char* name : {"a.0123456789abcdef.partial", "a.partial", "a.0123456789abcdeg.partial"})
    std::ofstream(left / name) << "x";
  write_file(left / "a", "x");
  EXPECT_EQ(entries(left), 3U);
  EXPECT_FALSE(fs::exists(left / "a.0123456789abcdef.partial"));
}

TEST(File, PlacesThatCannotBeWrittenAreNamedBeforehand) {
  const fs::path dir = folder();
  write_file(dir / "file", "x");
  require_writable(dir / "new" / "deep" / "file");
  EXPECT_FALSE(fs::exists(dir / "new"));
  for (const fs::path& place : {dir, dir / "file" / "below", fs::path("/proc/none/x"), fs::path("")})
    EXPECT_THROW(require_writable(place), Error) << place;
  try {
    require_writable_folder("/proc/none/x");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).rfind("/proc/none/x: ", 0), 0U) << error.what();
  }
}

TEST(Memory, ALimitHoldsForWholeFiles) {
  const fs::path dir = folder();
  write_file(dir / "large", std::string(3 << 20, 'x'));
  set_memory_limit(1 << 20);
  try {
    read_file(dir / "large");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::resources) << error.what();
  }
  set_memory_limit(0);
  EXPECT_EQ(read_file(dir / "large").size(), 3U << 20);
}

TEST(Hash, BoundariesBetweenTextsMatter) {
  EXPECT_NE(Hasher().text("ab").text("c").hex(), Hasher().text("a").text("bc").hex());
  EXPECT_EQ(hash_hex("abc").size(), 32U);
}

}  // namespace
}  // namespace assay
