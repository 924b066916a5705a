#include "files.h"

namespace assay::text::testing {
namespace {

using ::testing::ElementsAre;

const std::string letters =
    R"({"type": "BPE", "vocab": {"a": 0, "b": 1, "c": 2, "d": 3, "[PAD]": 4, "[CLS]": 5, "[SEP]": 6}, "merges": []})";
const std::string special_tokens =
    R"("added_tokens": [{"id": 4, "content": "[PAD]", "special": true, "normalized": false},
    {"id": 5, "content": "[CLS]", "special": true, "normalized": false},
    {"id": 6, "content": "[SEP]", "special": true, "normalized": false}])";
const std::string around =
    R"("post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 6], "cls": ["[CLS]", 5]})";

TEST(Lengths, CutAndFillUpWithSpecialTokensKept) {
  const Tokenizer bert = tokenizer_of(letters, {special_tokens, around});
  EXPECT_THAT(bert.encode("abcd", {.length = 4}).ids, ElementsAre(5, 0, 1, 6));
  const Encoding filled = bert.encode("a", {.length = 5});
  EXPECT_THAT(filled.ids, ElementsAre(5, 0, 6, 4, 4));
  EXPECT_THAT(filled.attention, ElementsAre(1, 1, 1, 0, 0));
  EXPECT_THAT(filled.special, ElementsAre(1, 0, 1, 1, 1));
  EXPECT_THAT(bert.encode("ab", "cd", {.length = 6}).ids, ElementsAre(5, 0, 6, 2, 3, 6))
      << "of two texts of the same length the first is cut";
  EXPECT_THAT(bert.encode("a", "b").types, ElementsAre(0, 0, 0, 1, 1));
  EXPECT_THAT(bert.encode("ab", {.special = false}).ids, ElementsAre(0, 1));
  expect_error(Fault::data, {"t.json", "1 tokens are too few"}, [&] { bert.encode("a", {.length = 1}); });
}

TEST(Lengths, AsTheFileSays) {
  const Tokenizer file = tokenizer_of(
      letters,
      {R"("truncation": {"max_length": 3, "strategy": "LongestFirst", "stride": 0, "direction": "Left"})",
       R"("padding": {"strategy": {"Fixed": 4}, "direction": "Left", "pad_to_multiple_of": null,
                    "pad_id": 4, "pad_type_id": 0, "pad_token": "[PAD]"})"});
  EXPECT_THAT(file.encode("abcd").ids, ElementsAre(4, 1, 2, 3));
  EXPECT_EQ(file.longest(), 3);
  EXPECT_EQ(file.padding(), 4);
  expect_error(Fault::data, {"padding", "'direction'", "Left and Right"}, [] {
    tokenizer_of(letters, {R"("padding": {"strategy": "BatchLongest", "direction": "Up", "pad_id": 4,
        "pad_type_id": 0, "pad_token": "[PAD]"})"});
  });
  const Tokenizer none = tokenizer_of(R"({"type": "BPE", "vocab": {"a": 0}, "merges": []})");
  expect_error(Fault::data, {"no token to fill up"}, [&] { none.encode("a", {.length = 2}); });
}

TEST(Templates, PutSpecialTokensWhereTheySay) {
  const std::string form = R"("post_processor": {"type": "TemplateProcessing",
      "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
      "pair": [{"Sequence": {"id": "B", "type_id": 1}}, {"Sequence": {"id": "A", "type_id": 0}}],
      "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [5, 6], "tokens": ["[CLS]", "[SEP]"]}}})";
  const Tokenizer made = tokenizer_of(letters, {form});
  EXPECT_THAT(made.encode("ab").ids, ElementsAre(5, 6, 0, 1));
  EXPECT_THAT(made.encode("a", "b").ids, ElementsAre(1, 0));
  EXPECT_THAT(made.encode("a", "b").types, ElementsAre(1, 0));
  expect_error(Fault::data, {"post_processor.single[0].SpecialToken", "'[X]'", "'special_tokens'"}, [] {
    tokenizer_of(letters, {R"("post_processor": {"type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "[X]", "type_id": 0}}], "pair": [], "special_tokens": {}})"});
  });
}

}  // namespace
}  // namespace assay::text::testing
