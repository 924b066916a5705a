// Procedural strings.

#include <gmock/gmock.h>

#include <numeric>

#include <assay/dataset.h>
#include "tests/data/files.h"

namespace assay {
namespace {

std::vector<std::int64_t> tokens_of(const Dataset& data, std::size_t index) {
  const Batch batch = data.read(std::span(&index, 1));
  const auto tokens = batch.inputs.as<std::int64_t>();
  return {tokens.begin(), tokens.end()};
}

std::string text_of(const Dataset& data, std::size_t index) {
  std::string text;
  for (const std::int64_t token : tokens_of(data, index)) {
    if (token != 0) text += static_cast<char>(token + 31);
  }
  return text;
}

TEST(Strings, AreWindowsOfPrintableCharactersWithTheNextAsLabel) {
  for (const std::string name : {"sql", "parentheses"}) {
    const DatasetPtr data = open_dataset(name + ":300,window=12");
    EXPECT_EQ(data->record_shape(), (Shape{12}));
    EXPECT_EQ(data->dtype(), DType::int64);
    ASSERT_EQ(data->class_count(), 96U);
    EXPECT_EQ(data->class_names()[1 + 'S' - ' '], "S");
    for (std::size_t i = 0; i < data->size(); ++i) {
      const std::vector<std::int64_t> tokens = tokens_of(*data, i);
      const auto text = std::ranges::find_if(tokens, [](std::int64_t token) { return token != 0; });
      EXPECT_TRUE(
          std::all_of(text, tokens.end(), [](std::int64_t token) { return token >= 1 && token <= 95; }));
      EXPECT_NE(text, tokens.end());
      EXPECT_THAT(data->label(i), ::testing::AllOf(::testing::Ge(1), ::testing::Le(95)));
    }
  }
}

TEST(Strings, DependOnSeedAndPlaceAlone) {
  const DatasetPtr few = open_dataset("sql:10"), many = open_dataset("sql:100"),
                   other = open_dataset("sql:10,seed=2");
  std::size_t same = 0;
  for (std::size_t i = 0; i < few->size(); ++i) {
    EXPECT_EQ(tokens_of(*few, i), tokens_of(*many, i));
    EXPECT_EQ(few->label(i), many->label(i));
    same += tokens_of(*few, i) == tokens_of(*other, i);
  }
  EXPECT_LT(same, few->size());
}

// The window slides over the same string: a longer one ends in a shorter one.
TEST(Strings, LongerWindowsShowMoreOfTheSameString) {
  const DatasetPtr narrow = open_dataset("sql:50,window=8"), wide = open_dataset("sql:50,window=500");
  for (std::size_t i = 0; i < narrow->size(); ++i) {
    EXPECT_TRUE(text_of(*wide, i).ends_with(text_of(*narrow, i)));
    EXPECT_TRUE(text_of(*wide, i).starts_with("SELECT ") || text_of(*wide, i).size() < 7)
        << text_of(*wide, i);
    EXPECT_EQ(narrow->label(i), wide->label(i));
  }
}

TEST(Strings, DigitsSayHowManyParenthesesAreOpen) {
  const DatasetPtr data = open_dataset("parentheses:200,window=1000");
  int deepest = 0;
  for (std::size_t i = 0; i < data->size(); ++i) {
    int depth = 0;
    for (const char c : text_of(*data, i)) {
      if (c == '(') {
        ++depth;
      } else if (c == ')') {
        --depth;
      } else {
        EXPECT_EQ(c, static_cast<char>('0' + depth));
      }
      deepest = std::max(deepest, depth);
    }
  }
  EXPECT_EQ(deepest, 4);
}

TEST(Strings, RefuseWhatIsNoCountOrWindow) {
  testing::expect_data_error(Fault::usage, {"sql:1000"}, "sql:0");
  testing::expect_data_error(Fault::usage, {"sql:1000"}, "sql:many");
  testing::expect_data_error(Fault::usage, {"window=0"}, "sql:5,window=0");
  testing::expect_data_error(Fault::usage, {"window= is for"}, "digits:5,window=3");
}

}  // namespace
}  // namespace assay
