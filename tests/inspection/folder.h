#pragma once

// An empty folder for one test, removed with everything in it.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "assay/support/files/file.h"

namespace assay::inspection::test {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::path(testing::TempDir()) / "assay_inspection" / info->test_suite_name() /
            info->name();
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // Writes a file and returns its path.
  std::string file(const std::string& name, std::string_view bytes) const {
    write_file(path_ / name, bytes);
    return (path_ / name).string();
  }

 private:
  std::filesystem::path path_;
};

}  // namespace assay::inspection::test
