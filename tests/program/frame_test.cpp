#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "tests/program/program.h"

namespace assay {
namespace {

using Json = nlohmann::json;
using Frame = Program;

const char* const evaluation = "evaluate --model net.onnx --data images-idx3-ubyte";

TEST_F(Frame, EverySubcommandHasHelpWithExamples) {
  const Outcome help = assay("--help");
  EXPECT_EQ(help.code, 0);
  const std::vector<std::string> names = subcommands(assay("completion bash").out);
  ASSERT_GE(names.size(), 2U) << help.out;
  for (const std::string& name : names) {
    EXPECT_THAT(help.out, ::testing::ContainsRegex("[\n, ]" + name + "[\n, ]"));
    const Outcome own = assay(name + " --help");
    EXPECT_EQ(own.code, 0);
    EXPECT_NE(own.out.find("Examples:\n  assay " + name), std::string::npos) << own.out;
  }
}

TEST_F(Frame, EvaluationIsExact) {
  const Outcome result = assay(std::string(evaluation) + " --json -");
  ASSERT_EQ(result.code, 0) << result.err;
  const Json json = Json::parse(result.out);
  EXPECT_DOUBLE_EQ(json["facts"]["test_accuracy"], 0.9);
  EXPECT_EQ(json["command"], "evaluate");
  EXPECT_EQ(json["provenance"]["model_hash"].get<std::string>().size(), 32U);
  EXPECT_EQ(json["provenance"]["data_hash"].get<std::string>().size(), 32U);
}

TEST_F(Frame, NetworkAndDataMayStandWithoutTheirFlags) {
  EXPECT_EQ(assay("evaluate net.onnx images-idx3-ubyte").out, assay(evaluation).out);
  EXPECT_EQ(assay("importance net.onnx images-idx3-ubyte").code, 0);
}

TEST_F(Frame, ResultsDoNotDependOnBatchOrThreads) {
  const auto tables = [&](const std::string& flags) {
    return Json::parse(assay(evaluation + flags + " --json -").out)["tables"];
  };
  const Json reference = tables(" --batch 1 --threads 1");
  EXPECT_EQ(tables(" --batch 7 --threads 2"), reference);
  EXPECT_EQ(tables(""), reference);
}

TEST_F(Frame, APipeGetsPlainTextAndQuietMeansQuiet) {
  const Outcome result = assay(std::string(evaluation) + " --quiet");
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out.find('\033'), std::string::npos);
  EXPECT_NE(result.out.find("90.00 %"), std::string::npos) << result.out;
  EXPECT_EQ(result.err, "");
}

TEST_F(Frame, JsonFileAndTablesComeTogether) {
  const Outcome result = assay(std::string(evaluation) + " --json result.json");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("90.00 %"), std::string::npos);
  EXPECT_EQ(Json::parse(read_file(folder / "result.json"))["facts"]["records"], 200);
}

TEST_F(Frame, StandardOutputHasAForm) {
  const std::string asked = std::string(evaluation) + " ";
  EXPECT_EQ(Json::parse(assay(asked + "--format json").out)["facts"],
            Json::parse(assay(asked + "--json -").out)["facts"]);
  const Outcome csv = assay(asked + "--format csv");
  EXPECT_EQ(csv.out, "class,records,correct,accuracy\r\n0,80,80,1\r\n1,120,100,0.8333333333333334\r\n");
  EXPECT_THAT(csv.err,
              ::testing::HasSubstr("this is the table classes; --csv FOLDER also writes confusions.csv, "));
  EXPECT_EQ(assay(asked + "--format csv -q").err, "");
  EXPECT_THAT(assay(asked + "--format markdown").out, ::testing::StartsWith("## Assay evaluate: "));
  const Outcome both = assay(asked + "--format csv --json result.json");
  EXPECT_EQ(both.out, csv.out);
  EXPECT_EQ(Json::parse(read_file(folder / "result.json"))["facts"]["records"], 200);
  const Outcome clash = assay(asked + "--format csv --json -");
  EXPECT_EQ(clash.code, 1);
  EXPECT_THAT(clash.err, ::testing::HasSubstr("--json - and --format csv both write to standard output"));
  EXPECT_EQ(assay(asked + "--format xml").code, 1);
}

