// Models of language as classifiers: the scores of answers at a position, worked by hand. The network looks
// scores up in a table: token v after token t has the score 10 t + v.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

#include <assay/error.h>
#include <assay/evaluate.h>
#include <assay/progress.h>
#include <assay/records.h>
#include <assay/session.h>
#include <assay/token_decision.h>
#include "assay/engine/preparation/adaptation.h"
#include "assay/model/token_decision.h"
#include "tests/engine/graphs.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Tokens = std::vector<std::int64_t>;

constexpr std::int64_t vocabulary = 8, padding = 0, mask_token = 7;
constexpr float no_score = -1;

Graph table_of_scores(bool with_mask = true) {
  GraphBuilder b("bigrams");
  const ValueId ids = b.input("input_ids", DType::int64, {-1, -1});
  ValueId mask = with_mask ? b.input("attention_mask", DType::int64, {-1, -1}) : no_value;
  std::vector<float> scores;
  for (std::int64_t t = 0; t < vocabulary; ++t)
    for (std::int64_t v = 0; v < vocabulary; ++v) scores.push_back(static_cast<float>(10 * t + v));
  ValueId found = b.add("Gather", "table",
                        {b.constant("scores", Array::of<float>({vocabulary, vocabulary}, scores)), ids});
  if (with_mask) {
    const ValueId real = b.add("Cast", "real", {mask}, {{"to", std::int64_t{1}}});
    const ValueId by_position =
        b.add("Unsqueeze", "by_position", {real, b.constant("axis", test::integers({2}))});
    found = b.add("Mul", "logits", {found, by_position});
  }
  b.output(found);
  return b.build();
}

// Three records: filled up after the text, before it, and not at all.
const Tokens ids{3, 4, 5, 0, 0, /**/ 0, 0, 1, 2, 6, /**/ 1, 7, 2, 3, 4};
const Tokens attention{1, 1, 1, 0, 0, /**/ 0, 0, 1, 1, 1, /**/ 1, 1, 1, 1, 1};

DatasetPtr some_texts(const std::vector<std::string>& classes = {}, bool with_mask = true) {
  std::vector<NamedArray> inputs{{"input_ids", Array::of<std::int64_t>({3, 5}, ids)}};
  if (with_mask) inputs.push_back({"attention_mask", Array::of<std::int64_t>({3, 5}, attention)});
  RecordOptions options;
  options.class_names = classes;
  return from_arrays(std::move(inputs), classes.empty() ? Tokens{} : Tokens{0, 1, 0}, std::move(options));
}

std::vector<float> scores_of(const Graph& graph, const Dataset& data) {
  const Session session(graph, [&] {
    SessionOptions options;
    set_record_shapes(options, data.facts());
    return options;
  }());
  const std::size_t all[] = {0, 1, 2};
  const ValueId decision = session.graph().outputs()[0];
  const Array found = session.run(session.bind(data.read(all)), std::span(&decision, 1)).at(decision);
  const auto values = found.contiguous();
  std::vector<float> scores;
  for (const float score : values.as<float>()) scores.push_back(std::isnan(score) ? no_score : score);
  return scores;
}

std::vector<float> decided(const TokenDecision& decision, bool with_mask = true) {
  return scores_of(with_token_decision(table_of_scores(with_mask), decision), *some_texts({}, with_mask));
}

TEST(TokenDecision, TakesTheScoresOfAnswersAtThePosition) {
  using Position = TokenDecision::Position;
  EXPECT_THAT(decided({.answers = {1, 2}}), ElementsAre(51, 52, 61, 62, 41, 42));
  EXPECT_THAT(decided({.position = Position::first, .answers = {2, 1}}), ElementsAre(32, 31, 12, 11, 12, 11));
  EXPECT_THAT(decided({.position = Position::number, .number = 1, .answers = {0, 1}}),
              ElementsAre(40, 41, 20, 21, 70, 71));
  EXPECT_THAT(decided({.position = Position::number, .number = -2, .answers = {0, 1}}),
              ElementsAre(40, 41, 20, 21, 30, 31));
  EXPECT_THAT(decided({.answers = {5, 1}, .contrast = true}), ElementsAre(4, 4, 4));
  EXPECT_THAT(decided({.position = Position::all, .answers = {1}}),
              ElementsAre(31, 41, 51, 0, 0, 0, 0, 11, 21, 61, 11, 71, 21, 31, 41));
}

