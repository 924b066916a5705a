#include "assay/support/files/toml_file.h"

#include <gmock/gmock.h>

#include <assay/error.h>
#include "assay/support/files/file.h"

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class TomlFile : public testing::Test {
 protected:
  ~TomlFile() override { std::filesystem::remove(file); }

  toml::table table_of(const std::string& text) const {
    write_file(file, text);
    return read_toml(file);
  }
  std::string refusal(const std::string& text) const {
    try {
      for (const auto& [key, node] : table_of(text)) texts_of(file, node);
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::usage);
      return error.what();
    }
    return "no error";
  }

  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "assay_toml_test.toml";
};

TEST_F(TomlFile, ValuesAreTexts) {
  const toml::table table = table_of("a = 'x'\nb = [1, 2.5, true, 'y']\n");
  EXPECT_EQ(text_of(file, *table.get("a")), "x");
  EXPECT_THAT(texts_of(file, *table.get("a")), ElementsAre("x"));
  EXPECT_THAT(texts_of(file, *table.get("b")), ElementsAre("1", "2.5", "true", "y"));
  EXPECT_EQ(place_in(file, *table.get("b")), file.string() + ":2");
}

TEST_F(TomlFile, WhatIsWrongIsSaidWithItsLine) {
  EXPECT_THAT(refusal("a = 1\nb = \n"), HasSubstr("assay_toml_test.toml:2"));
  EXPECT_THAT(refusal("a = 1\nb = 2020-01-01\n"), HasSubstr(":2: a text, number, truth value or list"));
  EXPECT_THAT(refusal("a = [[1]]\n"), HasSubstr(":1: a text, number"));
}

TEST_F(TomlFile, NamesOfVeryManyPartsAreRefusedBeforeTheyAreParsed) {
  std::string name = "a";
  for (int i = 0; i < 100'000; ++i) name += ".a";
  EXPECT_THAT(refusal("x = 1\n" + name + " = 1\n"), HasSubstr(":2: a name of more than 32 parts"));
  EXPECT_EQ(refusal("x = \"" + name + "\" # " + name + "\n"), "no error");
}

}  // namespace
}  // namespace assay
