#include "files.h"

#include "assay/text/parts.h"

namespace assay::text::testing {
namespace {

using ::testing::ElementsAre;

const std::string words =
    R"({"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0, "a": 1, "b": 2, "word": 3}})";
const std::string blanks = R"("pre_tokenizer": {"type": "WhitespaceSplit"})";

std::string added(const std::string& flags) {
  return R"("added_tokens": [{"id": 4, "content": "<x>", "normalized": false, )" + flags + "}]";
}

TEST(AddedTokens, AreFoundBeforeAllElse) {
  const Tokenizer plain = tokenizer_of(words, {blanks, added(R"("special": true)")});
  EXPECT_THAT(plain.encode("a <x>b").ids, ElementsAre(1, 4, 2));
  EXPECT_THAT(plain.encode("a <x>b").offsets, ElementsAre(Offsets{0, 1}, Offsets{2, 5}, Offsets{5, 6}));
  EXPECT_EQ(plain.decode(std::vector<std::int64_t>{1, 4, 2, 99}), "a b");
  EXPECT_EQ(plain.decode(std::vector<std::int64_t>{1, 4, 2}, true), "a <x> b");
  EXPECT_TRUE(plain.is_special(4));
  EXPECT_EQ(plain.size(), 5);
  EXPECT_EQ(plain.id("<x>"), 4);
  EXPECT_EQ(plain.token(3), "word");
  EXPECT_EQ(plain.token(-1), std::nullopt);
  const Tokenizer wide = tokenizer_of(words, {blanks, added(R"("lstrip": true, "rstrip": true)")});
  EXPECT_THAT(wide.encode("a <x> b").offsets, ElementsAre(Offsets{0, 1}, Offsets{1, 6}, Offsets{6, 7}));
  const Tokenizer single = tokenizer_of(words, {blanks, added(R"("single_word": true)")});
  EXPECT_THAT(single.encode("a <x>b").ids, ElementsAre(1, 0));
  EXPECT_THAT(single.encode("a <x> b").ids, ElementsAre(1, 4, 2));
}

// Two bytes and three bytes a character.
TEST(Tokenizer, OffsetsAreCharacters) {
  const Tokenizer plain = tokenizer_of(words, {blanks});
  EXPECT_THAT(plain.encode("\u00E9 \u4E2D\u6587 a").offsets,
              ElementsAre(Offsets{0, 1}, Offsets{2, 4}, Offsets{5, 6}));
  EXPECT_THAT(plain.encode("\u00E9 \u4E2D\u6587 a").words, ElementsAre(0, 1, 2));
  EXPECT_TRUE(plain.encode("").ids.empty());
}

TEST(Decoders, MakeTextOfTokens) {
  const auto decoded = [](const std::string& vocabulary, const std::string& decoder) {
    const Tokenizer made =
        tokenizer_of(R"({"type": "WordLevel", "unk_token": "?", "vocab": )" + vocabulary + "}",
                     {"\"decoder\": " + decoder});
    return made.decode(std::vector<std::int64_t>{0, 1, 2});
  };
  EXPECT_EQ(decoded(R"({"un": 0, "##able": 1, ".": 2})",
                    R"({"type": "WordPiece", "prefix": "##", "cleanup": true})"),
            "unable.");
  EXPECT_EQ(decoded(R"({"\u00C3": 0, "\u00A9": 1, "\u0120a": 2})",
                    R"({"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true})"),
            "\u00E9 a");
  EXPECT_EQ(decoded(R"({"\u2581a": 0, "<0xC3>": 1, "<0xA9>": 2})", R"({"type": "Sequence", "decoders": [
      {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}, {"type": "ByteFallback"},
      {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]})"),
            "a\u00E9");
  EXPECT_EQ(decoded(R"({"\u2581a": 0, "b": 1, "\u2581c": 2})",
                    R"({"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always"})"),
            "ab c");
  EXPECT_EQ(decoded(R"({"a</w>": 0, "b": 1, "c</w>": 2})", R"({"type": "BPEDecoder", "suffix": "</w>"})"),
            "a bc");
}

TEST(TokenizerErrors, SayWhatToDo) {
  const Tokenizer plain = tokenizer_of(words);
  expect_error(Fault::data, {"t.json", "not UTF-8"}, [&] { plain.encode("\xFF"); });
  expect_error(Fault::data, {"t.json", "not a tokenizer.json"}, [] { Tokenizer("{", "t.json"); });
  expect_error(Fault::data, {"t.json", "'model' is missing"}, [] { Tokenizer("{}", "t.json"); });
  expect_error(Fault::io, {"no tokenizer.json", "save_pretrained"},
               [] { Tokenizer(std::filesystem::path(::testing::TempDir())); });
  std::string deep = R"({"type": "NFC"})";
  for (int i = 0; i < 30; ++i) deep = R"({"type": "Sequence", "normalizers": [)" + deep + "]}";
  expect_error(Fault::data, {"within each other"}, [&] { tokenizer_of(words, {"\"normalizer\": " + deep}); });
}

// Every part of the catalogues can be asked for, and says what it lacks rather than anything else.
template <typename Part>
void expect_checked(const Catalogue<PartInfo<Part>>& catalogue) {
  ASSERT_FALSE(catalogue.empty());
  for (const PartInfo<Part>& info : catalogue) {
    EXPECT_FALSE(info.summary.empty()) << info.name;
    const nlohmann::json bare = {{"type", info.name}};
    try {
      make_part(catalogue, Settings(bare, "t.json: part"));
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::data) << info.name;
      EXPECT_THAT(error.what(), ::testing::StartsWith("t.json: part")) << info.name;
    }
  }
}
TEST(EveryPart, IsCheckedAsItIsRead) {
  expect_checked(normalizers());
  expect_checked(pre_tokenizers());
  expect_checked(token_models());
  expect_checked(post_processors());
  expect_checked(decoders());
}

}  // namespace
}  // namespace assay::text::testing