TEST(TokenDecision, IsUndecidedWhereThereIsNoSuchPosition) {
  using Position = TokenDecision::Position;
  EXPECT_THAT(decided({.position = Position::mask, .mask_token = mask_token, .answers = {0, 1}}),
              ElementsAre(no_score, no_score, no_score, no_score, 70, 71));
  EXPECT_THAT(decided({.position = Position::number, .number = 3, .answers = {0, 1}}),
              ElementsAre(no_score, no_score, no_score, no_score, 30, 31));
  EXPECT_THAT(decided({.position = Position::number, .number = -4, .answers = {0, 1}}),
              ElementsAre(no_score, no_score, no_score, no_score, 70, 71));
}

TEST(TokenDecision, KnowsWhatFillsUpByTheTokenWhereThereIsNoMask) {
  EXPECT_THAT(decided({.padding_token = padding, .answers = {1, 2}}, false),
              ElementsAre(51, 52, 61, 62, 41, 42));
  EXPECT_THAT(decided({.answers = {1, 2}}, false), ElementsAre(1, 2, 61, 62, 41, 42));
}

TEST(TokenDecision, WithoutAnswersIsTheScoresOfAllTokens) {
  EXPECT_THAT(std::vector(decided({})).size(), 3 * vocabulary);
}

TEST(TokenDecision, RefusesOutputsOfAnotherFormAndTokensThatAreNotThere) {
  test::Net net("dense");
  const Graph dense = net.build(net.dense("out", net.input({-1, 4}), 4, 2));
  GraphBuilder edit(dense);
  edit.set_type(dense.outputs()[0], DType::float32, {-1, 2});
  EXPECT_THROW(with_token_decision(edit.build(), {}), Error);
  GraphBuilder typed(table_of_scores());
  typed.set_type(table_of_scores().outputs()[0], DType::float32, {-1, -1, vocabulary});
  EXPECT_THROW(with_token_decision(typed.build(), {.answers = {1, vocabulary}}), Error);
}

class NoticesOfDecisions final : public Progress {
 public:
  void begin(std::string_view, std::size_t, std::string_view) override {}
  void advance(std::size_t, std::string_view) override {}
  void end() override {}
  void notice(std::string_view text) override { all += text; }
  std::string all;
};

std::string put_tokenizer(const std::string& name, const std::string& unknown_is_special = "true") {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / name;
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "tokenizer.json")
      << R"({"version":"1.0","added_tokens":[
    {"id":0,"content":"[PAD]","special":true,"single_word":false,"lstrip":false,"rstrip":false,"normalized":false},
    {"id":7,"content":"[MASK]","special":true,"single_word":false,"lstrip":false,"rstrip":false,"normalized":false},
    {"id":6,"content":"[UNK]","special":)"
      << unknown_is_special << R"(,"single_word":false,"lstrip":false,"rstrip":false,"normalized":false}],
    "pre_tokenizer":{"type":"Whitespace"},
    "model":{"type":"WordLevel","unk_token":"[UNK]",
             "vocab":{"[PAD]":0,"good":1,"bad":2,"a":3,"is":4,"film":5,"[UNK]":6,"[MASK]":7}}})";
  return folder.string();
}

TEST(TokenDecisionInWords, FindsAnswersInTheVocabulary) {
  const std::string folder = put_tokenizer("decision_words");
  const auto in_words = [&](const std::string& text, const DatasetPtr& data) {
    return scores_of(with_token_decision(table_of_scores(), text, folder, data.get(), silence()), *data);
  };
  EXPECT_THAT(in_words("position=last,answers=good+bad", some_texts()), ElementsAre(51, 52, 61, 62, 41, 42));
  EXPECT_THAT(in_words("answers=#2+#1", some_texts()), ElementsAre(52, 51, 62, 61, 42, 41));
  EXPECT_THAT(in_words("position=mask,answers=good+bad", some_texts()),
              ElementsAre(no_score, no_score, no_score, no_score, 71, 72));
  // In the order of the classes of the data, which are numbered alphabetically.
  EXPECT_THAT(in_words("answers=good+film+bad", some_texts({"bad", "good"})),
              ElementsAre(52, 51, 55, 62, 61, 65, 42, 41, 45));
  // Above 0 stands for class 1.
  EXPECT_THAT(in_words("contrast=bad-good", some_texts({"bad", "good"})), ElementsAre(-1, -1, -1));
  EXPECT_THAT(in_words("contrast=good-bad", some_texts({"bad", "good"})), ElementsAre(-1, -1, -1));
}

