#include "assay/data/spec.h"

#include <limits>

#include "files.h"

namespace assay::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(DataSpec, PathOptionsAndSlices) {
  const DataSpec spec = parse_spec("a/b.tar,scale=1/255,mean=0.5/0.25,classes=3+cat[10:-2][::3]");
  EXPECT_EQ(spec.path, "a/b.tar");
  EXPECT_DOUBLE_EQ(spec.number("scale", 0), 1.0 / 255);
  EXPECT_THAT(spec.numbers("mean"), ElementsAre(0.5, 0.25));
  EXPECT_THAT(spec.words("classes"), ElementsAre("3", "cat"));
  ASSERT_EQ(spec.slices.size(), 2U);
  EXPECT_EQ(spec.slices[0].start, 10);
  EXPECT_EQ(spec.slices[0].stop, -2);
  EXPECT_EQ(spec.slices[1].step, 3);
  EXPECT_EQ(spec.number("absent", 7), 7);
}

TEST(DataSpec, PathsAndValuesInDoubleQuotesHoldAnything) {
  const DataSpec spec = parse_spec("\"a,b[1:2].npz\",labels=\"c,\"\"d\"\".csv\",scale=2[:5]");
  EXPECT_EQ(spec.path, "a,b[1:2].npz");
  EXPECT_EQ(spec.text("labels"), "c,\"d\".csv");
  EXPECT_EQ(spec.number("scale", 1), 2);
  ASSERT_EQ(spec.slices.size(), 1U);
  EXPECT_EQ(parse_spec("\"a[1:2]\",x=1").path, "a[1:2]");
}

TEST(DataSpec, WrongTextsAreNamed) {
  const auto refuse = [](const std::string& text, const std::string& part) {
    expect_error(Fault::usage, {part}, [&] { parse_spec(text); });
  };
  refuse("", "a path is needed");
  refuse(",a=b", "a path is needed");
  refuse("x,novalue", "'novalue' is not of the form key=value");
  refuse("x,=v", "key=value");
  refuse("x,a=1,a=2", "a is given twice");
  refuse("x,labels=", "labels= has no value");
  refuse("\"x,a=1", "double quote");
  refuse("\"x\"y,a=1", "double quote");
  refuse("a,b.npz", "double quotes");
  refuse("x]", "']' without '['");
  refuse("x[5]", "[5] is not a slice");
  refuse("x[1:2:3:4]", "is not a slice");
  refuse("x[a:b]", "is not a slice");
  refuse("x.npz[:40],range=0:1", "slices come after the options: x.npz,range=0:1[:40]");
  refuse("x[:9],a=b[::2]", "options: x,a=b[:9][::2]");
  EXPECT_EQ(parse_spec("x[1],range=0:1").path, "x[1]");
  refuse("x[::0]", "step");
  refuse("x[::-1]", "step");
  refuse("x[:99999999999999999999]", "is not a slice");
}

TEST(DataSpec, NumbersAreFinite) {
  for (const char* text : {"1/0", "nan", "inf", "", "1/2/3", "x", "0/0", "1e300/1e-300"}) {
    const DataSpec spec{.path = "p", .options = {{"scale", text}}, .slices = {}};
    expect_error(Fault::usage, {"scale="}, [&] { spec.number("scale", 1); });
  }
  const DataSpec spec{.path = "p", .options = {{"mean", "1/nan"}, {"length", "1.5"}}, .slices = {}};
  expect_error(Fault::usage, {"mean=nan"}, [&] { spec.numbers("mean"); });
  expect_error(Fault::usage, {"length=1.5", "whole number"}, [&] { spec.integer("length", 1); });
}

// Python's rules written plainly.
std::vector<std::size_t> plain_slice(const Slice& slice, std::int64_t n) {
  std::vector<std::size_t> result;
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t start = slice.start.value_or(0), stop = slice.stop.value_or(n);
    if (start < 0) start = std::max<std::int64_t>(0, start + n);
    if (stop < 0) stop += n;
    if (i >= start && i < stop && (i - start) % slice.step == 0)
      result.push_back(static_cast<std::size_t>(i));
  }
  return result;
}

TEST(Slices, AgreeWithPythonsRules) {
  for (std::int64_t n : {0, 1, 5, 10}) {
    for (std::int64_t start = -12; start <= 12; ++start) {
      for (std::int64_t stop = -12; stop <= 12; ++stop) {
        for (std::int64_t step : {1, 2, 3, 20}) {
          const Slice slice{start, stop, step};
          ASSERT_EQ(slice_positions(slice, static_cast<std::size_t>(n)), plain_slice(slice, n))
              << start << ":" << stop << ":" << step;
        }
      }
    }
  }
}

// start + step passed the largest integer.
TEST(Slices, GiantStepsDoNotOverflow) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(slice_positions({1, std::nullopt, most}, 10), ElementsAre(1));
  EXPECT_THAT(slice_positions({most, most, most}, 10), IsEmpty());
  EXPECT_THAT(slice_positions({-most - 1, 2, 1}, 10), ElementsAre(0, 1));
}

}  // namespace
}  // namespace assay::testing
