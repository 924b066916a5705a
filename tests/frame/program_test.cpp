#include "apps/frame/program.h"

#include <gmock/gmock.h>

#include <assay/error.h>
#include "apps/frame/completion.h"
#include "apps/frame/help.h"
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
    flags.take({Shared::seed, Shared::force});
    flags.add("numbers N", numbers_, "what is added up");
    flags.add("--sign WORD", sign_, "of the sum", CLI::IsMember({"plus", "minus"}));
    flags.leading().add("--from N", from_, "what the sum begins with");
    flags.by_keyword().add("unit,--unit NAME", unit_, "of the numbers");
    flags.add_output("--out FILE.txt", out_, "write the sum", {.product = Product::ids});
    flags.add_output("--log FOLDER", log_, "how it came about", {.when = [this] { return !unit_.empty(); }});
    flags.describe("Numbers are whole.");
  }
  report::Document run(Context& context) override {
    if (numbers_.empty()) fail(Fault::usage, "numbers to add: none");
    long sum = from_;
    for (const std::string& number : numbers_) sum += std::stol(number);
    context.effective["sign"] = {sign_};
    report::Document document;
    document.headline = std::to_string(sign_ == "minus" ? -sum : sum) + unit_;
    if (!out_.empty()) write_file(out_, document.headline);
    document.notices = {"log: " + log_};
    return document;
  }

 private:
  std::vector<std::string> numbers_;
  std::string sign_ = "plus", unit_, out_, log_ = "sums";
  long from_ = 0;
};

const CommandInfo toy_commands[] = {{"sum", "numbers added up", "  toy sum 1 2", make_command<Sum>}};

Program toy() {
  Program program{.name = "toy", .summary = "A toy.", .closing = "", .commands = toy_commands};
  program.versions = {{"toy", "1"}, {"library", "2"}};
  return program;
}

TEST(ProgramOfCommands, HelpFitsTheTerminal) {
  CLI::App root;
  root.formatter(make_help_formatter({}, 60));
  CLI::App* const sub = root.add_subcommand("sum", "numbers added up");
  sub->add_flag("--sign")->description("a text of ten words that has to take two lines here");
  const std::string example = "  toy sum 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22";
  sub->footer("Examples:\n" + example);
  const std::string page = sub->help();
  EXPECT_THAT(page, HasSubstr("  --sign                      a text of ten words that has\n" +
                              std::string(30, ' ') + "to take two lines here\n"));
  EXPECT_THAT(page, HasSubstr(example));
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
  EXPECT_THAT(common, Not(Contains("threads"))) << "the command does not take it";
  EXPECT_THAT(common, Not(Contains("force"))) << "it writes nothing that only this replaces";
  EXPECT_THAT(common, Not(Contains("json")));
}

TEST(ProgramOfCommands, SaysWhatComesFirstInCallsAndWhatIsReadBack) {
  std::vector<std::string> leading;
  std::map<std::string, std::pair<std::string, std::string>> written;
  const std::vector<QuestionCommand> commands = question_commands(toy());
  for (const QuestionFlag& flag : commands[0].flags) {
    if (flag.leads) leading.push_back(flag.name);
    if (!flag.place.empty()) written[flag.name] = {flag.product, flag.place};
  }
  EXPECT_THAT(leading, testing::ElementsAre("numbers", "from"));
  EXPECT_THAT(written, testing::ElementsAre(testing::Pair("log", testing::Pair("", "log")),
                                            testing::Pair("out", testing::Pair("ids", "out.txt"))));
}

TEST(ProgramOfCommands, OutputsThatNobodyNamedGoToTheFolderOfTheQuestion) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "outputs_of_a_toy";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const report::Document document = ask(toy(), "sum", {{"numbers", {"1", "2"}}}, silence(), folder);
  EXPECT_EQ(read_file(folder / "out.txt"), "3");
  EXPECT_THAT(document.notices, testing::ElementsAre("log: sums")) << "it is written with a unit only";
  const FlagValues named{{"numbers", {"1"}}, {"unit", {"m"}}, {"out", {(folder / "named.txt").string()}}};
  EXPECT_THAT(ask(toy(), "sum", named, silence(), folder).notices,
              testing::ElementsAre("log: " + (folder / "log").string()));
  EXPECT_EQ(read_file(folder / "named.txt"), "1m");
  EXPECT_EQ(ask(toy(), "sum", {{"numbers", {"1"}}}, silence()).notices[0], "log: sums");
}

TEST(ProgramOfCommands, RefuseWhatTheyDoNotTake) {
  const auto added = [](const FlagValues& more, const FlagValues& for_all) -> std::string {
    FlagValues flags{{"numbers", {"1", "2"}}};
    flags.insert(flags.end(), more.begin(), more.end());
    try {
      return ask(toy(), "sum", flags, silence(), {}, for_all).headline;
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_EQ(added({{"threads", {"2"}}}, {}), "--threads has no effect on `assay sum`; leave it out");
  EXPECT_EQ(added({{"threads", {"0"}}}, {}), "3") << "recorded commands name what holds anyway";
  EXPECT_EQ(added({{"seed", {"2"}}}, {}), "3");
  EXPECT_EQ(added({}, {{"threads", {"2"}}}), "3") << "what holds for many questions is not refused";
  EXPECT_THAT(added({{"force", {}}}, {}), HasSubstr("--force has no effect"));
}

TEST(ProgramOfCommands, StandInTheGroupsThatTheyDeclare) {
  const Group add{"Add"}, list{"List", true};
  const CommandInfo some[] = {{"a", "", "", make_command<Sum>, add},
                              {"b", "", "", make_command<Sum>, list},
                              {"c", "", "", make_command<Sum>, add}};
  const std::vector<HelpGroup> groups = groups_of(some);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].group.title, "Add");
  EXPECT_THAT(groups[0].commands, testing::ElementsAre("a", "c"));
  EXPECT_TRUE(groups[1].group.one_line);
  EXPECT_THAT(groups_of(toy_commands), testing::IsEmpty());
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
  EXPECT_THAT(completion_script(root, "fish"), HasSubstr("-r -k -a '(__fish_complete_suffix .txt)'"));
  EXPECT_THAT(completion_script(root, "fish"), HasSubstr("-x -a '(__fish_complete_directories)'"));
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "pages_of_a_toy";
  write_manual(root, folder);
  EXPECT_THAT(read_file(folder / "toy-sum.1"), HasSubstr("Numbers are whole."));
  EXPECT_THAT(read_file(folder / "toy.1"), HasSubstr("toy\\-sum"));
}

}  // namespace
}  // namespace assay::frame
