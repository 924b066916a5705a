#include "files.h"

#include "assay/support/text/text.h"

namespace assay::text::testing {
namespace {

using ::testing::ElementsAre;

std::string normalized(const std::string& text, const std::string& normalizer) {
  const Tokenizer all = tokenizer_of(R"({"type": "Unigram", "unk_id": 0, "vocab": [["?", 0]]})",
                                     {"\"normalizer\": " + normalizer});
  std::string result;
  for (const std::string& token : all.encode(text).tokens) result += token;
  return result;
}

TEST(Normalizers, FormsAccentsAndCase) {
  EXPECT_EQ(normalized("e\u0301\uFB01", R"({"type": "NFC"})"), "\u00E9\uFB01");
  EXPECT_EQ(normalized("\u00E9", R"({"type": "NFD"})"), "e\u0301");
  EXPECT_EQ(normalized("\uFB01\u00BD", R"({"type": "NFKC"})"), "fi1\u20442");
  EXPECT_EQ(normalized("\uAC01", R"({"type": "NFKD"})"), "\u1100\u1161\u11A8");
  EXPECT_EQ(normalized("\u0130A", R"({"type": "Lowercase"})"), "i\u0307a");
  EXPECT_EQ(normalized(" a b ", R"({"type": "Strip", "strip_left": true, "strip_right": false})"), "a b ");
  EXPECT_EQ(normalized("\u00C4\t\u4E2D\x01x", R"({"type": "BertNormalizer", "clean_text": true,
      "handle_chinese_chars": true, "strip_accents": null, "lowercase": true})"),
            "a  \u4E2D x");
}

TEST(Normalizers, SequencesReplaceAndPrepend) {
  EXPECT_EQ(normalized("a  b", R"({"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "_"},
      {"type": "Replace", "pattern": {"Regex": " +"}, "content": "_"}]})"),
            "_a_b");
}

// A trie of one entry, a to the text at position 0, "bc".
TEST(Normalizers, CharacterMapsOfSentencePiece) {
  std::vector<std::uint32_t> units(512, 0);
  units[0] = 256U << 10;                          // children of the root from 256 on
  units[256 ^ 'a'] = 'a' | 1U << 8 | (1U << 10);  // a leaf follows, at its place xor 1
  units[(256 ^ 'a') ^ 1] = 0;                     // the text at position 0
  std::string bytes;
  const auto add = [&](std::uint32_t unit) {
    for (int i = 0; i < 4; ++i) bytes += static_cast<char>(unit >> (8 * i) & 255);
  };
  add(static_cast<std::uint32_t>(4 * units.size()));
  for (const std::uint32_t unit : units) add(unit);
  bytes += std::string("bc\0", 3);
  const std::string map = R"({"type": "Precompiled", "precompiled_charsmap": ")" + base64(bytes) + "\"}";
  EXPECT_EQ(normalized("xax", map), "xbcx");
  expect_error(Fault::data, {"'precompiled_charsmap'", "promises"}, [&] {
    normalized("a",
               R"({"type": "Precompiled", "precompiled_charsmap": ")" + base64(bytes.substr(0, 40)) + "\"}");
  });
}

TEST(PreTokenizers, SplitWhereTheyShould) {
  const auto split = [](const std::string& text, const std::string& part) {
    return pieces(text, {"\"pre_tokenizer\": " + part});
  };
  EXPECT_THAT(split("it's 42!", R"({"type": "BertPreTokenizer"})"), ElementsAre("it", "'", "s", "42", "!"));
  EXPECT_THAT(split("it's  42", R"({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true})"),
              ElementsAre("it", "'s", " ", " 42"));
  EXPECT_THAT(split("a-b c", R"({"type": "Whitespace"})"), ElementsAre("a", "-", "b", "c"));
  EXPECT_THAT(split("a-b c", R"({"type": "WhitespaceSplit"})"), ElementsAre("a-b", "c"));
  EXPECT_THAT(split("a12", R"({"type": "Digits", "individual_digits": true})"), ElementsAre("a", "1", "2"));
  EXPECT_THAT(split("a12", R"({"type": "Digits", "individual_digits": false})"), ElementsAre("a", "12"));
  EXPECT_THAT(split("a b", R"({"type": "Metaspace", "replacement": "_", "prepend_scheme": "always"})"),
              ElementsAre("a", " b"));
  EXPECT_THAT(split("a|b", R"({"type": "CharDelimiterSplit", "delimiter": "|"})"), ElementsAre("a", "b"));
  EXPECT_THAT(split("abcde", R"({"type": "FixedLength", "length": 2})"), ElementsAre("ab", "cd", "e"));
}

}  // namespace
}  // namespace assay::text::testing
