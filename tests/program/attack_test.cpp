// Attacks as people run them: pictures of what changed.

#include <nlohmann/json.hpp>

#include "tests/program/program.h"

namespace assay {
namespace {

class AttackProgram : public Program {
 protected:
  nlohmann::json json(const std::string& name) const { return nlohmann::json::parse(read_file(folder / name)); }
};

TEST_F(AttackProgram, DrawsWhatChangedInsideThePage) {
  const Outcome outcome = assay("attack net.onnx images-idx3-ubyte --quiet --attack 'fgsm[eps=0.5]' --attack 'noise[sigma=0.0001]' --pictures 2 --output out --json out.json --html out.html");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto pictures = json("out.json")["pictures"];
  ASSERT_EQ(pictures.size(), 4U);
  for (const auto& picture : pictures) EXPECT_TRUE(read_file(folder / picture["path"].get<std::string>()).starts_with("\x89PNG"));
  EXPECT_EQ(pictures[0]["path"], "out/fgsm-1.png");
  // The first record that the network gets right is the second; its label is 1.
  const std::string success = pictures[0]["title"], failure = pictures[2]["title"];
  EXPECT_TRUE(success.starts_with("fgsm, record '1': 1 is taken for 0, L2 ")) << success;
  EXPECT_TRUE(failure.starts_with("noise, record '1': 1 is taken for 1, L2 ")) << failure;
  EXPECT_NE(read_file(folder / "out.html").find("data:image/png;base64,"), std::string::npos);
}

TEST_F(AttackProgram, DrawsNothingWhenAskedForNothing) {
  const Outcome outcome = assay("attack net.onnx images-idx3-ubyte --quiet --attack fgsm --pictures 0 --output out --json out.json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(json("out.json")["pictures"].empty());
}

}  // namespace
}  // namespace assay
