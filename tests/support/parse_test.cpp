#include "assay/support/text/parse.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <map>

#include <assay/error.h>

namespace assay {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;
using testing::Pair;

template <typename Work>
std::string message_of(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::usage);
    return error.what();
  }
  return "no error";
}

using Variables = std::map<const char*, const char*>;

// Variables of schedulers, gone when this is.
class Environment {
 public:
  explicit Environment(const Variables& variables) : variables_(variables) {
    for (const auto& [name, value] : variables_) ::setenv(name, value, 1);
  }
  ~Environment() {
    for (const auto& [name, value] : variables_) ::unsetenv(name);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const Variables variables_;
};

TEST(Parse, PartsAreAllThatIsBetweenSeparators) {
  EXPECT_THAT(parts_of("a,b", ","), ElementsAre("a", "b"));
  EXPECT_THAT(parts_of("a,,b=", ",="), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(parts_of("", ","), ElementsAre(""));
}

TEST(Parse, ANumberIsTheWholeText) {
  EXPECT_EQ(number_of<int>("-12"), -12);
  EXPECT_EQ(number_of<double>("2.5e1"), 25.0);
  for (const char* text : {"", "x", "1x", " 1", "1e"}) EXPECT_FALSE(number_of<int>(text)) << text;
  EXPECT_FALSE(number_of<std::uint8_t>("256"));
}

// Read as C reads constants, 010 is eight; and text that is not a number must not become one.
TEST(Parse, NumbersAreDecimalAndFinite) {
  EXPECT_EQ(number_of<int>("010"), 10);
  EXPECT_EQ(number_of<int>("+7"), 7);
  EXPECT_EQ(number_of<std::uint64_t>("18446744073709551615"), UINT64_MAX);
  for (const char* text :
       {"0x10", "0b1", "1'000", "+-1", "++1", "18446744073709551616", "-1", "\xD9\xA1", "1.0"})
    EXPECT_FALSE(number_of<std::uint64_t>(text)) << text;
  for (const char* text : {"nan", "inf", "-infinity", "1e400", "0x1p3", "1,5", "\xEF\xBC\x91", "1 "})
    EXPECT_FALSE(number_of<double>(text)) << text;
  EXPECT_FALSE(number_of<float>("1e308"));
  EXPECT_FALSE(number_of<int>(std::string("1\0", 2)));
}

TEST(Parse, PartsInDoubleQuotesHoldAnything) {
  const auto parts = [](std::string_view text) {
    std::vector<std::string> all;
    for (bool more = true; more;) {
      const auto part = take_part(text, ",=");
      all.push_back(part.value_or("(none)"));
      more = part && !text.empty();
      if (more) text.remove_prefix(1);
    }
    return all;
  };
  EXPECT_THAT(parts("a,b=c"), ElementsAre("a", "b", "c"));
  EXPECT_THAT(parts("\"a,b\",c=\"d=e\""), ElementsAre("a,b", "c", "d=e"));
  EXPECT_THAT(parts("\"say \"\"a\"\"\",x"), ElementsAre("say \"a\"", "x"));
  EXPECT_THAT(parts("5\"disk,x"), ElementsAre("5\"disk", "x"));
  EXPECT_THAT(parts("\"a,b"), ElementsAre("(none)"));
  EXPECT_THAT(parts("\"a\"b"), ElementsAre("(none)"));
  for (const std::string text : {"plain", "a,b", "\"", "x=\"y\"", "\"a,b\""}) {
    const std::string quoted = part_in_quotes(text, ",=");
    std::string_view rest = quoted;
    EXPECT_EQ(take_part(rest, ",="), text);
    EXPECT_EQ(rest, "");
  }
  EXPECT_THAT(paths_in("\"a,b.npz\",labels=\"c,d.csv\"[:5]"),
              testing::IsSupersetOf({std::filesystem::path("a,b.npz"), std::filesystem::path("c,d.csv")}));
}

TEST(Parse, ListsOfPositiveNumbers) {
  EXPECT_THAT(parse_positive("3x32x32", 'x', "--shape", "1x2"), ElementsAre(3, 32, 32));
  for (const char* text : {"", "3x", "x3", "0", "-1", "3,4"}) {
    EXPECT_EQ(message_of([&] { parse_positive(text, 'x', "--shape", "1x2"); }),
              "--shape '" + std::string(text) + "' is not a list of positive numbers such as 1x2");
  }
}

TEST(Parse, ListsOfCounts) {
  EXPECT_THAT(parse_counts("6,8,10", "--runs", "5,10"), ElementsAre(6U, 8U, 10U));
  EXPECT_THAT(message_of([&] { parse_counts("6,0", "--runs", "5,10"); }), HasSubstr("--runs '6,0'"));
}

TEST(Parse, AShardIsOneOfSeveral) {
  EXPECT_THAT(parse_shard("2/8", "--shard"), Pair(2, 8));
  for (const char* text : {"", "/", "2", "0/8", "9/8", "2/", "/8", "2/8/1", "a/b"})
    EXPECT_THAT(message_of([&] { parse_shard(text, "--shard"); }), HasSubstr("is not of the form 2/8"))
        << text;
}

TEST(Parse, ASchedulerSaysWhichShardThisIs) {
  EXPECT_THAT(message_of([] { parse_shard("auto", "--shard"); }), HasSubstr("give --shard K/N"));
  {
    const Environment slurm(Variables{{"SLURM_ARRAY_TASK_ID", "14"},
                                      {"SLURM_ARRAY_TASK_MIN", "10"},
                                      {"SLURM_ARRAY_TASK_STEP", "2"},
                                      {"SLURM_ARRAY_TASK_COUNT", "5"}});
    EXPECT_THAT(parse_shard("auto", "--shard"), Pair(3, 5));
  }
  {
    const Environment early(
        {{"SLURM_ARRAY_TASK_ID", "1"}, {"SLURM_ARRAY_TASK_MIN", "2"}, {"SLURM_ARRAY_TASK_COUNT", "5"}});
    EXPECT_THAT(message_of([] { parse_shard("auto", "--shard"); }), HasSubstr("not one of 5 tasks"));
  }
  const Environment kubernetes(Variables{{"JOB_COMPLETION_INDEX", "3"}});
  EXPECT_THAT(message_of([] { parse_shard("auto", "--shard"); }), HasSubstr("set ASSAY_SHARDS"));
  const Environment told(Variables{{"ASSAY_SHARDS", "4"}});
  EXPECT_THAT(parse_shard("auto", "--shard"), Pair(4, 4));
}

TEST(Parse, PathsAreTheTextAndItsParts) {
  EXPECT_THAT(paths_in("net.h5,weights=w.safetensors"),
              IsSupersetOf({"net.h5,weights=w.safetensors", "net.h5", "net.json", "w.safetensors"}));
  // The result of an earlier run may lie beside a network.
  EXPECT_THAT(paths_in("net.onnx"), Not(Contains("net.json")));
  EXPECT_THAT(paths_in("vocab.npz:words"), Contains("vocab.npz"));
  EXPECT_THAT(paths_in("a.npz+b.npz[:5]"), IsSupersetOf({"a.npz", "b.npz"}));
  EXPECT_THAT(paths_in("lr=0.1.npz[:5]"), Contains("lr=0.1.npz"));
  EXPECT_THAT(paths_in("python3 'my train.py' --fast"), IsSupersetOf({"python3", "train.py"}));
  EXPECT_THAT(paths_in("sets/t10k-images-idx3-ubyte.gz"), Contains("sets/t10k-labels-idx1-ubyte.gz"));
}

}  // namespace
}  // namespace assay
