// Tokens joined to the words of which they are pieces.

#include "assay/text/words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "files.h"

namespace assay::text::testing {
namespace {

using ::testing::ElementsAre;
using Numbers = std::vector<std::int64_t>;

std::vector<std::string> joined_words(const Tokenizer& tokenizer, const Numbers& ids) {
  std::vector<std::string> words;
  for (const Word& word : words_of(tokenizer, ids)) words.push_back(word.text);
  return words;
}

const std::string special =
    R"("added_tokens": [{"id": 0, "content": "[CLS]", "special": true, "normalized": false}])";

TEST(Words, AreJoinedByTheSignOfPieces) {
  const Tokenizer pieces = tokenizer_of(
      R"({"type": "WordPiece", "unk_token": "[CLS]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
          "vocab": {"[CLS]": 0, "un": 1, "##like": 2, "##ly": 3, "film": 4}})",
      {special, R"("decoder": {"type": "WordPiece", "prefix": "##", "cleanup": false})"});
  const std::vector<Word> words = words_of(pieces, Numbers{0, 1, 2, 3, 4, 0, 2});
  ASSERT_EQ(words.size(), 5u);
  EXPECT_EQ(words[1].text, "unlikely");
  EXPECT_EQ(words[1].begin, 1u);
  EXPECT_EQ(words[1].end, 4u);
  EXPECT_EQ(words[0].text, "[CLS]");
  EXPECT_EQ(words[2].text, "film");
  EXPECT_EQ(words[4].begin, 6u);  // a piece after a special token begins a word
  EXPECT_THAT(joined_words(pieces, {4, 99}), ElementsAre("film", "#99"));
}

TEST(Words, AreJoinedByTheSignOfSpaces) {
  const Tokenizer spaced = tokenizer_of(
      R"({"type": "BPE", "merges": [], "vocab": {"a": 0, "b": 1, "\u0120a": 2, "\u0120b": 3}})",
      {R"("decoder": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true})"});
  EXPECT_THAT(joined_words(spaced, {0, 1, 2, 1, 3}), ElementsAre("ab", "ab", "b"));
  EXPECT_THAT(joined_words(spaced, {0, 1}), ElementsAre("a", "b"));  // nothing says that they are one
  const Tokenizer whole = tokenizer_of(
      R"({"type": "BPE", "merges": [], "vocab": {"a": 0, "b": 1, "\u0120": 2}})",
      {R"("decoder": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true})"});
  EXPECT_THAT(joined_words(whole, {0, 1}), ElementsAre("ab"));  // a text of one word
}

TEST(Words, BeginAtCharactersOfScriptsWithoutSpaces) {
  const Tokenizer pieces = tokenizer_of(
      R"({"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["▁", 0], ["电影", 0], ["好", 0], ["看", 0], ["▁ok", 0], ["ay", 0]]})",
      {R"("decoder": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true})"});
  EXPECT_THAT(joined_words(pieces, {5, 6, 2, 3, 4, 6}), ElementsAre("okay", "电影", "好", "看ay"));
  EXPECT_THAT(joined_words(pieces, {5, 1, 2, 3}), ElementsAre("ok", "电影", "好"));  // a space is no word
  // 好 is the bytes E5 A5 BD, in letters å¥½; the second token holds its end.
  const Tokenizer bytes = tokenizer_of(
      R"({"type": "BPE", "merges": [], "vocab": {"\u0120": 0, "a": 1, "\u00e5\u00a5": 2, "\u00bd": 3}})",
      {R"("decoder": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true})"});
  EXPECT_THAT(joined_words(bytes, {1, 1, 2, 3, 2, 3}), ElementsAre("aa", "好", "好"));
}

TEST(Words, AreNotJoinedByLettersThatAreNoSpaces) {
  const Tokenizer pieces = tokenizer_of(
      R"({"type": "WordPiece", "unk_token": "[CLS]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
          "vocab": {"[CLS]": 0, "hello": 1, "world": 2, "▁": 3, "\u0120": 4}})",
      {special, R"("decoder": {"type": "WordPiece", "prefix": "##", "cleanup": false})"});
  EXPECT_THAT(joined_words(pieces, {1, 2, 1}), ElementsAre("hello", "world", "hello"));
  EXPECT_THAT(joined_words(pieces, {1, 3, 2}), ElementsAre("hello", "▁", "world"));
  const Tokenizer japanese = tokenizer_of(
      R"({"type": "WordPiece", "unk_token": "[CLS]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
          "vocab": {"[CLS]": 0, "面白": 1, "##かっ": 2, "##た": 3}})",
      {special, R"("decoder": {"type": "WordPiece", "prefix": "##", "cleanup": false})"});
  EXPECT_THAT(joined_words(japanese, {1, 2, 3, 1}), ElementsAre("面白かった", "面白"));
  const Tokenizer maltese = tokenizer_of(
      R"({"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["▁caf", 0], ["é", 0], ["\u0120", 0], ["▁PA", 0], ["NA", 0]]})",
      {R"("decoder": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true})"});
  EXPECT_THAT(joined_words(maltese, {1, 2}), ElementsAre("café"));
  EXPECT_THAT(joined_words(maltese, {4, 3, 5, 1}), ElementsAre("PAĠNA", "caf"));
}

TEST(Words, BeginAtBytesOfScriptsWithoutSpaces) {
  const Tokenizer bytes = tokenizer_of(
      R"({"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["▁ok", 0], ["<0xE7>", 0], ["<0x94>", 0], ["<0xB5>", 0]]})",
      {R"("decoder": {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"},
          {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true}]})"});
  EXPECT_THAT(joined_words(bytes, {1, 2, 3, 4}), ElementsAre("ok", "电"));
}

}  // namespace
}  // namespace assay::text::testing
