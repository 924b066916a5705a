// What is at a path that is read: files, links, folders, pipes, devices.

#include "assay/support/files/input_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include <assay/error.h>
#include <assay/progress.h>
#include "assay/support/files/file.h"
#include "assay/support/files/sha256.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class InputFiles : public testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder);
    fs::create_directories(folder / "below");
    write_file(folder / "file", "content");
    fs::create_symlink("file", folder / "link");
    fs::create_symlink("nothing", folder / "dangling");
    fs::create_symlink("circle", folder / "circle");
    fs::create_symlink(".", folder / "below" / "round");
    ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  }
  void TearDown() override { fs::remove_all(folder); }

  static std::string refusal(const std::function<void()>& read, Fault fault = Fault::io) {
    try {
      read();
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), fault) << error.what();
      return error.what();
    }
    ADD_FAILURE() << "was read";
    return {};
  }

  const fs::path folder = fs::path(testing::TempDir()) / "assay_input_files";
};

TEST_F(InputFiles, AreReadThroughLinks) {
  for (const char* name : {"file", "link"}) {
    EXPECT_EQ(read_file(folder / name), "content");
    EXPECT_EQ(read_stream(folder / name, 7), "content");
    EXPECT_EQ(read_start(folder / name, 3), "con");
    EXPECT_EQ(read_start(folder / name, 100), "content");
    std::string part(4, ' ');
    read_part(folder / name, 3, part.data(), part.size());
    EXPECT_EQ(part, "tent");
    EXPECT_THAT(refusal([&] { read_part(folder / name, 4, part.data(), part.size()); }), HasSubstr("byte 7"));
    EXPECT_THAT(refusal([&] { read_stream(folder / name, 6); }, Fault::resources), HasSubstr("6 bytes"));
  }
}

TEST_F(InputFiles, OtherKindsAreRefusedAtOnce) {
  const std::vector<std::pair<std::string, std::string>> kinds{
      {folder / "below", "is a folder"},     {folder / "nothing", "no such file"},
      {folder / "dangling", "no such file"}, {folder / "circle", "circle"},
      {folder / "pipe", "pipe or device"},   {"/dev/zero", "device"},
      {"/dev/null", "pipe or device"}};
  for (const auto& [path, words] : kinds) {
    EXPECT_THAT(refusal([&] { read_file(path); }), HasSubstr(words)) << path;
    EXPECT_THAT(refusal([&] { read_start(path, 1); }), HasSubstr(words)) << path;
    EXPECT_THAT(refusal([&] { require_readable(path); }), HasSubstr(words)) << path;
    EXPECT_THAT(refusal([&] { sha256_of_file(path); }), HasSubstr(words)) << path;
  }
  EXPECT_THAT(refusal([&] { read_stream("/dev/zero", 1 << 20); }), HasSubstr("is a device"));
  EXPECT_THAT(refusal([&] { read_stream(folder / "below", 1); }), HasSubstr("is a folder"));
}

TEST_F(InputFiles, StreamsArePipesAndTheNullDevice) {
  EXPECT_EQ(read_stream("/dev/null", 1), "");
  std::thread writer([&] { write_file(folder / "pipe", "through"); });
  EXPECT_EQ(read_stream(folder / "pipe", 100), "through");
  writer.join();
  request_interrupt();
  refusal([&] { read_stream(folder / "pipe", 100); }, Fault::interrupted);
}

TEST_F(InputFiles, OfAFolderWithoutLinksThatLeadNowhere) {
  write_file(folder / "below" / "deep", "");
  EXPECT_THAT(files_in(folder, false), ElementsAre(folder / "file", folder / "link"));
  EXPECT_THAT(files_in(folder, true),
              ElementsAre(folder / "below" / "deep", folder / "file", folder / "link"));
  EXPECT_THAT(refusal([&] { files_in(folder / "nothing", true); }), HasSubstr("cannot be read"));
}

}  // namespace
}  // namespace assay
