// The reader that the laws of the sources rest on: what it must see, and what it must not.

#include "tests/structure/cpp_source.h"

#include <gmock/gmock.h>

namespace assay::structure {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(TypesDefinedIn, NamesThemWithTheirNamespaces) {
  EXPECT_THAT(types_defined_in("struct A {};\n"
                               "namespace assay::model { class B final : public A { struct Inner {}; };\n"
                               "enum class C : int { one }; union D { int i; }; }\n"
                               "namespace other { inline namespace v1 { struct E { int x = f({1}); }; } }"
                               "namespace other::inline v2 { struct F {}; }"),
              ElementsAre("A", "assay::model::B", "assay::model::C", "assay::model::D", "other::v1::E",
                          "other::v2::F"));
}

TEST(TypesDefinedIn, NamesTemplatesAndSpecialisations) {
  EXPECT_THAT(types_defined_in("template <class T, typename U = List<List<int>>> struct Box {};\n"
                               "template <> struct Box<int, char> {};\n"
                               "template <class T> requires small<T> class [[nodiscard]] Cup {};\n"
                               "struct alignas(64) Line {};\n"
                               "template <> struct std::hash<Key> { int operator()(Key) const; };"),
              ElementsAre("Box", "Box<int,char>", "Cup", "Line", "std::hash<Key>"));
}

TEST(TypesDefinedIn, LeavesOutWhatIsNoDefinitionForOthers) {
  EXPECT_THAT(types_defined_in("class Forward; enum class Kind : int; namespace short_name = a::b;\n"
                               "namespace assay { namespace { struct Own {}; } class Later; }\n"
                               "struct Point origin() { struct Local {}; return {}; }\n"
                               "const auto f = make([] { struct Hidden {}; return 1; });\n"
                               "void g() { if (true) { } } // struct Comment {};\n"
                               "/* struct Comment {}; */ const char* s = \"struct Text {\";\n"
                               "const char* raw = R\"x(struct Raw { \" )x\"; int n = 1'000, c = '{';\n"
                               "#define MACRO struct Macro { \\\n  int x; };\n"),
              IsEmpty());
}

TEST(TypesDefinedIn, IsNotConfusedByWhatComesBefore) {
  EXPECT_THAT(
      types_defined_in("namespace a { X_MACRO(DECLARE)\nstruct After {};\n"
                       "Thing::Thing() : left_{1}, right_(2) {}\n"
                       "int table[] = {1, 2, 3};\nextern \"C\" { struct Plain {}; } }\nstruct Last {};"),
      ElementsAre("a::After", "a::Plain", "Last"));
}

TEST(IncludesOf, ReadsBothForms) {
  EXPECT_THAT(
      includes_of("#pragma once\n#include <map>\n#include \"assay/model/graph.h\"\n// #include <set>\n"),
      ElementsAre("map", "assay/model/graph.h"));
}

}  // namespace
}  // namespace assay::structure
