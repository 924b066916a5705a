// Texts by CTC, worked by hand.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "assay/task/sequences.h"
#include "tests/task/made.h"

namespace assay::task {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(EditDistance, CountsReplacedLeftOutAndPutIn) {
  const auto distance = [](const std::string& a, const std::string& b) {
    return edit_distance(std::vector<std::int64_t>(a.begin(), a.end()),
                         std::vector<std::int64_t>(b.begin(), b.end()));
  };
  EXPECT_EQ(distance("kitten", "sitting"), 3U);
  EXPECT_EQ(distance("sitting", "kitten"), 3U);
  EXPECT_EQ(distance("", "abc"), 3U);
  EXPECT_EQ(distance("abc", ""), 3U);
  EXPECT_EQ(distance("", ""), 0U);
  EXPECT_EQ(distance("flaw", "lawn"), 2U);
}

TEST(Alignment, IsOneShortestWay) {
  const std::vector<std::int64_t> a = {1, 2, 3, 4}, b = {2, 9, 4, 5};
  EXPECT_THAT(aligned(a, b), ElementsAre(Pair(0, -1), Pair(1, 0), Pair(2, 1), Pair(3, 2), Pair(-1, 3)));
  EXPECT_TRUE(aligned({}, {}).empty());
  const std::vector<std::int64_t> long_one(100'000, 1);
  EXPECT_THAT(fault_of([&] { aligned(long_one, long_one); }), HasSubstr("too long to be aligned"));
}

// A file with these lines, in the folder of temporary files.
std::string alphabet_file(const std::string& name, const std::string& lines) {
  const std::filesystem::path path = std::filesystem::path(::testing::TempDir()) / name;
  std::ofstream(path) << lines;
  return path.string();
}

// The blank is 0, the symbols "a", " ", "bé": scores of 4 in steps that decide so.
std::vector<float> steps_of(const std::vector<std::size_t>& decided) {
  std::vector<float> scores(decided.size() * 4, 0);
  for (std::size_t t = 0; t < decided.size(); ++t) scores[t * 4 + decided[t]] = 1;
  return scores;
}

std::vector<float> numbers_of(const std::u32string& text, std::size_t width) {
  std::vector<float> numbers(text.begin(), text.end());
  numbers.resize(width, -1);
  return numbers;
}

TEST(Text, TakesRunsAsOneAndLeavesBlanksOut) {
  const std::string file = alphabet_file("assay_alphabet.txt", "a\n \nb\xC3\xA9\r\n");
  const auto task = made("text[alphabet=" + file + "]", {.output = {9, 4}, .targets = 8});
  EXPECT_EQ(task->describe(), "text: 3 symbols along axis 2, 9 steps, blank 0");
  // "aa bé" of a run, a blank between the two, and a space at the end that does not count.
  const std::vector<float> scores = steps_of({1, 1, 0, 1, 2, 3, 3, 0, 2});
  const Judgement right = task->judge({scores, numbers_of(U"aa b\u00E9", 8)});
  EXPECT_EQ(right.sums.whole, 1U);
  EXPECT_EQ(right.sums.items, 5U);
  EXPECT_EQ(right.sums.right, 5U);
  // Against "ab be ": one replaced of 5 at the second place, one at the last; both words are wrong.
  Sums sums = judged(*task, scores, numbers_of(U"ab be ", 8));
  EXPECT_DOUBLE_EQ(figure(*task, sums, "character-error-rate"), 2.0 / 5);
  EXPECT_DOUBLE_EQ(figure(*task, sums, "word-error-rate"), 1);
  EXPECT_DOUBLE_EQ(figure(*task, sums, "exact-match"), 0);
  sums += right.sums;
  EXPECT_DOUBLE_EQ(figure(*task, sums, "character-error-rate"), 2.0 / 10);
  EXPECT_DOUBLE_EQ(figure(*task, sums, "word-error-rate"), 2.0 / 4);
  EXPECT_DOUBLE_EQ(figure(*task, sums, "exact-match"), 1.0 / 2);
  EXPECT_DOUBLE_EQ(figure(*task, sums, "recall", 1), 1);
  EXPECT_DOUBLE_EQ(figure(*task, sums, "precision", 1), 3.0 / 4);
}

TEST(Text, AnEmptyTextIsRightWhenNothingIsRead) {
  const std::string file = alphabet_file("assay_alphabet.txt", "a\n \nb\n");
  const auto task = made("text[alphabet=" + file + "]", {.output = {2, 4}, .targets = 1});
  EXPECT_EQ(judged(*task, steps_of({0, 0}), {-1}).whole, 1U);
  const Sums wrong = judged(*task, steps_of({1, 1}), {-1});
  EXPECT_EQ(wrong.whole, 0U);
  EXPECT_EQ(wrong.items, 1U);
  EXPECT_EQ(wrong.amounts[0], 1);
}

TEST(Text, BlankAxisAndLabelsAreOptions) {
  const std::string file = alphabet_file("assay_alphabet.txt", "a\nb\nc\n");
  // Symbols first: a, b, c and the blank, which is last, over two steps: "ab".

  const auto last = made("text[alphabet=" + file + ",blank=last]", {.output = {4, 2}, .targets = 2});
  EXPECT_EQ(judged(*last, {1, 0, 0, 1, 0, 0, 0, 0}, numbers_of(U"ab", 2)).whole, 1U);
  // The blank is a line of the alphabet, and labels are numbers of scores.
  const auto inside =
      made("text[alphabet=" + file + ",blank=1,labels=symbols]", {.output = {5, 3}, .targets = 2});
  EXPECT_EQ(judged(*inside, {1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0}, {0, 0}).right, 2U);
  EXPECT_THAT(fault_of([&] {
                judged(*inside, std::vector<float>(15, 0), {0, 3});
              }),
              HasSubstr("label 3 at position 1 is not the number of a symbol"));
  EXPECT_THAT(fault_of([&] {
                judged(*last, std::vector<float>(8, 0), {0.5F, -1});
              }),
              HasSubstr("label 0.5 at position 0 is not the number of a character"));
}

TEST(Text, NaNWritesNothing) {
  const std::string file = alphabet_file("assay_alphabet.txt", "a\n");
  const auto task = made("text[alphabet=" + file + ",axis=2]", {.output = {2, 2}, .targets = 1});
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(judged(*task, {nan, 1, 1, 0}, {-1}).whole, 1U);
}

TEST(Text, WhatDoesNotFitIsSaid) {
  const std::string file = alphabet_file("assay_alphabet.txt", "a\nb\n");
  const auto said = [&](const std::string& options, const Shape& output) {
    return fault_of([&] { made("text[" + options + "]", {.output = output, .targets = 4}); });
  };
  EXPECT_THAT(fault_of([] {
                made("text", {.output = {5, 3}, .targets = 4});
              }),
              HasSubstr("give alphabet=FILE"));
  EXPECT_THAT(said("alphabet=" + file, {5, 9}),
              HasSubstr("[5, 9] a record, and not a score for each of 2 symbols"));
  EXPECT_THAT(said("alphabet=" + file, {3, 3}),
              HasSubstr("both axes of [3, 3] fit 2 symbols; give axis=1 or axis=2"));
  EXPECT_THAT(said("axis=1,alphabet=" + file, {5, 3}), HasSubstr("axis 1 of [5, 3] does not fit"));
  EXPECT_THAT(said("blank=3,alphabet=" + file, {5, 3}), HasSubstr("blank=3 is not among 3 scores"));
  // As many symbols as scores: a blank that no line is for, unless its number is given.
  EXPECT_THAT(said("alphabet=" + file, {5, 2}), HasSubstr("the first one is '"));
  EXPECT_THAT(said("blank=0,alphabet=" + file, {5, 2}), HasSubstr("nothing"));
  const std::string named = alphabet_file("assay_alphabet_named.txt", "<blank>\na\n");
  EXPECT_THAT(said("alphabet=" + named, {5, 2}), HasSubstr("nothing"));
  EXPECT_THAT(said("alphabet=" + alphabet_file("assay_holes.txt", "a\n\nb\n"), {5, 3}),
              HasSubstr("line 2 is empty"));
  EXPECT_THAT(said("alphabet=" + alphabet_file("assay_bytes.txt", "\xFF\n"), {5, 3}),
              HasSubstr("line 1 is not UTF-8"));
  const std::string twice = alphabet_file("assay_twice.txt", "a\nb\na\n");
  EXPECT_THAT(said("alphabet=" + twice, {5, 4}), HasSubstr("assay_twice.txt: 'a' is there twice"));
  // The line of the blank is no symbol.
  EXPECT_THAT(said("blank=0,alphabet=" + twice, {5, 3}), HasSubstr("nothing"));
}

}  // namespace
}  // namespace assay::task
