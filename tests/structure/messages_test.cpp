// The library is also called from Python and C++: flags of the program are put into its messages by the
// program.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <regex>
#include <sstream>

#include "tests/structure/cpp_source.h"

namespace assay::structure {
namespace {

// Lines with a flag in a text, but for those of other programs and those about commands as they were typed.
std::vector<std::string> lines_with_flags(const std::vector<Source>& sources) {
  static const std::regex flag(R"re("[^"]*(^|[ ("])--[a-z][a-z-]+[^"]*")re");
  static const std::regex meant("tf2onnx|srun|mpirun|^ *//");
  std::vector<std::string> found;
  for (const Source& source : sources) {
    if (source.path.starts_with("assay/evidence/")) continue;  // runs commands of the program
    std::istringstream lines(source.text);
    std::string line;
    while (std::getline(lines, line)) {
      if (std::regex_search(line, flag) && !std::regex_search(line, meant))
        found.push_back(fmt::format("{}: {}", source.path, line));
    }
  }
  return found;
}

TEST(Messages, AFlagInATextIsFound) {
  EXPECT_THAT(lines_with_flags({{"a.cpp", "fail(\"give a margin (--margin)\");\n--count;\n"}}),
              testing::SizeIs(1));
  EXPECT_THAT(lines_with_flags({{"a.cpp", "// --margin\nx = \"a -- b\";\n"}}), testing::IsEmpty());
}

TEST(Messages, OfTheLibraryNameNoFlags) {
  const std::vector<Source> sources = sources_below({"assay"});
  ASSERT_FALSE(sources.empty());
  EXPECT_THAT(lines_with_flags(sources), testing::IsEmpty());
}

}  // namespace
}  // namespace assay::structure
