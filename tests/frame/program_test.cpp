#include "apps/frame/program.h"

#include <gmock/gmock.h>

#include <assay/error.h>
#include "apps/frame/completion.h"
#include "apps/frame/manual.h"
#include "assay/support/files/file.h"

namespace assay::frame {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// Adds up numbers.
class Sum final : public Command {
 public:
  void declare(Flags& flags) override {
    flags.add("numbers N", numbers_, "what is added up");
    flags.add("--sign WORD", sign_, "of the sum", CLI::IsMember({"plus", "minus"}));
    flags.describe("Numbers are whole.");
  }
  report::Document run(Context& context) override {
    if (numbers_.empty()) fail(Fault::usage, "numbers to add: none");
    long sum = 0;
    for (const std::string& number : numbers_) sum += std::stol(number);
    context.effective["sign"] = {sign_};
    report::Document document;
    document.headline = std::to_string(sign_ == "minus" ? -sum : sum);
    return document;
  }

 private:
  std::vector<std::string> numbers_;
  std::string sign_ = "plus";
};

const CommandInfo toy_commands[] = {{"sum", "numbers added up", "  toy sum 1 2", make_command<Sum>}};

Program toy() {
  Program program{.name = "toy", .summary = "A toy.", .closing = "", .commands = toy_commands};
  program.versions = {{"toy", "1"}, {"library", "2"}};
  return program;
}

TEST(ProgramOfCommands, IsDescribedForOthers) {
  const std::vector<QuestionCommand> commands = question_commands(toy());
  ASSERT_EQ(commands.size(), 1U);
  EXPECT_EQ(commands[0].name, "sum");
  ASSERT_GE(commands[0].flags.size(), 3U);
  EXPECT_EQ(commands[0].flags[0].name, "numbers");
  EXPECT_EQ(commands[0].flags[1].fallback, "plus");
  EXPECT_FALSE(commands[0].flags[1].common);
  std::vector<std::string> common;
  for (const QuestionFlag& flag : commands[0].flags)
    if (flag.common) common.push_back(flag.name);
  EXPECT_THAT(common, Contains("seed"));
  EXPECT_THAT(common, Not(Contains("json")));
}

TEST(ProgramOfCommands, AnswersWithWhatTheResultRestsOn) {
  const report::Document document =
      ask(toy(), "sum", {{"numbers", {"1", "2"}}, {"sign", {"minus"}}}, silence());
  EXPECT_EQ(document.headline, "-3");
  EXPECT_EQ(document.command, "sum");
  std::map<std::string, report::Cell> provenance(document.provenance.begin(), document.provenance.end());
  EXPECT_THAT(std::get<std::string>(provenance.at("options")), HasSubstr("1 2 --sign minus"));
  EXPECT_EQ(std::get<std::string>(provenance.at("library")), "2");
}

TEST(ProgramOfCommands, SaysWhatIsWrongInItsOwnWords) {
  const auto message = [](const std::string& command, const FlagValues& flags) -> std::string {
    try {
      ask(toy(), command, flags, silence());
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing";
  };
  EXPECT_EQ(message("sum", {}), "numbers to add: none");
  EXPECT_EQ(message("summ", {}), "no subcommand is named 'summ'; did you mean 'sum'?");
  EXPECT_EQ(message("sum", {{"sing", {"plus"}}}), "`assay sum` has no flag '--sing'; did you mean 'sign'?");
  EXPECT_THAT(message("sum", {{"sign", {"plus"}}, {"sign", {"minus"}}}), HasSubstr("given twice"));
  EXPECT_THAT(message("sum", {{"json", {"x"}}}), HasSubstr("has no flag '--json'"));
}

TEST(ProgramOfCommands, HasPagesAndCompletion) {
  CLI::App root("A toy.", "toy");
  root.set_version_flag("--version", "toy 1");
  CLI::App* const sub = root.add_subcommand("sum", "numbers added up");
  Flags flags(*sub);
  Sum sum;
  sum.declare(flags);
  EXPECT_EQ(sub->get_description(), "numbers added up\n\nNumbers are whole.");
  EXPECT_THAT(completion_script(root, "bash"), HasSubstr("plus"));
  EXPECT_THAT(completion_script(root, "fish"), HasSubstr("-l sign"));
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "pages_of_a_toy";
  write_manual(root, folder);
  EXPECT_THAT(read_file(folder / "toy-sum.1"), HasSubstr("Numbers are whole."));
  EXPECT_THAT(read_file(folder / "toy.1"), HasSubstr("toy\\-sum"));
}

}  // namespace
}  // namespace assay::frame
