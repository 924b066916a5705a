// A name tells the folder that it is from: types of a folder are in its namespace.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "assay/support/files/file.h"
#include "tests/structure/arrows.h"

namespace assay::structure {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Where a library that the folder reads has the folder's own name as its namespace.
const std::map<std::string, std::string> other_names{
    {"onnx", "onnx_format"}, {"torch", "torch_module"}, {"assay", "app"}};

// Their words are the vocabulary of all other folders, so their namespaces are inline.
const std::set<std::string> vocabulary{"support", "model", "data", "engine"};

// Names of the folders around a source, outermost first; of a public header those of its owner.
std::vector<std::string> folders_of(const std::string& path, const Owners& owners) {
  const std::string public_folder = "include/assay/";
  std::string folder = std::filesystem::path(path).parent_path().generic_string();
  if (path.starts_with(public_folder)) folder = owners.at(path.substr(public_folder.size()));
  std::vector<std::string> names;
  for (const std::filesystem::path& part : std::filesystem::path(folder)) names.push_back(part.string());
  if (names[0] == "assay" || names[0] == "apps") names.erase(names.begin());
  return names;
}

bool is_named_after(const std::string& type, const std::string& folder) {
  const auto other = other_names.find(folder);
  return type.starts_with("assay::" + folder + "::") ||
         (other != other_names.end() && type.starts_with("assay::" + other->second + "::"));
}

// Sentences, one for every type outside the namespaces of its folders.
std::vector<std::string> misplaced(const std::vector<Source>& sources, const Owners& owners) {
  std::vector<std::string> found;
  for (const Source& source : sources) {
    const std::vector<std::string> folders = folders_of(source.path, owners);
    for (const std::string& type : types_defined_in(source.text)) {
      const bool named = std::ranges::any_of(
          folders, [&](const std::string& folder) { return is_named_after(type, folder); });
      // A specialisation stands where its template does.
      if (!named && type.find('<') == std::string::npos)
        found.push_back(fmt::format("{} is defined in {}", type, source.path));
    }
  }
  return found;
}

// Sentences, one for every name that headers of two folders of the vocabulary give to a type: nobody else
// could say which is meant.
std::vector<std::string> ambiguous(const std::vector<Source>& sources, const Owners& owners) {
  std::map<std::string, std::set<std::string>> types;
  for (const Source& source : sources) {
    if (!source.path.ends_with(".h") || !vocabulary.contains(folders_of(source.path, owners)[0])) continue;
    for (const std::string& type : types_defined_in(source.text)) {
      const std::string folder = folders_of(source.path, owners)[0], scope = "assay::" + folder + "::";
      if (type.starts_with(scope) && type.find("::", scope.size()) == std::string::npos)
        types[type.substr(scope.size())].insert(folder);
    }
  }
  std::vector<std::string> found;
  for (const auto& [name, folders] : types)
    if (folders.size() > 1) found.push_back(fmt::format("{} is of {}", name, fmt::join(folders, " and ")));
  return found;
}

Owners owners() { return owners_of(read_file(std::string(ASSAY_SOURCE_DIR) + "/docs/architecture.md")); }

TEST(Namespaces, ATypeOutsideItsFoldersIsFound) {
  EXPECT_THAT(misplaced({{"assay/data/files/a.cpp",
                          "namespace assay { struct A {}; }\n"
                          "namespace assay::inline data { struct B {}; }\n"
                          "namespace assay::files { struct C {}; }"},
                         {"assay/model/onnx/b.h", "namespace assay::onnx_format { struct D {}; }"},
                         {"include/assay/c.h", "namespace assay::data { struct E {}; }"}},
                        {{"c.h", "engine"}}),
              ElementsAre("assay::A is defined in assay/data/files/a.cpp",
                          "assay::data::E is defined in include/assay/c.h"));
}

TEST(Namespaces, ANameOfTwoFoldersIsFound) {
  EXPECT_THAT(ambiguous({{"assay/data/a.h", "namespace assay::inline data { struct A {}; struct B {}; }"},
                         {"assay/engine/a.h", "namespace assay::inline engine { class A {}; }"},
                         {"assay/task/a.h", "namespace assay::task { class B {}; }"}},
                        {}),
              ElementsAre("A is of data and engine"));
}

TEST(Namespaces, AreThoseOfTheFolders) {
  const std::vector<Source> sources = sources_below({"assay", "apps", "include"});
  EXPECT_THAT(misplaced(sources, owners()), IsEmpty());
  EXPECT_THAT(ambiguous(sources, owners()), IsEmpty());
}

}  // namespace
}  // namespace assay::structure
