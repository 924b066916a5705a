#include "assay/text/pattern.h"

#include "files.h"

namespace assay::text::testing {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> split(const std::string& text, const std::string& expression,
                               SplitBehavior behavior) {
  std::vector<std::string> parts;
  for (const Range& range : split_ranges(parts_by(text, regex_pattern(expression, "p")), behavior))
    parts.push_back(text.substr(range.begin, range.end - range.begin));
  return parts;
}

// The examples of the library `tokenizers`.
TEST(Split, TheFiveBehaviours) {
  const std::string text = "the-final--countdown";
  EXPECT_THAT(split(text, "-", SplitBehavior::removed), ElementsAre("the", "final", "countdown"));
  EXPECT_THAT(split(text, "-", SplitBehavior::isolated),
              ElementsAre("the", "-", "final", "-", "-", "countdown"));
  EXPECT_THAT(split(text, "-", SplitBehavior::merged_with_previous),
              ElementsAre("the-", "final-", "-", "countdown"));
  EXPECT_THAT(split(text, "-", SplitBehavior::merged_with_next),
              ElementsAre("the", "-final", "-", "-countdown"));
  EXPECT_THAT(split(text, "-", SplitBehavior::contiguous),
              ElementsAre("the", "-", "final", "--", "countdown"));
}

TEST(Expressions, MeanWhatOnigurumaMeans) {
  const auto isolated = [](const std::string& text, const std::string& expression) {
    return split(text, expression, SplitBehavior::isolated);
  };
  EXPECT_THAT(isolated("b\na", "^a"), ElementsAre("b\n", "a")) << "^ is the beginning of a line";
  EXPECT_THAT(isolated("a\nb", "(?m:a.)"), ElementsAre("a\n", "b")) << "m: a point is the end of a line";
  EXPECT_THAT(isolated("x0fz", "\\h+"), ElementsAre("x", "0f", "z")) << "h is a hexadecimal digit";
  EXPECT_THAT(isolated("a\xC2\xBD b", "\\w+"), ElementsAre("a\xC2\xBD", " ", "b"));
  EXPECT_THAT(isolated("a b", "\\s+(?!\\S)|\\s+"), ElementsAre("a", " ", "b"));
  EXPECT_THAT(isolated("a+b", "[[:punct:]]"), ElementsAre("a", "+", "b"));
}

TEST(ExpressionErrors, SayWhatIsNotRead) {
  expect_error(Fault::unsupported, {"p:", "&&"}, [] { regex_pattern("[a-z&&[^b]]", "p"); });
  expect_error(Fault::data, {"p:", "(", "not a regular expression"}, [] { regex_pattern("(", "p"); });
}

// Each b more would double the time.
TEST(ExpressionErrors, HostileExpressionsEnd) {
  const Pattern slow = regex_pattern("(b+)+[cd]", "p");
  expect_error(Fault::resources, {"p:", "steps"}, [&] { slow(std::string(60, 'b'), 0); });
}

}  // namespace
}  // namespace assay::text::testing
