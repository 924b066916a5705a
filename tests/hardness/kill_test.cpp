// Commands killed at calls that change a file: results are as if nothing had happened, or not there. A part
// of the calls here, all of them with ASSAY_HARDNESS=whole in the environment (scripts/hardness.sh).

#include <nlohmann/json.hpp>
#include <set>

#include "tests/hardness/commands.h"
#include "tests/program/program.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

bool whole_suite() {
  const char* const wanted = std::getenv("ASSAY_HARDNESS");
  return wanted != nullptr && std::string(wanted) == "whole";
}

// A document without what it says of the work itself (docs/reliability.md): what was found now and known
// before, notices, and what a clock says.
Json found_in(const fs::path& file) {
  Json document = Json::parse(read_file(file));
  document.erase("notices");
  for (const char* fact : {"ran", "reused", "kept", "trained", "trained_before", "created", "seconds"}) {
    document["facts"].erase(fact);
    document["fact_columns"].erase(fact);
  }
  for (const char* clock : {"finished", "seconds"}) document["provenance"].erase(clock);
  for (auto& [id, table] : document["tables"].items()) {
    for (Json& row : table["rows"]) {
      for (const char* clock : {"seconds", "rate"}) row.erase(clock);
    }
  }
  return document;
}

class KillSuite : public Program, public ::testing::WithParamInterface<CommandRun> {
 protected:
  // A folder of its own with the inputs.
  void enter(const std::string& name) {
    const fs::path inputs = root_.empty() ? folder : root_;
    root_ = inputs;
    folder = root_ / name;
    fs::remove_all(folder);
    fs::create_directories(folder);
    write_network("net.onnx");
    write_data("images-idx3-ubyte", "labels-idx1-ubyte", 200);
    for (const std::string& command : GetParam().prepare)
      ASSERT_EQ(assay(command + " --quiet").code, 0) << command;
  }
  std::string command() const {
    return GetParam().name + " " + GetParam().arguments + " --quiet" + one_thread(GetParam().name);
  }
  void TearDown() override {
    if (!root_.empty()) folder = root_;
    Program::TearDown();
  }

  // Nothing is half there, whatever else is.
  void expect_whole_or_absent(const fs::path& calm) const {
    for (const std::string& file : GetParam().files) {
      if (!fs::exists(folder / file)) continue;
      EXPECT_TRUE(read_file(folder / file) == read_file(calm / file)) << file;
    }
    for (const std::string& file : GetParam().tables) {
      if (!fs::exists(folder / file)) continue;
      EXPECT_EQ(found_in(folder / file), found_in(calm / file)) << file;
    }
  }

  void expect_done(const fs::path& calm) const {
    expect_whole_or_absent(calm);
    for (const std::string& file : GetParam().files) EXPECT_TRUE(fs::exists(folder / file)) << file;
    for (const std::string& file : GetParam().tables) EXPECT_TRUE(fs::exists(folder / file)) << file;
    // Nothing stays behind but journals that more work may go on from.
    std::set<std::string> here, there;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      here.insert(fs::relative(entry.path(), folder).string());
    for (const auto& entry : fs::recursive_directory_iterator(calm))
      there.insert(fs::relative(entry.path(), calm).string());
    EXPECT_EQ(here, there);
  }

 private:
  fs::path root_;
};

TEST_P(KillSuite, GoesOnAfterAKillAtAnyCall) {
  if (GetParam().slow && !whole_suite()) GTEST_SKIP() << "only in the whole suite";
  enter("calm");
  const Outcome outcome = assay(command());
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const fs::path calm = folder;
  const int step = whole_suite() ? 1 : 0;  // 0: ever further
  int kills = 0;
  for (int call = 1; call<10'000; call += step> 0 ? step : call + 1) {
    enter("killed");
    if (!killed_at(call, command())) break;
    ++kills;
    expect_whole_or_absent(calm);
    const Outcome again = assay(command());
    ASSERT_EQ(again.code, 0) << "after a kill at call " << call << ": " << again.err;
    expect_done(calm);
    if (HasFailure()) {
      ADD_FAILURE() << "after a kill at call " << call;
      break;
    }
  }
  EXPECT_GT(kills, 0);
  RecordProperty("kills", kills);
}

