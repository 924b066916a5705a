#include "apps/frame/wording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay::frame {
namespace {

Program with_layers() {
  Program program;
  program.with_flags = [](std::string message) {
    const std::size_t at = message.find("chosen layer ");
    return at == std::string::npos ? message : message.replace(at, 13, "--layer ");
  };
  return program;
}

std::string worded(const std::string& message, std::vector<std::string> arguments = {}) {
  const Program program = with_layers();
  CLI::App command;
  std::string model, data;
  command.add_option("--model", model);
  command.add_option("--data", data);
  std::ranges::reverse(arguments);
  command.parse(arguments);
  return Wording(program, command)(message);
}

TEST(Wording, PutsFlagsForConcepts) {
  EXPECT_EQ(worded("chosen layer 'x': no such layer"), "--layer 'x': no such layer");
  EXPECT_EQ(worded("the network's chosen layer conv1"), "the network's --layer conv1");
  EXPECT_EQ(worded(""), "");
}

TEST(Wording, LeavesNamesThatTheUserGave) {
  EXPECT_EQ(worded("chosen layer net.onnx: no such file", {"--model", "chosen layer net.onnx"}),
            "chosen layer net.onnx: no such file");
  EXPECT_EQ(worded("chosen layer y.csv: no such file", {"--data", "x.npz,labels=chosen layer y.csv"}),
            "chosen layer y.csv: no such file");
  EXPECT_EQ(worded("chosen layer net.onnx: chosen layer a b", {"--model", "chosen layer net.onnx"}),
            "chosen layer net.onnx: --layer a b");
}

TEST(Wording, LeavesWhatAMessageQuotes) {
  EXPECT_EQ(worded("node 'the chosen layer x' of chosen layer 'chosen layer y'"),
            "node 'the chosen layer x' of --layer 'chosen layer y'");
  EXPECT_EQ(worded("an unclosed 'chosen layer x"), "an unclosed '--layer x");
  EXPECT_EQ(worded("a '' chosen layer x\x1a"), "a '' --layer x\x1a");
}

TEST(Wording, IsThatOfTheWholeDocument) {
  const Program program = with_layers();
  const CLI::App command;
  report::Document document;
  document.headline = document.notices.emplace_back("chosen layer a");
  document.warnings = {{"w", "chosen layer a", "chosen layer b"}};
  Wording(program, command).reword(document);
  EXPECT_EQ(document.headline, "--layer a");
  EXPECT_EQ(document.notices[0], "--layer a");
  EXPECT_EQ(document.warnings[0].text, "--layer a");
  EXPECT_EQ(document.warnings[0].cause, "--layer b");
}

}  // namespace
}  // namespace assay::frame
