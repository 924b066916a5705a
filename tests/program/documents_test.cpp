// The documents of every command against their published forms.

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/program/program.h"
#include "tests/support/json_schema.h"
#include "tests/support/xml.h"

namespace assay {
namespace {

using Json = nlohmann::json;

class Documents : public Program {
 protected:
  static constexpr const char* criteria =
      "-m 2 --criterion idc --criterion nc --criterion kmnc --criterion nlc --criterion tknp --criterion "
      "dsc ";

  static std::string cover(const std::string& more) {
    return std::string(
               "cover --quiet --model net.onnx --train images-idx3-ubyte --test images-idx3-ubyte --layer "
               "hidden ") +
           criteria + more;
  }

  void SetUp() override {
    Program::SetUp();
    ASSERT_EQ(assay(cover("--profile net.profile --state a.cov --json a.json")).code, 0);
    ASSERT_EQ(assay(std::string("cover --quiet --model net.onnx --profile net.profile --test "
                                "'images-idx3-ubyte[:20]' --state b.cov ") +
                    criteria)
                  .code,
              0);
  }

  // Arguments that exercise each command.
  const std::map<std::string, std::string> runs{
      {"cover", std::string("--model net.onnx --profile net.profile --test images-idx3-ubyte --fail-under "
                            "nc=0.1 --fail-under 'kmnc[context=nowhere]=0.1' ") +
                    criteria},
      {"attack", "net.onnx images-idx3-ubyte --attack noise"},
      {"attacks", ""},
      {"bounds", "net.onnx 'images-idx3-ubyte[:20]' --eps 0.02 --bisections 3 --fail-under certified=0"},
      {"audit",
       "--model net.onnx --train images-idx3-ubyte --test images-idx3-ubyte --criterion nc --count 2 "
       "--subsets 10 "
       "--permutations 19 --resamples 20 --orders 19"},
      {"combine", "a.cov"},
      {"criteria", ""},
      {"constraints", ""},
      {"data", "images-idx3-ubyte"},
      {"demo", "--records 500 --epochs 1"},
      {"diff", "a.cov b.cov"},
      {"evaluate", "--model net.onnx --data images-idx3-ubyte"},
      {"explore",
       "net.onnx --mutant gf --mutant ns --data images-idx3-ubyte --constraint occl --iterations 5 --out "
       "explored"},
      {"faithful",
       "net.onnx 'images-idx3-ubyte[:9]' --method epsilon --method 'occlusion[patch=7]' --fail-under "
       "deletion=0.9"},
      {"history", "add a.json --history history.jsonl --badge history.svg"},
      {"hypotheses", ""},
      {"tasks", "pixels"},
      {"importance", "--model net.onnx --data images-idx3-ubyte --heatmaps 2"},
      {"inspect", "--model net.onnx --data images-idx3-ubyte --hypotheses label --measure pearson"},
      {"measures", ""},
      {"model", "net.onnx"},
      {"monitor",
       "net.onnx images-idx3-ubyte --score mdsa --train images-idx3-ubyte --attack noise --foreign "
       "'images-idx3-ubyte[:9]' --fail-under 'false-alarms<=1'"},
      {"mutate", "--model net.onnx --test images-idx3-ubyte --operator gf --count 3"},
      {"open", "a.json --print"},
      {"patch", "net.onnx 'images-idx3-ubyte[:45]' 'images-idx3-ubyte[45:90]' --out patched"},
      {"operators", ""},
      {"reliability",
       "net.onnx images-idx3-ubyte --train 'images-idx3-ubyte[:50]' --calibration images-idx3-ubyte --twin "
       "net.onnx --candidates 3 "
       "--fail-under 'failure-probability<=1' --fail-under 'leaked-records<=0'"},
      {"report", "a.json"},
      {"selftest", ""},
      {"evidence", "--model net.onnx --train images-idx3-ubyte --test images-idx3-ubyte --out pack"},
      {"verify", "pack"},
      {"prune", "--model net.onnx --units layer=hidden,units=0 --test images-idx3-ubyte --random-groups 2"},
      {"polluted",
       "--data images-idx3-ubyte --findings 'images-idx3-ubyte[:3]' --window-size 3 --label 1 --truth "
       "'images-idx3-ubyte,relabel=1>0:0.5'"},
      {"retrain",
       "net.onnx --train images-idx3-ubyte --test images-idx3-ubyte --add images-idx3-ubyte --count 9 "
       "--repeats 2 --epochs 1 --fail-under 'retrained[condition=given,set=test]=1%'"},
      {"select",
       "--model net.onnx --profile net.profile --test images-idx3-ubyte --by additional --criterion kmnc"},
      {"robust",
       "net.onnx images-idx3-ubyte --along 'noise[sigma=0:0.6:0.3]' --along 'fgsm[eps=0.1/0.3]' --fail-under "
       "area=0.1 --fail-under 'half-drop[along=fgsm]=0.2'"},
      {"train", "--model net.onnx --data images-idx3-ubyte --epochs 1 --out trained.onnx"},
  };
};

TEST_F(Documents, OfEveryCommandFitTheSchema) {
  const test::JsonSchema schema(
      Json::parse(read_file(std::filesystem::path(ASSAY_SOURCE_DIR) / "docs/schema/result.schema.json")));
  for (const std::string& name : subcommands(assay("completion bash").out)) {
    if (name == "completion") continue;
    if (!runs.contains(name)) {
      ADD_FAILURE() << "assay " << name << " is new: give it arguments in `runs`";
      continue;
    }
    const Outcome run = assay(name + " --quiet --json result-" + name + ".json " + runs.at(name));
    ASSERT_TRUE(run.code == 0 || run.code == 2) << name << ": " << run.err;
    const Json document = Json::parse(read_file(folder / ("result-" + name + ".json")));
    EXPECT_EQ(document["command"], name);
    for (const std::string& fault : schema.faults(document)) ADD_FAILURE() << name << fault;
  }
}

TEST_F(Documents, OfGatesAreWellFormedJunit) {
  const Outcome run =
      assay(cover("--junit gates.xml --fail-under nc=0.1 --fail-under 'kmnc[context=\"<a&b>\"]=0.1'"));
  ASSERT_EQ(run.code, 2) << run.err;
  const test::XmlElement root = test::XmlReader::read(read_file(folder / "gates.xml"));
  EXPECT_EQ(root.name, "testsuites");
  ASSERT_EQ(root.all("testsuite").size(), 1U);
  const test::XmlElement& suite = *root.all("testsuite")[0];
  for (const char* needed :
       {"name", "tests", "failures", "errors", "time", "timestamp", "hostname", "id", "package"})
    EXPECT_TRUE(suite.attributes.contains(needed)) << needed;
  const auto cases = suite.all("testcase");
  EXPECT_EQ(std::to_string(cases.size()), suite.attributes.at("tests"));
  std::size_t failures = 0;
  for (const test::XmlElement* one : cases) {
    for (const char* needed : {"name", "classname", "time"})
      EXPECT_TRUE(one->attributes.contains(needed)) << needed;
    for (const test::XmlElement* failure : one->all("failure")) {
      ++failures;
      EXPECT_TRUE(failure->attributes.contains("message") && failure->attributes.contains("type"));
      EXPECT_EQ(one->attributes.at("name"), "kmnc[context=\"<a&b>\"]=0.1");
    }
  }
  EXPECT_EQ(failures, 1U);
  EXPECT_EQ(suite.attributes.at("failures"), "1");
  EXPECT_EQ(suite.attributes.at("errors"), "0");
}

TEST_F(Documents, OfGatesHaveWhatSarifRequires) {
  assay(cover("--sarif gates.sarif --fail-under nc=0.1 --fail-under kmnc=0.999"));
  const Json log = Json::parse(read_file(folder / "gates.sarif"));
  const Json needed = Json::parse(R"({
    "type": "object", "required": ["version", "runs", "$schema"],
    "properties": {"version": {"const": "2.1.0"}, "runs": {"type": "array", "items": {
      "required": ["tool", "results"],
      "properties": {
        "tool": {"required": ["driver"], "properties": {"driver": {
          "required": ["name"],
          "properties": {"rules": {"type": "array", "items": {"type": "object", "required": ["id"]}}}}}},
        "results": {"type": "array", "items": {
          "required": ["message", "ruleId", "ruleIndex", "level", "locations"],
          "properties": {"level": {"enum": ["none", "note", "warning", "error"]}, "message": {"required": ["text"]}, "ruleIndex": {"type": "integer"}}}},
        "invocations": {"type": "array", "items": {"required": ["executionSuccessful"]}}}}}}})");
  for (const std::string& fault : test::JsonSchema(needed).faults(log)) ADD_FAILURE() << fault;
  const Json& results = log["runs"][0]["results"];
  EXPECT_EQ(std::ranges::count_if(results, [](const Json& result) { return result["level"] == "error"; }), 1);
}

}  // namespace
}  // namespace assay
