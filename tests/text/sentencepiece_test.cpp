// Files of SentencePiece, written by hand. Those of its package are compared from Python.

#include "assay/text/sentencepiece/file.h"

#include <gmock/gmock.h>

#include <bit>
#include <filesystem>
#include <fstream>
#include <limits>

#include "files.h"

namespace assay::text::testing {
namespace {

using ::testing::ElementsAre;

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 128; value >>= 7) bytes += static_cast<char>((value & 127) | 128);
  return bytes + static_cast<char>(value);
}
std::string number(int field, std::uint64_t value) {
  return varint(static_cast<std::uint64_t>(field) << 3) + varint(value);
}
std::string text(int field, const std::string& bytes) {
  return varint(static_cast<std::uint64_t>(field) << 3 | 2) + varint(bytes.size()) + bytes;
}
std::string real(int field, float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  std::string bytes = varint(static_cast<std::uint64_t>(field) << 3 | 5);
  for (int i = 0; i < 4; ++i) bytes += static_cast<char>(bits >> (8 * i));
  return bytes;
}

std::string piece(const std::string& content, float score, int type = 1) {
  return text(1, text(1, content) + real(2, score) + number(3, static_cast<std::uint64_t>(type)));
}
const std::string unknown = piece("<unk>", 0, 2);
const std::string unigram = text(2, number(3, 1)), bpe = text(2, number(3, 2));

// With the file as people have it.
Tokenizer tokenizer_in(const std::string& bytes) {
  const std::filesystem::path file = std::filesystem::path(::testing::TempDir()) / "made.model";
  std::ofstream(file, std::ios::binary) << bytes;
  return Tokenizer(file);
}

// -1 - 3 for "ab" and "c" is more than -2 - 3 for "a" and "bc".
TEST(SentencePiece, TakesTheBestPieces) {
  const Tokenizer made = tokenizer_in(unknown + piece("<s>", 0, 3) + piece("\u2581", -1) + piece("ab", -1) +
                                      piece("a", -2) + piece("bc", -3) + piece("c", -3) + unigram);
  EXPECT_THAT(made.encode("abc").tokens, ElementsAre("\u2581", "ab", "c"));
  EXPECT_THAT(made.encode("  abc   bc ").tokens, ElementsAre("\u2581", "ab", "c", "\u2581", "bc"));
  EXPECT_THAT(made.encode("c<s>").ids, ElementsAre(2, 6, 0));  // what controls is not in texts
  EXPECT_EQ(made.decode(made.encode("abc bc").ids), "abc bc");
  EXPECT_TRUE(made.is_special(0) && made.is_special(1) && !made.is_special(2));
  EXPECT_EQ(made.size(), 7U);
}

// "bc" has the greatest score, though "ab" is to its left; symbols of users stay whole.
TEST(SentencePiece, MergesTheBestPairFirst) {
  const Tokenizer made =
      tokenizer_in(unknown + piece("a", -9) + piece("b", -9) + piece("c", -9) + piece("ab", -2) +
                   piece("bc", -1) + piece("cab", 0, 4) + bpe + text(3, number(3, 0)));
  EXPECT_THAT(made.encode("abc").tokens, ElementsAre("a", "bc"));
  EXPECT_THAT(made.encode("abab").tokens, ElementsAre("ab", "ab"));
  EXPECT_THAT(made.encode("bcab").tokens, ElementsAre("b", "cab"));
  EXPECT_THAT(made.encode("axyb").tokens, ElementsAre("a", "xy", "b"));
  EXPECT_THAT(made.encode("axyb").ids, ElementsAre(1, 0, 2));
}

TEST(SentencePiece, SaysWhatIsWrong) {
  const auto expect = [](Fault fault, const std::string& bytes, const std::string& said) {
    expect_error(fault, {"made.model", said}, [&] { tokenizer_in(bytes); });
  };
  expect(Fault::data, "", "it is empty");
  expect(Fault::data, unknown + "\x0a", "not a model of SentencePiece, or it is damaged");
  expect(Fault::data, piece("a", 0), "0 pieces stand for what is unknown");
  expect(Fault::data, unknown + piece("a", 0) + piece("a", 0), "'a' is there twice");
  expect(Fault::data, unknown + piece("a", 0, 9), "piece 1 is of type 9");
  expect(Fault::data, unknown + piece("\xFF", 0), "piece 1 is not a text");
  expect(Fault::data, unknown + piece("a", std::numeric_limits<float>::infinity()), "piece 1 has no score");
  expect(Fault::data, unknown + text(2, number(35, 1)), "0 pieces are bytes");
  expect(Fault::data, unknown + text(3, text(2, "ab")), "'precompiled_charsmap' ends early");
  expect(Fault::unsupported, unknown + text(2, number(3, 4)), "of type CHAR");
  expect(Fault::unsupported, unknown + piece("a", 0, 5) + bpe, "piece 'a' is unused");
  expect(Fault::unsupported, unknown + text(5, text(2, "abcd")), "denormalizer_spec");
}

}  // namespace
}  // namespace assay::text::testing
