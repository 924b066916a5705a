// What a command is given for its declaration: nothing of this stands in classes_command.cpp.

#include <gmock/gmock.h>

#include <filesystem>

#include "apps/frame/completion.h"
#include "apps/frame/program.h"
#include "apps/frame/wording.h"
#include "assay/support/files/file.h"

namespace assay::frame {

CommandInfo classes_command();

namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class NewCommand : public testing::Test {
 protected:
  NewCommand() : folder(fs::path(testing::TempDir()) / "assay_new_command"), file(folder / "data.csv") {
    fs::remove_all(folder);
    fs::create_directories(folder);
    write_file(file, "a,label\n0.5,0\n0.25,1\n0.125,1\n");
    program.commands = commands;
  }
  ~NewCommand() override { fs::remove_all(folder); }

  report::Document ask(const FlagValues& flags) const {
    return frame::ask(program, "classes", flags, silence());
  }
  std::string refusal(const FlagValues& flags) const {
    try {
      ask(flags);
    } catch (const Error& error) {
      return with_flags(error.message());
    }
    return "nothing";
  }

  const fs::path folder, file;
  const CommandInfo commands[1] = {classes_command()};
  Program program{.name = "assay", .summary = "A test.", .closing = "", .commands = {}};
};

TEST_F(NewCommand, AnswersAndSaysWhatItRestsOn) {
  const report::Document document =
      ask({{"data", {file.string() + ",label=label"}}, {"out", {(folder / "out.csv").string()}}});
  EXPECT_EQ(document.headline, "3 records of 2 classes");
  EXPECT_EQ(document.command, "classes");
  EXPECT_THAT(document.provenance, testing::Contains(testing::Key("data_file")));
  EXPECT_EQ(read_file(folder / "out.csv"), "class,records\r\n0,1\r\n1,2\r\n");
}

TEST_F(NewCommand, KeepsWhatItReadsAndTriesWhatItWrites) {
  const std::string data = file.string() + ",label=label";
  EXPECT_THAT(refusal({{"data", {data}}, {"out", {file.string()}}}), HasSubstr("would overwrite"));
  EXPECT_THAT(refusal({{"data", {data}}, {"out", {(folder / "missing" / "out.csv").string()}}}),
              HasSubstr("--out"));
}

TEST_F(NewCommand, IsDescribedAndSaysItsFlags) {
  const std::vector<QuestionCommand> described = question_commands(program);
  ASSERT_EQ(described.size(), 1U);
  EXPECT_EQ(described[0].flags[0].files, "data");
  EXPECT_TRUE(described[0].flags[0].leads);
  EXPECT_FALSE(described[0].flags[1].leads);
  EXPECT_EQ(refusal({}), "which data? give --data SPEC");
}

}  // namespace
}  // namespace assay::frame
