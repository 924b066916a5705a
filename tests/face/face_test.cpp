// What users include and read: short headers that stand on nothing internal or heavy, and short programs.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

namespace assay::face {
namespace {

struct File {
  std::string name;
  std::vector<std::string> lines;
};

std::vector<File> files(const std::string& folder, const std::string& extension) {
  std::vector<File> found;
  for (const auto& entry : std::filesystem::directory_iterator(ASSAY_SOURCE_DIR "/" + folder)) {
    if (entry.path().extension() != extension) continue;
    File file{entry.path().filename(), {}};
    std::ifstream stream(entry.path());
    for (std::string line; std::getline(stream, line);) file.lines.push_back(line);
    found.push_back(std::move(file));
  }
  return found;
}

std::vector<std::string> includes_of(const File& file) {
  std::vector<std::string> found;
  for (const std::string& line : file.lines)
    if (line.starts_with("#include ")) found.push_back(line.substr(9));
  return found;
}

// Public headers, the standard library, and fmt.
bool allowed(const std::string& include) {
  static const std::regex plain(
      "<(assay/(extend/)?[a-z0-9_]+\\.h|[a-z_]+|fmt/format\\.h|nlohmann/json_fwd\\.hpp)>");
  return std::regex_match(include, plain);
}

TEST(Includes, ThatUsersMayNotSeeAreFound) {
  for (const std::string include : {"\"assay/model/element_type.h\"", "<nlohmann/json.hpp>", "<CLI/CLI.hpp>",
                                    "<onnx/onnx.pb.h>", "<ATen/ATen.h>"})
    EXPECT_FALSE(allowed(include)) << include;
  for (const std::string include : {"<assay/graph.h>", "<assay/extend/rule.h>", "<vector>", "<fmt/format.h>"})
    EXPECT_TRUE(allowed(include)) << include;
}

TEST(PublicHeaders, AreShortAndIncludeNothingInternal) {
  std::vector<File> headers = files("include/assay", ".h");
  ASSERT_GE(headers.size(), 20U);
  std::ranges::move(files("include/assay/extend", ".h"), std::back_inserter(headers));
  for (const File& header : headers) {
    EXPECT_LE(header.lines.size(), 150U) << header.name;
    for (const std::string& include : includes_of(header))
      EXPECT_TRUE(allowed(include)) << header.name << " includes " << include;
  }
}

TEST(Examples, AreShortAndIncludeNothingInternal) {
  const std::vector<File> examples = files("examples", ".cpp");
  ASSERT_FALSE(examples.empty());
  for (const File& example : examples) {
    EXPECT_LE(example.lines.size(), 30U) << example.name;
    for (const std::string& include : includes_of(example))
      EXPECT_TRUE(allowed(include) || include == "<nlohmann/json.hpp>")
          << example.name << " includes " << include;
  }
}

}  // namespace
}  // namespace assay::face
