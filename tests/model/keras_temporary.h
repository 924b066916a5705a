#pragma once

// Where a test may write.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace assay::testing {

// A path in a folder of the running test's own.
inline std::filesystem::path temporary(const std::string& name) {
  const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
  std::string test = info ? fmt::format("{}_{}", info->test_suite_name(), info->name()) : std::string("none");
  for (char& c : test) c = c == '/' ? '_' : c;
  const auto folder = std::filesystem::path(::testing::TempDir()) / "assay_keras" / test;
  std::filesystem::create_directories(folder);
  return folder / name;
}

}  // namespace assay::testing