TEST(TokenDecisionInWords, SaysWhichClassIsWhichAnswer) {
  NoticesOfDecisions notices;
  with_token_decision(table_of_scores(), "answers=good+bad", put_tokenizer("decision_classes"),
                      some_texts({"neg", "pos"}).get(), notices);
  EXPECT_THAT(notices.all, HasSubstr("class 'neg' is answer 'good', 'pos' is answer 'bad'"));
}

TEST(TokenDecisionInWords, SaysWhatIsWrong) {
  const std::string folder = put_tokenizer("decision_errors");
  const DatasetPtr texts = some_texts();
  const auto said = [&](const std::string& text, const std::string& in) -> std::string {
    try {
      with_token_decision(table_of_scores(), text, in, texts.get(), silence());
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing";
  };
  EXPECT_THAT(said("answers=good film+bad", folder),
              HasSubstr("answer 'good film' is 2 tokens (good, film)"));
  for (const std::string& in : {folder, put_tokenizer("decision_unknown", "false")})
    EXPECT_THAT(said("answers=good+superb", in), HasSubstr("'superb' is not in the vocabulary")) << in;
  EXPECT_THAT(said("answers=good", folder), HasSubstr("one answer decides nothing"));
  EXPECT_THAT(said("answers=good+good", folder), HasSubstr("are the same token"));
  EXPECT_THAT(said("position=middle", folder), HasSubstr("position=middle is not last, first"));
  EXPECT_THAT(said("positions=last,answers=good+bad", folder), HasSubstr("did you mean 'position'?"));
  EXPECT_THAT(said("contrast=good", folder), HasSubstr("is of two answers"));
  EXPECT_THAT(said("answers=good+bad,contrast=good-bad", folder), HasSubstr("not both"));
  EXPECT_THAT(said("mask=good,answers=good+bad", folder), HasSubstr("no effect without position=mask"));
  for (const std::string at : {"5", "-6"})
    EXPECT_THAT(said("answers=good+bad,position=" + at, folder),
                HasSubstr("there is none at position " + at));
  EXPECT_THAT(said("answers=good+bad", ""), HasSubstr("no tokenizer.json is next to the network"));
}

TEST(TokenDecisionInWords, IsToldFromNamesOfOutputs) {
  for (const char* const text : {"position=last", "answers=a+b", "contrast=a-b", "position=1,answers=a+b"})
    EXPECT_TRUE(is_token_decision(text)) << text;
  for (const char* const text : {"logits", "boxes+scores", "-1", "x=y"})
    EXPECT_FALSE(is_token_decision(text)) << text;
}

TEST(FittingTokens, RecordsHoldTokensThatTheNetworkKnows) {
  EXPECT_EQ(known_tokens(table_of_scores()), vocabulary);
  EXPECT_NO_THROW(require_fitting_tokens(table_of_scores(), "", *some_texts(), silence()));
  const auto strange = from_arrays(Array::of<std::int64_t>({2, 2}, Tokens{1, 2, 3, vocabulary}));
  try {
    require_fitting_tokens(table_of_scores(false), "", *strange, silence());
    FAIL() << "the token is not known";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("record '1' holds token 8, and network 'bigrams' knows tokens 0 to 7"));
  }
}

TEST(FittingTokens, RecordsAreNoLongerThanThePositions) {
  const std::string folder = put_tokenizer("positions");
  std::ofstream(std::filesystem::path(folder) / "config.json") << R"({"max_position_embeddings": 4})";
  try {
    require_fitting_tokens(table_of_scores(), folder, *some_texts(), silence());
    FAIL() << "the texts are too long";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("records are 5 tokens long, and the network has 4 positions"));
  }
  std::filesystem::remove(std::filesystem::path(folder) / "config.json");
}

}  // namespace
}  // namespace assay