// Killed again and again, a little later each time.
TEST_P(KillSuite, GoesOnAfterManyKills) {
  if (GetParam().slow && !whole_suite()) GTEST_SKIP() << "only in the whole suite";
  if (!whole_suite() && GetParam().arguments.find("journal") == std::string::npos)
    GTEST_SKIP() << "only in the whole suite";
  enter("calm");
  ASSERT_EQ(assay(command()).code, 0);
  const fs::path calm = folder;
  enter("killed");
  bool ended = false;
  for (int call = 2; call < 10'000 && !ended; call = whole_suite() ? call + 2 : 2 * call)
    ended = !killed_at(call, command());
  EXPECT_TRUE(ended);
  ASSERT_EQ(assay(command()).code, GetParam().again);
  expect_done(calm);
}

INSTANTIATE_TEST_SUITE_P(Commands, KillSuite, ::testing::ValuesIn(command_runs()),
                         [](const auto& run) { return run.param.name + run.param.variant; });

using KillSuiteOfAll = Program;

TEST_F(KillSuiteOfAll, KnowsEveryCommandThatGoesOn) {
  std::set<std::string> known;
  for (const CommandRun& run : command_runs()) known.insert(run.name);
  const std::vector<std::string> names = subcommands(assay("completion bash").out);
  ASSERT_GE(names.size(), known.size());
  for (const std::string& name : names) {
    const std::string help = assay(name + " --help").out;
    const bool goes_on = help.find("goes on from") != std::string::npos ||
                         help.find("journal") != std::string::npos ||
                         help.find("continues from") != std::string::npos;
    EXPECT_TRUE(!goes_on || known.contains(name))
        << name << " goes on after a kill; add a run to tests/hardness/commands.h";
  }
}

// The database of a study, killed while a query is answered and its answer kept: what it held stays, and the
// same command gives what it would have given.
TEST_F(KillSuiteOfAll, TheDatabaseOfAStudyLosesNothing) {
  const std::string
      flags =
          " --quiet --threads 1 --model net.onnx --data images-idx3-ubyte --hypotheses label "
          "--no-early-stop --journal-every 0 --block 60 ",
      before = "inspect --units layer=hidden --db study.db" + flags,
      query = "inspect --db study.db --json r.json --add note.json" + flags +
              "--sql \"CREATE TABLE IF NOT EXISTS best AS SELECT S.uid, S.hid, S.unit_score INSPECT "
              "U.uid AND H.h USING pearson, mean_difference OVER D.seq AS S FROM units U, "
              "hypotheses H, inputs D WHERE U.layer = 'logits'; SELECT * FROM best ORDER BY uid, "
              "hid, unit_score; SELECT count(*) FROM scores; SELECT * FROM document_tables\"",
      kept =
          "inspect --quiet --db study.db --json k.json \"SELECT * FROM scores WHERE layer = "
          "'hidden'\"";
  ASSERT_EQ(assay("evaluate --quiet --model net.onnx --data images-idx3-ubyte --json note.json").code, 0);
  ASSERT_EQ(assay(before).code, 0);
  ASSERT_EQ(assay(kept).code, 0);
  const std::string database = read_file(folder / "study.db");
  const Json held = found_in(folder / "k.json");
  const auto files = [&] {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename().string());
    return names;
  };
  ASSERT_EQ(assay(query).code, 0);
  const Json calm = found_in(folder / "r.json");
  const std::set<std::string> all = files();
  const int step = whole_suite() ? 1 : 0;  // 0: ever further
  int kills = 0;
  for (int call = 1; call<10'000; call += step> 0 ? step : call / 4 + 1) {
    write_file(folder / "study.db", database);
    fs::remove(folder / "r.json");
    if (!killed_at(call, query)) break;
    ++kills;
    ASSERT_EQ(assay(kept).code, 0) << "after a kill at call " << call;
    EXPECT_EQ(found_in(folder / "k.json"), held) << "after a kill at call " << call;
    const Outcome again = assay(query);
    ASSERT_EQ(again.code, 0) << "after a kill at call " << call << ": " << again.err;
    EXPECT_EQ(found_in(folder / "r.json"), calm) << "after a kill at call " << call;
    EXPECT_EQ(files(), all) << "after a kill at call " << call;
    if (HasFailure()) break;
  }
  EXPECT_GT(kills, 8);
  RecordProperty("kills", kills);
}

// Signals at safe points: the first ends the run cleanly, a second at once.
TEST_F(KillSuiteOfAll, SignalsStopCleanlyAndTheSameCommandGoesOn) {
  const std::string run =
      "attack net.onnx images-idx3-ubyte --quiet --threads 1 --batch 2 --attack noise --attack fgsm "
      "--out ";
  ASSERT_EQ(assay(run + "calm").code, 0);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const std::string out = "stopped-" + std::to_string(signal);
    const Outcome stopped =
        shell("LD_PRELOAD='" ASSAY_KILL_AT "' ASSAY_KILL_AT=20 ASSAY_KILL_WITH=" + std::to_string(signal) +
              " $assay " + run + out);
    EXPECT_EQ(stopped.code, 128 + signal) << stopped.err;
    EXPECT_NE(stopped.err.find("the same command goes on from"), std::string::npos) << stopped.err;
    EXPECT_TRUE(fs::exists(folder / out / "noise.npz.journal"));
    EXPECT_FALSE(fs::exists(folder / out / "noise.npz"));
    const Outcome again = assay(run + out);
    ASSERT_EQ(again.code, 0) << again.err;
    for (const char* name : {"noise.npz", "fgsm.npz"})
      EXPECT_TRUE(read_file(folder / "calm" / name) == read_file(folder / out / name)) << name;
  }
  const Outcome twice =
      shell("LD_PRELOAD='" ASSAY_KILL_AT "' ASSAY_KILL_AT=20 ASSAY_KILL_TIMES=2 ASSAY_KILL_WITH=15 $assay " +
            run + "twice");
  EXPECT_EQ(twice.code, 128 + SIGTERM);
  EXPECT_EQ(twice.err, "");
  ASSERT_EQ(assay(run + "twice").code, 0);
  EXPECT_TRUE(read_file(folder / "calm" / "fgsm.npz") == read_file(folder / "twice" / "fgsm.npz"));
}

}  // namespace
}  // namespace assay
