#include "assay/support/text/parse.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <map>

#include <assay/error.h>

namespace assay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
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
    EXPECT_THAT(message_of([] { parse_shard("auto", "--shard"); }), HasSubstr("none of 5 tasks"));
  }
  const Environment kubernetes(Variables{{"JOB_COMPLETION_INDEX", "3"}});
  EXPECT_THAT(message_of([] { parse_shard("auto", "--shard"); }), HasSubstr("set ASSAY_SHARDS"));
  const Environment told(Variables{{"ASSAY_SHARDS", "4"}});
  EXPECT_THAT(parse_shard("auto", "--shard"), Pair(4, 4));
}

TEST(Parse, PathsAreTheTextAndItsParts) {
  EXPECT_THAT(paths_in("net.h5,weights=w.safetensors"),
              ElementsAre("net.h5,weights=w.safetensors", "net.h5,weights=w.safetensors.data", "net.h5",
                          "net.json", "weights", "w.safetensors"));
  // The result of an earlier run may lie beside a network.
  EXPECT_THAT(paths_in("net.onnx"), ElementsAre("net.onnx", "net.onnx.data", "net.onnx"));
}

}  // namespace
}  // namespace assay
