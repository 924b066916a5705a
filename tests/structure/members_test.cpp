// What adding takes: a member of a catalogue is one source and one line in the catalogue.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <sstream>

#include "assay/support/files/file.h"
#include "tests/structure/cpp_source.h"

namespace assay::structure {
namespace {

namespace fs = std::filesystem;

struct MemberOfCatalogue {
  std::string catalogue;   // path of the source with the list
  std::string definition;  // how the one that makes it begins
};

// Those in lists such as `#define ASSAY_ATTACKS(X) X(fgsm)`, declared by `AttackInfo name##_attack();`.
std::vector<MemberOfCatalogue> members_in(const Source& source) {
  static const std::regex declares(R"(#define DECLARE\w*\(name\) (\w+) name##(\w+)\(\);)");
  static const std::regex lists(R"(#define ASSAY_\w+\(X\)((?:[^\n]*\\\n)+[^\n]*))"), entry(R"(X\((\w+)\))");
  std::smatch declared, listed;
  if (!std::regex_search(source.text, declared, declares) || !std::regex_search(source.text, listed, lists))
    return {};
  const std::string entries = listed.str(1);
  std::vector<MemberOfCatalogue> found;
  for (std::sregex_iterator at(entries.begin(), entries.end(), entry), end; at != end; ++at)
    found.push_back({source.path, fmt::format("{} {}{}() {{", declared.str(1), at->str(1), declared.str(2))});
  return found;
}

// Sources by the functions without arguments that they define, "AttackInfo fgsm_attack() {".
std::map<std::string, std::vector<std::string>> definitions_in(const std::vector<Source>& sources) {
  std::map<std::string, std::vector<std::string>> found;
  for (const Source& source : sources) {
    std::istringstream lines(source.text);
    for (std::string line; std::getline(lines, line);) {
      const std::size_t body = line.find("() {");
      if (body != std::string::npos) found[line.substr(0, body + 4)].push_back(source.path);
    }
  }
  return found;
}

// Members beside the CMakeLists.txt of a folder are older than the folders of families.
bool in_folder_of_family(const std::string& path) {
  return !fs::exists(fs::path(ASSAY_SOURCE_DIR) / fs::path(path).parent_path() / "CMakeLists.txt");
}

// Whether the nearest CMakeLists.txt names the source.
bool listed_for_cmake(const std::string& path) {
  const fs::path root = ASSAY_SOURCE_DIR;
  fs::path folder = fs::path(path).parent_path();
  while (!fs::exists(root / folder / "CMakeLists.txt")) folder = folder.parent_path();
  return read_file(root / folder / "CMakeLists.txt").find(fs::path(path).lexically_relative(folder)) !=
         std::string::npos;
}

TEST(Members, OfAListAreFound) {
  const std::vector<MemberOfCatalogue> found = members_in(
      {"a.cpp", "#define ASSAY_A(X) \\\n  X(b)  \\\n  X(c)\n#define DECLARE(name) AInfo name##_a();\n"});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[1].definition, "AInfo c_a() {");
}

TEST(Members, HaveOneSourceThatBuildsFindThemselves) {
  const std::vector<Source> sources = sources_below({"assay", "apps"});
  std::map<std::string, std::vector<std::string>> definitions = definitions_in(sources);
  std::size_t members = 0;
  for (const Source& source : sources) {
    for (const MemberOfCatalogue& member : members_in(source)) {
      ++members;
      const std::vector<std::string>& defined = definitions[member.definition];
      ASSERT_EQ(defined.size(), 1U) << member.definition << " of " << member.catalogue;
      EXPECT_FALSE(in_folder_of_family(defined[0]) && listed_for_cmake(defined[0])) << defined[0];
    }
  }
  EXPECT_GT(members, 100U) << "the reader finds hardly any";
}

// No other source names the function of a command: help, pages, packs and Python follow from its declaration.
TEST(Members, OfTheProgramAreNamedByTheirFileAlone) {
  const std::vector<Source> sources = sources_below({"assay", "apps", "python/src"});
  const auto catalogue = std::ranges::find(sources, "apps/assay/commands/catalogue.cpp", &Source::path);
  ASSERT_NE(catalogue, sources.end());
  const std::vector<MemberOfCatalogue> commands = members_in(*catalogue);
  EXPECT_FALSE(commands.empty());
  for (const MemberOfCatalogue& command : commands) {
    const std::string line = command.definition,
                      name = line.substr(line.find(' '), line.find('(') - line.find(' '));
    EXPECT_EQ(std::ranges::count_if(
                  sources, [&](const Source& source) { return source.text.find(name) != std::string::npos; }),
              1)
        << name;
  }
}

}  // namespace
}  // namespace assay::structure
