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

// "c" would be -1 as a piece, and "ab" -0.5; as of version 0.2.3 of the package.
TEST(SentencePiece, SymbolsOfUsersAreFoundAndUnusedPiecesAreNot) {
  const Tokenizer made = tokenizer_in(unknown + piece("a", 0, 4) + piece("b", 0, 4) + piece("ab", -0.5F) +
                                      piece("c", -1, 5) + unigram + text(3, number(3, 0)));
  EXPECT_THAT(made.encode("abc").ids, ElementsAre(1, 2, 0));
  EXPECT_THAT(made.encode("accb").ids, ElementsAre(1, 0, 2));
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

// Units of a map that has "x" for the first byte of \u00E9 and "y" for \u00F8, both of which begin with it.
std::string map_of_half_a_character() {
  std::vector<std::uint32_t> units(0x400);
  const std::uint32_t lead = 0x100 ^ 0xC3, after_lead = 0x200, after_second = 0x300;
  units[0] = 0x100 << 10;
  units[lead] = (lead ^ after_lead) << 10 | 1 << 8 | 0xC3;
  units[after_lead] = 1U << 31;
  const std::uint32_t second = after_lead ^ 0xB8;
  units[second] = (second ^ after_second) << 10 | 1 << 8 | 0xB8;
  units[after_second] = 1U << 31 | 2;
  std::string bytes;
  const auto put = [&](std::uint32_t number) {
    for (int i = 0; i < 4; ++i) bytes += static_cast<char>(number >> (8 * i));
  };
  put(static_cast<std::uint32_t>(4 * units.size()));
  for (const std::uint32_t unit : units) put(unit);
  return bytes + std::string("x\0y\0", 4);
}

TEST(SentencePiece, CharactersAreReplacedAsAWhole) {
  const Tokenizer made = tokenizer_in(unknown + piece("a", -1) + piece("y", -1) + unigram +
                                      text(3, number(3, 0) + text(2, map_of_half_a_character())));
  EXPECT_THAT(made.encode("a\u00F8a").tokens, ElementsAre("a", "y", "a"));
  EXPECT_THAT(made.encode("a\u00E9").tokens, ElementsAre("a", "\u00E9"));
}

// A, half of \u00E9, \u00E9: what is no character is marked byte by byte, and the rest stays.
TEST(SentencePiece, BytesAreTheCharactersThatTheyHold) {
  std::string bytes;
  for (unsigned byte = 0; byte < 256; ++byte) bytes += piece(byte_piece(byte), 0, 6);
  const Tokenizer made = tokenizer_in(unknown + bytes + piece("a", -1) + text(2, number(35, 1)));
  const std::vector<std::int64_t> ids{1 + 0x41, 1 + 0xC3, 1 + 0xC3, 1 + 0xA9, 257};
  EXPECT_EQ(made.decode(ids), "A\uFFFD\u00E9a");
}

TEST(SentencePiece, SaysWhatIsWrong) {
  const auto expect = [](Fault fault, const std::string& bytes, const std::string& said) {
    expect_error(fault, {"made.model", said}, [&] { tokenizer_in(bytes); });
  };
  expect(Fault::data, "", "it is empty");
  expect(Fault::data, unknown + "\x0a", "not a model of SentencePiece, or it is damaged");
  const std::string training = text(2, number(3, 1) + number(35, 0));
  expect(Fault::data, unknown + training.substr(0, training.size() - 3), "it is damaged");
  expect(Fault::data, unknown + varint(2 << 3 | 2) + varint(0xFFFFFFFF) + number(3, 1), "it is damaged");
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte)
    bytes += piece(byte == 10 ? "<0x0a>" : byte_piece(static_cast<unsigned>(byte)), 0, 6);
  expect(Fault::data, unknown + bytes + text(2, number(35, 1)), "no piece that is a byte is called '<0x0A>'");
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
