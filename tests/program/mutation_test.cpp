// Mutation testing as people use it: lists, exports, states, shards, interruptions, gates.

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/program/program.h"

namespace assay {
namespace {

class MutationProgram : public Program {
 protected:
  Outcome mutate(const std::string& more) const {
    return assay(
        "mutate --quiet --model net.onnx --test images-idx3-ubyte --operator 'gf[sigma=2]' --operator ws "
        "--operator neb --operator nai --operator ns --quality 1 --count 6 " +
        more);
  }
  std::string bytes(const std::string& name) const { return read_file(folder / name); }
  nlohmann::json json(const std::string& name) const { return nlohmann::json::parse(bytes(name)); }
};

TEST_F(MutationProgram, FastAndNaiveAgreeAndTheMatrixSaysWhoKillsWhom) {
  const Outcome fast = mutate("--json fast.json --matrix fast.csv --state fast.mut"),
                naive = mutate("--naive --json naive.json --matrix naive.csv --state naive.mut");
  ASSERT_EQ(fast.code, 0) << fast.err;
  ASSERT_EQ(naive.code, 0) << naive.err;
  EXPECT_EQ(bytes("fast.csv"), bytes("naive.csv"));
  EXPECT_NE(fast.out.find("mutation score"), std::string::npos) << fast.out;
  const auto document = json("fast.json");
  EXPECT_EQ(document["facts"], [&] { return json("naive.json")["facts"]; }());
  EXPECT_EQ(mutate("--killing-subset keep.txt").code, 0);
  EXPECT_FALSE(bytes("keep.txt").empty());
}

TEST_F(MutationProgram, ShardsCombineToTheWhole) {
  ASSERT_EQ(mutate("--state whole.mut").code, 0);
  ASSERT_EQ(mutate("--shard 1/3 --state 1.mut").code, 0);
  ASSERT_EQ(mutate("--shard 3/3 --state 3.mut").code, 0);
  ASSERT_EQ(mutate("--shard 2/3 --state 2.mut").code, 0);
  const Outcome combined = assay("combine 3.mut 1.mut 2.mut --out all.mut --quality 1");
  EXPECT_EQ(combined.code, 0) << combined.err;
  EXPECT_TRUE(bytes("all.mut") == bytes("whole.mut"));
}

TEST_F(MutationProgram, KnownResultsAreNotRunAgain) {
  ASSERT_EQ(assay("mutate --quiet --model net.onnx --test 'images-idx3-ubyte[:100]' --operator ws --quality "
                  "1 --count 4 --state some.mut")
                .code,
            0);
  ASSERT_EQ(assay("mutate --quiet --model net.onnx --test images-idx3-ubyte --operator ws --quality 1 "
                  "--count 4 --state some.mut --json now.json")
                .code,
            0);
  const auto facts = json("now.json")["facts"];
  EXPECT_EQ(facts["ran"], facts["reused"]);
  EXPECT_GT(facts["ran"], 0);
}

TEST_F(MutationProgram, ARunThatIsKilledGoesOn) {
  const std::string run =
      "mutate --quiet --model net.onnx --test images-idx3-ubyte --operator gf --operator ws --operator "
      "bitflip --quality 1 --count 400 --batch 20 --state ";
  ASSERT_EQ(assay(run + "calm.mut").code, 0);
  EXPECT_GE(killed_until_done(run + "killed.mut"), 2);
  const Outcome last = assay(run + "killed.mut");
  EXPECT_EQ(last.code, 0) << last.err;
  EXPECT_TRUE(bytes("killed.mut") == bytes("calm.mut"));
  EXPECT_FALSE(std::filesystem::exists(folder / "killed.mut.journal"));
}

TEST_F(MutationProgram, AMutantIsNamedListedAndExported) {
  const Outcome list =
      assay("mutate list --quiet --model net.onnx --operator neb --count 2 --json list.json");
  ASSERT_EQ(list.code, 0) << list.err;
  const auto rows = json("list.json")["tables"]["mutants"]["rows"];
  ASSERT_EQ(rows.size(), 2U);
  const std::string text = rows[0]["text"];
  const Outcome exported =
      assay("mutate export --quiet --model net.onnx --mutant '" + text + "' --out mutant.onnx");
  ASSERT_EQ(exported.code, 0) << exported.err;
  EXPECT_EQ(assay("evaluate --quiet --model mutant.onnx --data images-idx3-ubyte").code, 0);
  EXPECT_EQ(assay("mutate export --quiet --model net.onnx --out mutant.onnx").code, 1);
  EXPECT_EQ(assay("mutate list --quiet --model net.onnx --operator gaussian").code, 1);
  EXPECT_EQ(assay("mutate list --quiet --model net.onnx --fail-under mutation=1").code, 1)
      << "nothing is judged";
  const std::string named =
      "mutate --quiet --model net.onnx --test images-idx3-ubyte --mutant '" + text + "' ";
  EXPECT_EQ(assay(named).code, 0);
  EXPECT_EQ(assay(named + "--operator ws").code, 1) << "nothing is drawn";
  EXPECT_EQ(assay(named + "--out mutant.onnx").code, 1) << "nothing is exported";
  const auto same = [&](const std::string& given) {
    const Outcome outcome = assay(given + " --quiet --operator neb --count 2");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.out;
  };
  EXPECT_EQ(same("mutate list net.onnx"), same("mutate list --model net.onnx"));
  const std::string test = " --test images-idx3-ubyte[:50]";
  EXPECT_EQ(same("mutate net.onnx" + test), same("mutate --model net.onnx" + test));
}

TEST_F(MutationProgram, OperatorsThatMakeNoMutantAreNamedByTheirOptions) {
  const Outcome outcome = assay(
      "mutate list --quiet net.onnx --operator 'gf[sigma=0.5]' --operator 'gf[sigma=0]' --count 2 --json "
      "idle.json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::string notices = json("idle.json")["notices"].dump();
  EXPECT_NE(notices.find("operator gf[sigma=0] makes no mutant: sigma is 0"), std::string::npos) << notices;
  EXPECT_EQ(notices.find("gf[sigma=0.5] makes no mutant"), std::string::npos) << notices;
}

TEST_F(MutationProgram, GatesAndRenderings) {
  const Outcome passed = mutate(
      "--fail-under mutation=0.01 --fail-under 'mutation[layer=hidden]=0.01' --json base.json --elements "
      "elements.json --html page.html");
  ASSERT_EQ(passed.code, 0) << passed.out << passed.err;
  EXPECT_EQ(mutate("--no-worse-than base.json").code, 0);
  const Outcome failed = mutate("--fail-under 'mutation[class=1]=100%'");
  EXPECT_EQ(failed.code, 2) << failed.out;
  EXPECT_NE(failed.out.find("GATE FAILED"), std::string::npos);
  const auto elements = json("elements.json");
  EXPECT_EQ(elements["schemaVersion"], "2");
  std::size_t mutants = 0;
  for (const auto& [name, file] : elements["files"].items()) {
    mutants += file["mutants"].size();
    const std::string source = file["source"];
    const auto lines = static_cast<std::size_t>(std::ranges::count(source, '\n'));
    for (const auto& mutant : file["mutants"])
      EXPECT_LE(mutant["location"]["end"]["line"].get<std::size_t>(), lines);
  }
  EXPECT_GT(mutants, 10U);
}

TEST_F(MutationProgram, SaysWhatIsMissing) {
  EXPECT_EQ(assay("mutate --quiet --model net.onnx").code, 1);
  EXPECT_EQ(assay("mutate --quiet --model net.onnx --test images-idx3-ubyte --layer nowhere").code, 1);
  EXPECT_EQ(assay("mutate --quiet --model net.onnx --test images-idx3-ubyte --shard 3/2").code, 1);
}

}  // namespace
}  // namespace assay
