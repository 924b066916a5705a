// Looking for polluted training records as people do.

#include <algorithm>
#include <nlohmann/json.hpp>

#include "assay/data/files/numpy.h"
#include "tests/program/program.h"

namespace assay {
namespace {

class PollutedProgram : public Program {
 protected:
  // Findings that are training records 3, 13, 23 themselves, and what three networks name them.
  void SetUp() override {
    Program::SetUp();
    ASSERT_EQ(assay("data --quiet 'images-idx3-ubyte[3:30:10]' --write findings.npz").code, 0);
    auto arrays = read_npz(folder / "findings.npz");
    arrays.emplace("classes", Array::of<std::int64_t>({3, 2}, std::vector<std::int64_t>{0, 1, 1, 1, 1, 0}));
    write_npz(folder / "findings.npz", arrays);
  }
  Outcome polluted(const std::string& more) const {
    return assay(
        "polluted --quiet --data images-idx3-ubyte --findings findings.npz,range=0:1 --window-size 3 " +
        more);
  }
  nlohmann::json json(const std::string& name) const {
    return nlohmann::json::parse(read_file(folder / name));
  }
};

TEST_F(PollutedProgram, TheRecordsThatFindingsComeFromAreFoundFirst) {
  write_file(folder / "truth.txt", "3\n13\n23\n");
  const Outcome run = polluted(
      "--truth truth.txt --out list.csv --out-dir pictures --pictures 2 --json result.json --html page.html");
  ASSERT_EQ(run.code, 0) << run.err;
  const auto document = json("result.json");
  EXPECT_EQ(document["facts"]["recall"], 1.0);
  EXPECT_EQ(document["facts"]["precision"], 1.0);
  const std::string list = read_file(folder / "list.csv");
  EXPECT_EQ(std::count(list.begin(), list.end(), '\n'), 201);
  EXPECT_EQ(list.find("rank,id,label,similarity,mean,votes,finding\n1,"), 0U) << list.substr(0, 100);
  EXPECT_TRUE(std::filesystem::exists(folder / "pictures" / "suspect-2.png"));
  EXPECT_EQ(polluted("--inspect 2 --truth truth.txt --json less.json").code, 0);
  EXPECT_NEAR(json("less.json")["facts"]["recall"].get<double>(), 2.0 / 3, 1e-12);
}

TEST_F(PollutedProgram, LabelsClassesAndRelabelledData) {
  const Outcome label = polluted("--label 0 --json label.json");
  ASSERT_EQ(label.code, 0) << label.err;
  const auto found = json("label.json");
  for (const auto& row : found["tables"]["suspects"]["rows"]) EXPECT_EQ(row["label"], "0");
  const Outcome between = polluted("--between 0+1 --json between.json");
  ASSERT_EQ(between.code, 0) << between.err;
  EXPECT_EQ(json("between.json")["facts"]["findings"], 1);
  const Outcome both = polluted("--findings findings.npz,range=0:1 --between 0+1 --json both.json");
  ASSERT_EQ(both.code, 0) << both.err;
  EXPECT_EQ(json("both.json")["facts"]["findings"], 2);
  const Outcome relabelled = assay(
      "polluted --quiet --data 'images-idx3-ubyte,relabel=1>0:0.25' --findings findings.npz,range=0:1 "
      "--window-size 3 --truth images-idx3-ubyte --json truth.json");
  ASSERT_EQ(relabelled.code, 0) << relabelled.err;
  EXPECT_EQ(json("truth.json")["facts"]["polluted"], 30);
  EXPECT_EQ(
      assay("data --quiet 'images-idx3-ubyte,relabel=1>0:0.25' --labels-of images-idx3-ubyte --ids ids.txt")
          .code,
      0);
  const std::string ids = read_file(folder / "ids.txt");
  EXPECT_EQ(std::count(ids.begin(), ids.end(), '\n'), 30);
}

TEST_F(PollutedProgram, SaysWhatIsMissing) {
  EXPECT_EQ(assay("polluted --quiet --data images-idx3-ubyte").code, 1);
  EXPECT_EQ(assay("polluted --quiet --data images-idx3-ubyte --findings findings.npz").code, 1)
      << "smaller than the window";
  EXPECT_EQ(polluted("--label 7").code, 1);
  EXPECT_EQ(polluted("--truth images-idx3-ubyte").code, 5) << "nothing is polluted";
  EXPECT_EQ(assay("polluted --quiet --data images-idx3-ubyte --findings 'findings.npz[:1]' --between 0+1 "
                  "--window-size 3")
                .code,
            1);
}

}  // namespace
}  // namespace assay
