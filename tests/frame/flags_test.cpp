#include "apps/frame/flags.h"

#include <gmock/gmock.h>

#include <assay/error.h>
#include "apps/frame/words.h"

namespace assay::frame {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class FlagsOfACommand : public testing::Test {
 protected:
  FlagsOfACommand() {
    app.option_defaults()->always_capture_default();
    Flags flags(app);
    flags.add("count,--count N", count, "how many", CLI::Range(1, 9));
    flags.add("-k,--kind WORD", kinds, "which", CLI::IsMember({"round", "flat"}));
    flags.add("--all", all, "every one");
    flags.in_group("Gates").add("--gate TEXT", gate, "what has to hold");
  }
  void parse(std::vector<std::string> words) {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  }
  const CLI::Option& option(const std::string& name) { return *app.get_option(name); }

  CLI::App app{"a toy", "toy"};
  int count = 3;
  std::vector<std::string> kinds{"round", "flat"};
  bool all = false;
  std::string gate;
};

TEST_F(FlagsOfACommand, TakeTheirValues) {
  parse({"7", "--kind", "flat", "round", "--all", "--gate", "x"});
  EXPECT_EQ(count, 7);
  EXPECT_THAT(kinds, ElementsAre("flat", "round"));
  EXPECT_TRUE(all);
  EXPECT_EQ(gate, "x");
}

TEST_F(FlagsOfACommand, RefuseWhatTheirCheckDoesNotTake) {
  EXPECT_THROW(parse({"--count", "10"}), CLI::ValidationError);
  EXPECT_THROW(parse({"--kind", "square"}), CLI::ValidationError);
}

// CLI11 reads 010 as eight and 0x10 as sixteen.
TEST_F(FlagsOfACommand, ReadNumbersAsDecimal) {
  std::optional<double> rate;
  std::vector<std::uint64_t> sizes;
  Flags flags(app);
  flags.add("--rate FLOAT", rate, "how fast");
  flags.add("--sizes N", sizes, "how many");
  parse({"--count", "08", "--rate", "+1e-3", "--sizes", "010", "18446744073709551615"});
  EXPECT_EQ(count, 8);
  EXPECT_EQ(rate, 1e-3);
  EXPECT_THAT(sizes, ElementsAre(10U, UINT64_MAX));
  for (const char* text : {"0x4", "4.0", "4 ", "", "four", "99999999999", "\xD9\xA4", "1'0"})
    EXPECT_THROW(parse({"--count", text}), CLI::ValidationError) << text;
  for (const char* text : {"nan", "inf", "1e308", "-1e39", "1e400", "0x1p3", "", "1,5"})
    EXPECT_THROW(parse({"--rate", text}), CLI::ValidationError) << text;
  for (const char* text : {"-1", "18446744073709551616"})
    EXPECT_THROW(parse({"--sizes", text}), CLI::ValidationError) << text;
}

TEST_F(FlagsOfACommand, AreDescribed) {
  EXPECT_EQ(name_of(option("--kind")), "kind");
  EXPECT_EQ(flag_of(option("--kind")), "--kind");
  EXPECT_TRUE(is_switch(option("--all")));
  EXPECT_FALSE(is_switch(option("--count")));
  EXPECT_EQ(option("--gate").get_group(), "Gates");
  EXPECT_THAT(words_of(option("--kind")), testing::UnorderedElementsAre("round", "flat"));
  EXPECT_THAT(words_of(option("--count")), IsEmpty());
  EXPECT_THAT(long_names(app), ElementsAre("help", "count", "kind", "all", "gate"));
}

// CLI11 writes lists as the operator<< says that it finds, and some libraries bring one.
TEST_F(FlagsOfACommand, ListsHaveBlanksBetweenTheirWords) {
  EXPECT_EQ(fallback_of(option("--kind")), "round flat");
  EXPECT_EQ(fallback_of(option("--count")), "3");
  EXPECT_EQ(fallback_of(option("--gate")), "");
}

TEST_F(FlagsOfACommand, AreNamed) {
  Flags flags(app);
  EXPECT_THAT(flags.named({"--all", "--count"}), ElementsAre(&option("--all"), &option("--count")));
  EXPECT_THAT(flags.all(4), ElementsAre(&option("--gate")));
}

TEST_F(FlagsOfACommand, WithoutEffectAreRefusedUnlessTheySayWhatHoldsAnyway) {
  parse({"--count", "3", "--kind", "flat"});
  EXPECT_NO_THROW(refuse_without_effect({&option("--count"), &option("--gate")}, "here"));
  EXPECT_THROW(refuse_without_effect({&option("--kind")}, "here"), Error);
  EXPECT_NO_THROW(refuse_given({&option("--gate")}, "here"));
  try {
    refuse_given({&option("--count")}, "here");
    FAIL() << "a flag that was given";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "--count has no effect here; leave it out");
  }
}

