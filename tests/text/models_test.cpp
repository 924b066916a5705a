#include "files.h"

namespace assay::text::testing {
namespace {

using ::testing::ElementsAre;

// Of "abab": a b a b, then rank 0 makes ab ab, rank 1 abab. "aab" is a ab.
TEST(ByteLevelPairs, MergeInTheOrderOfTheirRanks) {
  const Tokenizer bpe = tokenizer_of(
      R"({"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "abab": 3}, "merges": [["a", "b"], "ab ab"]})");
  EXPECT_THAT(bpe.encode("abab").ids, ElementsAre(3));
  EXPECT_THAT(bpe.encode("aab").ids, ElementsAre(0, 2));
  EXPECT_THAT(bpe.encode("ababab").tokens, ElementsAre("abab", "ab"));
  EXPECT_THAT(bpe.encode("ababab").offsets, ElementsAre(Offsets{0, 4}, Offsets{4, 6}));
  EXPECT_EQ(bpe.size(), 4);
  EXPECT_EQ(bpe.numbers(), 4);
}

TEST(Pairs, UnknownCharactersAreFusedOrBytes) {
  const std::string words =
      R"("unk_token": "?", "vocab": {"?": 0, "a": 1, "<0xC3>": 2, "<0xA9>": 3}, "merges": [])";
  EXPECT_THAT(tokenizer_of(R"({"type": "BPE", )" + words + "}").encode("axya").ids, ElementsAre(1, 0, 0, 1));
  EXPECT_THAT(tokenizer_of(R"({"type": "BPE", "fuse_unk": true, )" + words + "}").encode("axya").ids,
              ElementsAre(1, 0, 1));
  EXPECT_THAT(tokenizer_of(R"({"type": "BPE", "byte_fallback": true, )" + words + "}").encode("a\u00E9").ids,
              ElementsAre(1, 2, 3));
}

TEST(WordPiece, TakesTheLongestPieceFirst) {
  const Tokenizer pieces = tokenizer_of(
      R"({"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
          "max_input_chars_per_word": 6, "vocab": {"[UNK]": 0, "un": 1, "##able": 2, "##ab": 3, "##l": 4, "u": 5}})");
  EXPECT_THAT(pieces.encode("unable").ids, ElementsAre(1, 2));
  EXPECT_THAT(pieces.encode("unabl").tokens, ElementsAre("un", "##ab", "##l"));
  EXPECT_THAT(pieces.encode("unabx").ids, ElementsAre(0));
  EXPECT_THAT(pieces.encode("unablel").ids, ElementsAre(0)) << "more characters than a word may have";
}

// ab: -3 as one piece, -1 - 2.5 as two; abc: c is unknown with -3 - 10.
TEST(Unigram, FindsTheMostProbablePieces) {
  const Tokenizer pieces = tokenizer_of(
      R"({"type": "Unigram", "unk_id": 0, "vocab": [["?", 0], ["a", -1], ["b", -2.5], ["ab", -3]]})");
  EXPECT_THAT(pieces.encode("ab").ids, ElementsAre(3));
  EXPECT_THAT(pieces.encode("ba").ids, ElementsAre(2, 1));
  EXPECT_THAT(pieces.encode("abxya").ids, ElementsAre(3, 0, 1)) << "unknown characters are one token";
  EXPECT_THAT(pieces.encode("abxya").tokens, ElementsAre("ab", "xy", "a"));
}

TEST(ModelErrors, NameThePlaceInTheFile) {
  const auto made = [](const std::string& model) { return [model] { tokenizer_of(model); }; };
  expect_error(Fault::unsupported, {"t.json: model", "'Wordpiece'", "WordPiece"},
               made(R"({"type": "Wordpiece", "vocab": {}})"));
  expect_error(Fault::data, {"t.json: model", "merge 0", "'ab'", "not in the vocabulary"},
               made(R"({"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": ["a b"]})"));
  expect_error(Fault::data, {"merge 0 is not a pair"},
               made(R"({"type": "BPE", "vocab": {}, "merges": [3]})"));
  expect_error(Fault::data, {"both have the number 0"},
               made(R"({"type": "BPE", "vocab": {"a": 0, "b": 0}, "merges": []})"));
  expect_error(Fault::data, {"model.vocab", "'a'", "whole number"},
               made(R"({"type": "BPE", "vocab": {"a": -1}, "merges": []})"));
  expect_error(Fault::unsupported, {"'dropout'", "null"},
               made(R"({"type": "BPE", "dropout": 0.1, "vocab": {}, "merges": []})"));
  expect_error(Fault::data, {"'unk_id' is 7"},
               made(R"({"type": "Unigram", "unk_id": 7, "vocab": [["a", -1]]})"));
  expect_error(Fault::data, {"'vocab' is missing"}, made(R"({"type": "WordLevel", "unk_token": "?"})"));
  const Tokenizer words = tokenizer_of(R"({"type": "WordLevel", "unk_token": "?", "vocab": {"a": 0}})");
  expect_error(Fault::data, {"'b' is not in the vocabulary", "'?'"}, [&] { words.encode("b"); });
}

}  // namespace
}  // namespace assay::text::testing