TEST_F(Frame, FlagsOfAllCommandsAreErrorsWhereTheyHaveNoEffect) {
  const std::string evaluate = std::string(evaluation) + " -q ", none = " has no effect ";
  for (const auto& [asked, said] : std::vector<std::pair<std::string, std::string>>{
           {"criteria --seed 3", "--seed" + none + "on `assay criteria`"},
           {"criteria --threads 2", "--threads" + none},
           {"criteria --threads x", "--threads" + none + "on `assay criteria`; leave it out"},
           {"criteria --engine=x", "--engine" + none + "on `assay criteria`; leave it out"},
           {"data images-idx3-ubyte --batch 4", "--batch" + none + "on `assay data`"},
           {"data images-idx3-ubyte --engine lanes", "--engine" + none},
           {"train images-idx3-ubyte --architecture lenet1 --out x.onnx --batch 4", "--batch" + none},
           {evaluate + "--seed 3", "--seed" + none + "on `assay evaluate`"},
           {evaluate + "--force", "--force" + none + "where nothing is written that it could replace"},
           {"selftest --write suite --threads 2", "--threads" + none + "with --write"},
           {evaluate + "--trust",
            "--trust" + none + "without an assay.toml, or a pyproject.toml with [tool.assay], in"}}) {
    const Outcome outcome = assay(asked);
    EXPECT_EQ(outcome.code, 1) << asked;
    EXPECT_THAT(outcome.err, ::testing::HasSubstr(said));
  }
  EXPECT_EQ(assay("criteria -q --seed 1 --memory 0").code, 0) << "recorded commands name what holds anyway";
  EXPECT_THAT(assay("criteria --thread 2").err, ::testing::Not(::testing::HasSubstr("--threads")));
  EXPECT_EQ(assay(evaluate + "--force --json r.json").code, 0);
  EXPECT_THAT(assay("criteria --help-all").out, ::testing::Not(::testing::HasSubstr("--seed")));
  EXPECT_THAT(assay("completion bash").out, ::testing::HasSubstr("--seed"));
  write_file(folder / "assay.toml", "seed = 3\nforce = true\n[criteria]\nthreads = 2\n");
  EXPECT_EQ(assay("criteria -q").code, 0) << "settings hold for many commands";
  EXPECT_EQ(assay(evaluate + "--trust").code, 0);
  EXPECT_THAT(assay(evaluate + "--trust --config assay.toml").err, ::testing::HasSubstr("--trust" + none));
}

TEST_F(Frame, TheReasonOfAFailedGateComesFirst) {
  const std::string asked = std::string(evaluation) + " -q --fail-under accuracy=0.95 ";
  const std::string reason = "GATE FAILED: accuracy=0.95: 180 of 200 (90.00 %)\n";
  const Outcome text = assay(asked);
  EXPECT_EQ(text.code, 2);
  EXPECT_THAT(text.out, ::testing::StartsWith(reason));
  EXPECT_THAT(text.out, ::testing::HasSubstr("gates: 0 of 1 passed"));
  EXPECT_EQ(text.err, "");
  for (const char* form : {"--json -", "--format json", "--format csv", "--format markdown"}) {
    const Outcome other = assay(asked + form);
    EXPECT_EQ(other.code, 2);
    EXPECT_EQ(other.err, "assay: " + reason) << form;
  }
}

TEST_F(Frame, VerboseShowsDetailsAndWhatTheResultRestsOn) {
  const Outcome brief = assay(std::string(evaluation) + " -q"),
                whole = assay(std::string(evaluation) + " -q -v");
  EXPECT_THAT(brief.out, ::testing::Not(::testing::HasSubstr("Rests on")));
  EXPECT_THAT(whole.out, ::testing::HasSubstr("\nRests on\n  model "));
}

TEST_F(Frame, ConfigurationFileHasFlagParityAndTheCommandLineWins) {
  write_file(folder / "assay.toml",
             "model = \"net.onnx\"\nquiet = true\n[evaluate]\ndata = \"images-idx3-ubyte\"\nbatch = 3\n");
  EXPECT_EQ(assay("evaluate").code, 0);
  const Json json = Json::parse(assay("evaluate --batch 9 --json -").out);
  EXPECT_NE(json["provenance"]["options"].get<std::string>().find("--batch 9"), std::string::npos);
  write_file(folder / "other.toml", "model = \"missing.onnx\"\n");
  EXPECT_EQ(assay("evaluate --config other.toml --data images-idx3-ubyte").code, 7);
}

TEST_F(Frame, ConfigurationErrorsNameFileLineAndTheNearestFlag) {
  write_file(folder / "assay.toml", "[evaluate]\nmodle = \"net.onnx\"\n");
  const Outcome typo = assay("evaluate");
  EXPECT_EQ(typo.code, 1);
  EXPECT_NE(typo.err.find("assay.toml:2"), std::string::npos) << typo.err;
  EXPECT_NE(typo.err.find("did you mean 'model'"), std::string::npos) << typo.err;
  write_file(folder / "assay.toml", "threads = \"many\"\n");
  EXPECT_EQ(assay(evaluation).code, 1);
  write_file(folder / "assay.toml", "threads = \n");
  EXPECT_EQ(assay(evaluation).code, 1);
}

TEST_F(Frame, CompletionKnowsEverySubcommand) {
  const std::vector<std::string> names = subcommands(assay("completion bash").out);
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const Outcome script = assay(std::string("completion ") + shell);
    EXPECT_EQ(script.code, 0);
    for (const std::string& name : names) EXPECT_NE(script.out.find(name), std::string::npos) << shell;
  }
  EXPECT_EQ(assay("completion bash > c.sh && bash -n c.sh").code, 0);
}

