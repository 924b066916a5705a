// Several runs at once that change one file: what a run said it did is there, and the others are refused.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/program/program.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

class Writers : public Program {
 protected:
  static constexpr int most = 6;

  // Starts writers at once, again those that another one kept out, until all have done their work. Returns
  // how many were kept out.
  int all_done(const std::function<std::string(int)>& command) const {
    std::vector<int> left;
    for (int i = 0; i < most; ++i) left.push_back(i);
    int refused = 0;
    for (int round = 0; round < most && !left.empty(); ++round) {
      std::string script;
      for (const int i : left)
        script += fmt::format("{{ $assay {}; echo $? > code.{}; }} > {}.txt 2>&1 &\n", command(i), i, i);
      EXPECT_EQ(shell(script + "wait").code, 0);
      std::vector<int> again;
      for (const int i : left) {
        const std::string code = read_file(folder / fmt::format("code.{}", i));
        EXPECT_TRUE(code == "0\n" || code == "7\n") << code << read_file(folder / fmt::format("{}.txt", i));
        if (code != "0\n") again.push_back(i);
      }
      EXPECT_LT(again.size(), left.size()) << "one of them can always work";
      refused += static_cast<int>(again.size());
      left = again;
    }
    EXPECT_TRUE(left.empty());
    return refused;
  }
};

TEST_F(Writers, EveryTestSetAppendedToAStateIsThere) {
  ASSERT_EQ(
      assay(
          "cover --quiet --model net.onnx --train images-idx3-ubyte --test images-idx3-ubyte --criterion nc "
          "--profile net.profile")
          .code,
      0);
  all_done([](int i) {
    return fmt::format(
        "cover --quiet --threads 1 --model net.onnx --profile net.profile --test "
        "'images-idx3-ubyte[{}:{}]' --criterion nc --context writer-{} --state all.cov --append",
        10 * i, 10 * i + 10, i);
  });
  ASSERT_EQ(assay("combine all.cov --quiet --json r.json").code, 0);
  const std::string result = read_file(folder / "r.json");
  for (int i = 0; i < most; ++i)
    EXPECT_NE(result.find(fmt::format("writer-{}", i)), std::string::npos) << "a test set was lost: " << i;
  EXPECT_FALSE(fs::exists(folder / "all.cov.lock"));
  EXPECT_FALSE(fs::exists(folder / "all.cov.journal"));
}

TEST_F(Writers, EveryDocumentPutIntoADatabaseIsThere) {
  ASSERT_EQ(assay("evaluate --quiet --model net.onnx --data images-idx3-ubyte --json note.json").code, 0);
  all_done([](int i) { return fmt::format("inspect --quiet --db study.db --add writer{}=note.json", i); });
  const Outcome count =
      assay("inspect --quiet --db study.db --json r.json 'SELECT count(*) AS n FROM documents'");
  ASSERT_EQ(count.code, 0) << count.err;
  EXPECT_NE(read_file(folder / "r.json").find(fmt::format("\"n\": {}", most)), std::string::npos)
      << read_file(folder / "r.json");
}

TEST_F(Writers, AStateOfMutantsIsWrittenByOneAtATime) {
  const std::string run =
      "mutate --quiet --threads 1 --model net.onnx --test images-idx3-ubyte --operator gf --count 2 --state "
      "m.state";
  all_done([&](int) { return run; });
  EXPECT_EQ(assay("combine m.state --quiet").code, 0);
  EXPECT_FALSE(fs::exists(folder / "m.state.lock"));
}

TEST_F(Writers, AForeignFileInPlaceOfTheLockStays) {
  const std::string run =
      "cover --quiet --model net.onnx --train images-idx3-ubyte --test images-idx3-ubyte --criterion nc "
      "--state ";
  write_file(folder / "a.cov.lock", "precious");
  EXPECT_EQ(assay(run + "a.cov").code, 5);
  EXPECT_EQ(read_file(folder / "a.cov.lock"), "precious");
  fs::create_symlink("elsewhere", folder / "b.cov.lock");
  EXPECT_EQ(assay(run + "b.cov").code, 5);
  EXPECT_FALSE(fs::exists(folder / "elsewhere"));
  fs::create_symlink("elsewhere", folder / "c.cov.journal");
  EXPECT_EQ(assay(run + "c.cov").code, 5);
  EXPECT_FALSE(fs::exists(folder / "elsewhere"));
  // Of a run that was killed.
  write_file(folder / "d.cov.lock", "");
  EXPECT_EQ(assay(run + "d.cov").code, 0);
  EXPECT_FALSE(fs::exists(folder / "d.cov.lock"));
}

}  // namespace
}  // namespace assay
