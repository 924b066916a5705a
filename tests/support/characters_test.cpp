// Characters and their numbers in Unicode.

#include "assay/support/text/characters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assay/support/ascii.h"

namespace assay {
namespace {

TEST(Characters, HaveNumbers) {
  EXPECT_THAT(*character_codes("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"),
              ::testing::ElementsAre(U'a', U'\u00E9', U'\u20AC', U'\U0001F600'));
  EXPECT_TRUE(character_codes("")->empty());
}

TEST(Characters, OfNumbersAreTheSame) {
  for (const char32_t code : {0x1, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF})
    EXPECT_THAT(character_codes(character_of(code)), ::testing::Optional(::testing::ElementsAre(code)));
}

TEST(Characters, AreNoneWhereBytesAreNot) {
  for (const char* const bytes : {"\xFF", "a\xC3", "\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80"})
    EXPECT_EQ(character_codes(bytes), std::nullopt);
}

TEST(Ascii, BytesOfOtherCharactersAreNoLettersWhateverTheLocale) {
  EXPECT_EQ(byte_of('\xFF'), 255);
  EXPECT_EQ(lower_case("A\xC3\x84z9_"), "a\xC3\x84z9_");
  EXPECT_EQ(upper_case("a\xC3\xA4Z9_"), "A\xC3\xA4Z9_");
  for (const char c : std::string("_-@[`{/:\xC4\xE4")) EXPECT_FALSE(is_alphanumeric(c)) << c;
  for (const char c : std::string("azAZ09")) EXPECT_TRUE(is_alphanumeric(c)) << c;
  EXPECT_TRUE(continues_character('\x84'));
  EXPECT_FALSE(continues_character('\xC3'));
}

}  // namespace
}  // namespace assay