TEST_F(Frame, CompletionOffersWordsAndFilesWithSpaces) {
  write_file(folder / "two words.npz", "");
  const auto offered = [&](const std::string& typed, int word) {
    write_file(folder / "ask.sh",
               fmt::format("cd '{}'; . ./c.sh; COMP_WORDS=(assay {}); COMP_CWORD={}; _assay; "
                           "for one in \"${{COMPREPLY[@]}}\"; do echo \"<$one>\"; done\n",
                           folder.string(), typed, word));
    const Outcome asked = assay("--version >/dev/null; bash ask.sh");
    EXPECT_EQ(asked.err, "");
    return asked.out;
  };
  ASSERT_EQ(assay("completion bash > c.sh && true").code, 0);
  EXPECT_EQ(offered("cov", 1), "<cover>\n");
  EXPECT_EQ(offered("cover --engine ch", 3), "<channels>\n");
  EXPECT_EQ(offered("mutate exp", 2), "<export>\n");
  EXPECT_EQ(offered("cover --test two", 3), "<two words.npz>\n");
  EXPECT_EQ(offered("cover --expect", 2), "<--expect-accuracy>\n");
  // By the kind of file that a flag names; where none fits, any.
  for (const char* name : {"other.onnx", "other.json", "other.csv", "other.pdf"})
    write_file(folder / name, "");
  std::filesystem::create_directories(folder / "other");
  EXPECT_EQ(offered("cover --model other.", 3), "<other.onnx>\n");
  EXPECT_EQ(offered("cover --test oth", 3), "<other>\n<other.csv>\n");
  EXPECT_EQ(offered("report other.", 2), "<other.json>\n");
  EXPECT_EQ(offered("verify --from oth", 3), "<other>\n");
  EXPECT_EQ(offered("evaluate other.", 2), "<other.csv>\n<other.onnx>\n");
  EXPECT_EQ(offered("evaluate other.p", 2), "<other.pdf>\n");
}

// An empty variable or a NaN must not open a gate.
TEST_F(Frame, ValuesThatAreNoneAreRefused) {
  const std::string evaluated = std::string(evaluation) + " ";
  for (const char* wrong :
       {"--no-worse-than ''", "--expect-accuracy nan", "--expect-accuracy 0.5 --tolerance NaN", "--json ''",
        "--memory inf", "--seed -1", "--seed 18446744073709551616", "--seed 1.5", "--seed 0x10", "--seed ' '",
        "--threads=0x1", "--json=", "--json= --quiet", "--quiet=maybe", "--batch ٣"}) {
    const Outcome outcome = assay(evaluated + wrong);
    EXPECT_EQ(outcome.code, 1) << wrong << outcome.err;
  }
  const std::string chosen = "select --model net.onnx --test images-idx3-ubyte --by random --quiet ";
  EXPECT_EQ(assay(chosen + "--seed 9223372036854775807").code, 0);
  EXPECT_EQ(assay(chosen + "--seed 010 --json ten.json").code, 0);
  EXPECT_EQ(Json::parse(read_file(folder / "ten.json"))["provenance"]["seed"], 10);
  const Outcome flag = assay(evaluated + "--json --quiet");
  EXPECT_EQ(flag.code, 1);
  EXPECT_THAT(flag.err, ::testing::HasSubstr("--json needs a value, but --quiet is a flag"));
  EXPECT_FALSE(std::filesystem::exists(folder / "--quiet"));
  EXPECT_LT(assay("attack --margin x").err.size(), 200U) << "no bound of 300 digits";
  for (const char* wrong :
       {"expect-accuracy = nan", "quiet = \"maybe\"", "quiet = 1", "seed = \"0x10\"", "seed = 1.5",
        "threads = true", "json = \"\"", "json = \" \"", "json = \"a\\u0000b.json\""}) {
    write_file(folder / "gate.toml", fmt::format("[evaluate]\n{}\n", wrong));
    EXPECT_EQ(assay(evaluated + "--config gate.toml").code, 1) << wrong;
  }
}

TEST_F(Frame, FilesGoIntoFoldersThatAreThere) {
  const std::string evaluated = std::string(evaluation) + " --quiet ";
  for (const char* flag : {"--json", "--html", "--junit"}) {
    const Outcome outcome = assay(evaluated + flag + " new/folder/x.out");
    EXPECT_EQ(outcome.code, 7) << flag;
    EXPECT_THAT(outcome.err, ::testing::HasSubstr("there is no folder new/folder; make it first"));
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "new"));
  EXPECT_EQ(assay(evaluated + "--csv tables --json tables/x.json").code, 0) << "a folder that the run makes";
  EXPECT_TRUE(std::filesystem::exists(folder / "tables/x.json"));
}

}  // namespace
}  // namespace assay
