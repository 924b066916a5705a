#include <assay/extend/question.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <assay/error.h>
#include <assay/training.h>

namespace assay::frame {
namespace {

using testing::Contains;
using testing::HasSubstr;

const QuestionCommand& command(const std::vector<QuestionCommand>& all, const std::string& name) {
  return *std::ranges::find(all, name, &QuestionCommand::name);
}
const QuestionFlag& flag(const QuestionCommand& of, const std::string& name) {
  return *std::ranges::find(of.flags, name, &QuestionFlag::name);
}

TEST(QuestionCommands, TellFlagsAsHelpDoes) {
  const std::vector<QuestionCommand> all = question_commands();
  const QuestionCommand cover = command(all, "cover");
  EXPECT_TRUE(flag(cover, "criterion").repeats);
  EXPECT_EQ(flag(cover, "criterion").type, "SPEC,...");
  EXPECT_TRUE(flag(cover, "by-class").is_switch);
  EXPECT_EQ(flag(cover, "min-k").type, "UINT");
  EXPECT_EQ(flag(cover, "min-k").fallback, "2");
  EXPECT_THAT(flag(cover, "reduction").words, testing::UnorderedElementsAre("mean", "max", "every-position"));
  EXPECT_TRUE(flag(cover, "seed").common);
  EXPECT_FALSE(flag(cover, "train").common);
  for (const QuestionCommand& one : all) {
    EXPECT_FALSE(one.summary.empty());
    for (const QuestionFlag& each : one.flags) {
      EXPECT_FALSE(each.summary.empty()) << one.name << " " << each.name;
      EXPECT_NE(each.name, "json");
    }
  }
}

TEST(Ask, AnswersAboutWhatIsInMemory) {
  Question question{"evaluate", {{"model", {"@net"}}, {"data", {"@digits[:5]"}}, {"batch", {"2"}}}};
  question.networks.emplace("net", training::build_architecture("lenet1"));
  question.datasets.emplace("digits", open_dataset("digits:10"));
  const report::Document found = ask(question, silence());
  EXPECT_EQ(found.command, "evaluate");
  EXPECT_THAT(found.facts, Contains(testing::Field(&report::Fact::id, "records")));
  EXPECT_THAT(found.provenance, Contains(testing::Key("model_hash")));
  EXPECT_THROW(open_dataset("@digits"), Error);  // known while the question lasted
}

TEST(Ask, ReadsListsSwitchesAndWhatStandsWithoutDashes) {
  const report::Document found =
      ask({"model", {{"model", {"@net"}}}, {{"net", training::build_architecture("lenet1")}}}, silence());
  EXPECT_EQ(found.command, "model");
  Question cover{"cover",
                 {{"model", {"@net"}},
                  {"train", {"digits:40"}},
                  {"test", {"digits:10"}},
                  {"criterion", {"nc", "kmnc[sections=10]"}},
                  {"by-class", {}},
                  {"absolute", {"false"}}}};
  cover.networks.emplace("net", training::initialise(training::build_architecture("lenet1"), "keras", 1));
  EXPECT_THAT(ask(cover, silence()).headline, HasSubstr("kmnc"));
}

TEST(Ask, ErrorsAreThoseOfTheProgram) {
  const auto message_of = [](const Question& question) -> std::string {
    try {
      ask(question, silence());
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(message_of({"covre", {}}), HasSubstr("did you mean 'cover'"));
  EXPECT_THAT(message_of({"cover", {{"tset", {"x"}}}}), HasSubstr("no flag '--tset'; did you mean"));
  EXPECT_THAT(message_of({"cover", {{"json", {"x"}}}}), HasSubstr("no flag '--json'"));
  EXPECT_THAT(message_of({"cover", {{"min-k", {"0"}}}}), HasSubstr("min-k"));
  EXPECT_THAT(message_of({"cover", {{"by-class", {"perhaps"}}}}), HasSubstr("switch"));
  EXPECT_THAT(message_of({"evaluate", {{"model", {"a"}}, {"model", {"b"}}}}), HasSubstr("twice"));
  EXPECT_THAT(message_of({"evaluate", {{"model", {"no.onnx"}}, {"data", {"digits:3"}}}}),
              HasSubstr("no such file"));
}

}  // namespace
}  // namespace assay::frame