TEST_F(FlagsOfACommand, OfAFileMayBeWithoutEffect) {
  give_values(*app.get_option("--gate"), {"6"}, "toy.toml:1");
  mark_as_default(*app.get_option("--gate"));
  EXPECT_NO_THROW(refuse_given({&option("--gate")}, "here"));
  EXPECT_NO_THROW(refuse_without_effect({&option("--gate")}, "here"));
}

TEST_F(FlagsOfACommand, ListsTakeCommasAndRepetition) {
  std::vector<std::string> names;
  std::string text;
  Flags flags(app);
  flags.add_list("--name NAME,...", names, "names");
  flags.add_list("--text TEXT,...", text, "names as one text");
  parse({"--name", "a,b[c,d]", "--name", "\"e,f\"", "--text", "x,y", "--text", "z"});
  EXPECT_THAT(names, ElementsAre("a", "b[c,d]", "e,f"));
  EXPECT_EQ(text, "x,y,z");
  EXPECT_TRUE(is_list(option("--name")));
  EXPECT_FALSE(is_list(option("--kind")));
}

TEST_F(FlagsOfACommand, NamedTwiceOrLeftOverAreSaid) {
  EXPECT_THROW(parse({"--gate", "x", "--gate", "y"}), CLI::ParseError);
  EXPECT_EQ(clash_of(app), "--gate is given twice, x and y; give it once");
}

TEST_F(FlagsOfACommand, TakeValuesOfAFile) {
  give_values(*app.get_option("--kind"), {"flat"}, "toy.toml:1");
  EXPECT_THAT(kinds, ElementsAre("flat"));
  give_values(*app.get_option("--gate"), {"6", "8"}, "toy.toml:2");
  EXPECT_EQ(gate, "6,8");
  give_values(*app.get_option("--all"), {"false"}, "toy.toml:3");
  EXPECT_FALSE(all);
  EXPECT_THROW(give_values(*app.get_option("--all"), {"perhaps"}, "toy.toml:3"), Error);
  EXPECT_THROW(give_values(*app.get_option("--count"), {"0"}, "toy.toml:4"), Error);
}

TEST_F(FlagsOfACommand, WordsOfEarlierProgramsAreUnderstood) {
  const OldWord old[] = {{"toy", "number", "count"}};
  const std::string_view alike[] = {"gate", "door"};
  const Words words{old, alike};
  EXPECT_EQ(new_word(words, "toy", "number"), "count");
  EXPECT_EQ(new_word(words, "other", "number"), std::nullopt);
  std::vector<std::string> notices;
  EXPECT_THAT(with_new_words(words, {"toy", "--number=4", "--", "--number"},
                             [&](const std::string& notice) { notices.push_back(notice); }),
              ElementsAre("toy", "--count=4", "--", "--number"));
  EXPECT_THAT(notices, ElementsAre(HasSubstr("now called --count")));
  EXPECT_EQ(unknown_flag(words, app, {"--cuont", "4"}),
            "`toy` has no flag '--cuont'; did you mean '--count'?");
  EXPECT_THAT(unknown_flag(words, app, {"--door"}), HasSubstr("'--gate'"));
  EXPECT_EQ(unknown_flag(words, app, {"--xyzzyxyzzy"}), "`toy` has no flag '--xyzzyxyzzy'");
  EXPECT_EQ(unknown_flag(words, app, {"-y"}), "`toy` has no flag '-y'");
  EXPECT_EQ(unknown_flag(words, app, {"-1", "-"}), "");
  EXPECT_EQ(unknown_flag(words, app, {"--count", "--", "--door"}), "");
}

}  // namespace
}  // namespace assay::frame
