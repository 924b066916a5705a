// What flags name is read or written, declared with the flag, for every command of the catalogue.

#include <gmock/gmock.h>

#include <filesystem>
#include <map>

#include <assay/error.h>
#include "apps/assay/program.h"
#include "apps/frame/program.h"
#include "assay/evidence/repetition.h"
#include "assay/evidence/step_commands.h"
#include "assay/support/files/file.h"

namespace assay::frame {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// Without these a command does not write what its other flags name.
const std::map<std::string, std::string> companions{{"--attack", "fgsm"},    {"--extend-with", "fgsm"},
                                                    {"--heatmaps", "1"},     {"--pictures", "1"},
                                                    {"--train", "digits:5"}, {"action", "export"}};

class Directions : public testing::Test {
 protected:
  Directions() : folder(fs::path(testing::TempDir()) / "assay_directions_test"), before(fs::current_path()) {
    fs::remove_all(folder);
    fs::create_directories(folder);
    fs::current_path(folder);
  }
  ~Directions() override {
    fs::current_path(before);
    fs::remove_all(folder);
  }

  static void give(CLI::Option& option, const std::string& value) {
    frame::give_values(option, {value}, "the test");
  }
  static void give_companions(frame::Posed& posed) {
    for (const auto& [name, value] : companions) {
      CLI::Option* const option = posed.flags.get_option_no_throw(name);
      if (option == nullptr) continue;
      give(*option, name == "action" && posed.flags.get_name() == "history" ? "add" : value);
    }
  }
  static std::string refusal(frame::Posed& posed) {
    try {
      frame::check_outputs(posed.command->outputs(), {}, posed.flags, posed.settings);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  const fs::path folder, before;
};

// A folder named .../x stands for what is written into it.
bool is_of(const Output& output, const std::string& flag, const std::string& value) {
  return output.name == flag && (output.path == value || output.path.starts_with(value + "/"));
}

TEST_F(Directions, EveryFlagThatIsWrittenIsAnOutput) {
  for (const frame::CommandInfo& info : app::program().commands) {
    frame::Posed posed(info);
    give_companions(posed);
    const std::vector<CLI::Option*> options = posed.flags.get_options();
    for (std::size_t i = 0; i < posed.own; ++i) {
      if (!frame::is_written(*options[i])) continue;
      const std::string flag = frame::flag_of(*options[i]), value = "new" + flag;
      give(*options[i], value);
      const std::vector<Output> outputs = posed.command->outputs();
      // A database and a history are added to: what they hold is kept, as that of an input.
      if (flag == "--db" || flag == "--history") continue;
      EXPECT_TRUE(std::ranges::any_of(outputs, [&](const Output& o) { return is_of(o, flag, value); }))
          << info.name << " " << flag;
    }
    for (const Output& output : posed.command->outputs()) {
      const std::string flag = output.name.substr(output.name.find("--"));
      const CLI::Option* const option = posed.flags.get_option_no_throw(flag);
      EXPECT_TRUE(option != nullptr && frame::is_written(*option)) << info.name << " " << output.name;
    }
  }
}

TEST_F(Directions, WhatAnyOtherFlagNamesIsKept) {
  write_file(folder / "kept.bin", "years of work");
  std::size_t tried = 0;
  for (const frame::CommandInfo& info : app::program().commands) {
    for (std::size_t i = 0; i < frame::Posed(info).own; ++i) {
      frame::Posed posed(info);
      CLI::Option& option = *posed.flags.get_options()[i];
      const std::string type = option.get_type_name();
      const bool names_file =
          type.find("FILE") != std::string::npos || type.find("SPEC") != std::string::npos;
      if (frame::is_written(option) || !names_file) continue;
      give_companions(posed);
      option.clear();
      give(option, "kept.bin");
      posed.settings.json = "kept.bin";
      std::string said;
      try {
        said = refusal(posed);
      } catch (const std::exception& error) {
        said = error.what();
      }
      EXPECT_NE(said, "") << info.name << " " << frame::flag_of(option);
      ++tried;
    }
  }
  EXPECT_GT(tried, 50U);
}

TEST_F(Directions, EveryOutputIsKeptApartFromNetworkAndRecords) {
  for (const char* name : {"net.onnx", "test.npz"}) write_file(folder / name, "years of work");
  for (const frame::CommandInfo& info : app::program().commands) {
    const std::size_t count = frame::Posed(info).flags.get_options().size();
    for (std::size_t i = 0; i < count; ++i) {
      frame::Posed posed(info);
      CLI::Option* const option = posed.flags.get_options()[i];
      CLI::Option* const model = posed.flags.get_option_no_throw("--model");
      const std::string type = option->get_type_name();
      const bool is_folder = type.starts_with("FOLDER"), database = frame::flag_of(*option) == "--db";
      if (!frame::is_written(*option) || is_folder || database || model == nullptr) continue;
      give_companions(posed);
      give(*model, "net.onnx");
      give(*option, "net.onnx");
      EXPECT_THAT(refusal(posed), HasSubstr("net.onnx")) << info.name << " " << frame::flag_of(*option);
    }
  }
}

TEST_F(Directions, FoldersKeepWhatIsRead) {
  const auto refused = [&](const std::string& command,
                           const std::vector<std::pair<std::string, std::string>>& flags) {
    const auto info = std::ranges::find(app::program().commands, command, &frame::CommandInfo::name);
    frame::Posed posed(*info);
    for (const auto& [name, value] : flags) give(*posed.flags.get_option(name), value);
    return refusal(posed);
  };
  for (const char* name : {"fgsm.npz", "classes.csv", "training-noise.npz", "given.onnx", "findings.npz",
                           "relevance-3.png", "a-1.png"})
    write_file(folder / name, "years of work");
  const std::string kept = "would overwrite";
  EXPECT_THAT(refused("cover", {{"--test", "fgsm.npz"}, {"--extend-with", "fgsm"}, {"--made-dir", "."}}),
              HasSubstr(kept));
  EXPECT_THAT(refused("attack", {{"--data", "fgsm.npz,range=0:1"}, {"--attack", "fgsm"}, {"--out", "."}}),
              HasSubstr(kept));
  EXPECT_THAT(refused("evaluate", {{"--data", "x.npz,labels=classes.csv"}, {"--csv", "."}}), HasSubstr(kept));
  EXPECT_THAT(refused("retrain", {{"--add", "training-noise.npz"}, {"--made-dir", "."}}), HasSubstr(kept));
  EXPECT_THAT(refused("retrain", {{"--model", "given.onnx"}, {"--out-dir", "."}}), HasSubstr(kept));
  EXPECT_THAT(refused("explore", {{"--data", "findings.npz"}, {"--out", "."}}), HasSubstr(kept));
  EXPECT_EQ(refused("attack", {{"--data", "findings.npz"}, {"--attack", "fgsm"}, {"--out", "."}}), "");
  // By the default name.
  fs::create_directories(folder / "assay-attack");
  write_file(folder / "assay-attack" / "fgsm.npz", "years of work");
  EXPECT_THAT(refused("cover", {{"--test", "assay-attack/fgsm.npz"}, {"--extend-with", "fgsm"}}),
              HasSubstr(kept));
}

// Packs of others have commands run again that only measure.
TEST(StepCommands, OfPacksNeitherMakeFilesNorRunCode) {
  app::declare_step_commands();
  std::vector<std::string> measuring;
  for (const auto& [name, command] : evidence::step_commands()) {
    if (command.measures) measuring.push_back(name);
    for (const auto& [flag, what] : command.flags) {
      const std::vector<std::string> typed{name, "--" + flag};
      const bool kept = command.measures && what.repeated() && !evidence::is_made(what, false);
      if (flag.size() < 2) continue;
      if (!kept && !(what.acts && !what.of_the_run) && command.measures)
        EXPECT_THROW(evidence::why_not_repeated(typed, "step"), Error) << name << " --" << flag;
      else
        EXPECT_EQ(evidence::why_not_repeated(typed, "step").empty(), kept) << name << " --" << flag;
    }
  }
  EXPECT_THAT(measuring, testing::ElementsAre("bounds", "cover", "data", "evaluate", "importance", "model",
                                              "mutate", "robust", "select"));
  for (const char* flag : {"trust", "config", "plugin", "force", "json", "html", "csv", "state",
                           "extend-with", "made-dir", "append", "journal-every"}) {
    const evidence::StepFlag* const found = evidence::step_flag("cover", flag);
    ASSERT_NE(found, nullptr) << flag;
    EXPECT_TRUE(!found->repeated() || evidence::is_made(*found, false)) << flag;
  }
}

TEST(StepCommands, AreRunAgainWithoutFlagsThatTheyDoNotTake) {
  app::declare_step_commands();
  const std::vector<std::string> typed{"data", "a.npz",     "--seed",  "7",      "--threads",
                                       "2",    "--batch=4", "--force", "--quiet"};
  EXPECT_THAT(evidence::without_idle(typed), testing::ElementsAre("data", "a.npz", "--seed", "7", "--quiet"));
}

}  // namespace
}  // namespace assay::frame
