// Everything from assay.toml: one short command gives the table, the gates and the page.

#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "assay/data/files/numpy.h"
#include "tests/program/program.h"

namespace assay {
namespace {

using Json = nlohmann::json;

class Configuration : public Program {
 protected:
  Json json(const std::string& file) const { return Json::parse(read_file(folder / file)); }
};

TEST_F(Configuration, APyprojectHoldsATableOfAssay) {
  const std::string ours = "[tool.assay]\nmodel = \"net.onnx\"\n[tool.assay.evaluate]\ndata = ";
  write_file(folder / "pyproject.toml",
             "[project]\nname = \"theirs\"\n" + ours + "\"images-idx3-ubyte[:50]\"\njson = \"r.json\"\n");
  ASSERT_EQ(assay("evaluate --quiet").code, 0);
  EXPECT_EQ(json("r.json")["facts"]["records"], 50);
  // An assay.toml of the folder goes before it; a plug-in needs trust from either.
  write_file(folder / "assay.toml", "[evaluate]\nmodel = \"net.onnx\"\ndata = \"images-idx3-ubyte[:20]\"\n");
  ASSERT_EQ(assay("evaluate --quiet --json r.json").code, 0);
  EXPECT_EQ(json("r.json")["facts"]["records"], 20);
  const std::string notice = "assay.toml is read, [tool.assay] of pyproject.toml is not";
  EXPECT_NE(assay("evaluate").err.find(notice), std::string::npos);
  EXPECT_EQ(assay("evaluate -q").err, "");
  std::filesystem::remove(folder / "assay.toml");
  EXPECT_EQ(assay("evaluate").err.find(notice), std::string::npos);
  write_file(folder / "pyproject.toml", "[tool.assay]\nplugin = [\"./theirs.so\"]\n");
  EXPECT_EQ(assay("evaluate net.onnx images-idx3-ubyte").code, 1);
  write_file(folder / "pyproject.toml",
             "[project]\nname = \"theirs\"\n[tool.assay.evaluate]\ndatum = \"x\"\n");
  EXPECT_NE(assay("evaluate").err.find("pyproject.toml:4: "), std::string::npos) << assay("evaluate").err;
  // What says nothing of Assay is not read, however damaged; named, it must hold the table.
  write_file(folder / "pyproject.toml", "# tool.assay may come\n[tool.assayer]\nmodel = 3\n");
  EXPECT_EQ(assay("evaluate net.onnx images-idx3-ubyte").code, 0);
  write_file(folder / "pyproject.toml", "[project\n");
  EXPECT_EQ(assay("evaluate net.onnx images-idx3-ubyte").code, 0);
  write_file(folder / "pyproject.toml", "[project]\n");
  const Outcome named = assay("evaluate net.onnx images-idx3-ubyte --config pyproject.toml");
  EXPECT_EQ(named.code, 1);
  EXPECT_NE(named.err.find("[tool.assay]"), std::string::npos);
}

TEST_F(Configuration, OneCommandGivesTableGatesAndPage) {
  write_file(folder / "assay.toml", R"(
model = "net.onnx"
quiet = true

[cover]
train = "images-idx3-ubyte"
test = "images-idx3-ubyte[:150]"
layer = "hidden"
criterion = ["idc", "kmnc[sections=50]", "nc[threshold=0.5]", "nlc"]
m = [1, 2]
context = "day"
state = "day.cov"
html = "day.html"
junit = "day.xml"
json = "day.json"
fail-under = ["nc=0.5", "idc[m=2,layer=hidden]=0.1", "kmnc[layer=*,context=day]=1%"]
)");
  const Outcome day = assay("cover");
  EXPECT_EQ(day.code, 0) << day.out << day.err;
  EXPECT_NE(day.out.find("kmnc"), std::string::npos);
  const Json gates = json("day.json")["gates"];
  EXPECT_EQ(gates.size(), 3U);
  for (const Json& gate : gates) EXPECT_TRUE(gate["passed"].get<bool>()) << gate.dump(1);
  EXPECT_NE(read_file(folder / "day.html").find("\"schema\":\"assay/result\""), std::string::npos);
  EXPECT_NE(read_file(folder / "day.xml").find("failures=\"0\""), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(folder / "day.cov"));

  write_file(folder / "night.toml", R"(
model = "net.onnx"
[cover]
train = "images-idx3-ubyte"
test = "images-idx3-ubyte[:2]"
layer = "hidden"
criterion = ["idc", "kmnc[sections=50]", "nc[threshold=0.5]", "nlc"]
neurons = "1,2"
context = "day"
no-worse-than = "day.json"
any-baseline = true
junit = "night.xml"
)");
  const Outcome night = assay("cover --config night.toml");
  EXPECT_EQ(night.code, 2) << night.out << night.err;
  EXPECT_NE(read_file(folder / "night.xml").find("<failure"), std::string::npos);
}

// Every flag of cover with a value that is not its default.
const std::map<std::string, Json> flags{
    {"model", "net.onnx"},
    {"clusterer", "kmeans"},
    {"decision", "logits"},
    {"precision", "float16"},
    {"input-shape", "1x4x4"},
    {"train", "images-idx3-ubyte"},
    {"test", "images-idx3-ubyte[:100]"},
    {"reached", "images-idx3-ubyte[100:120]"},
    {"criterion", {"idc", "kmnc[sections=10]", "tknc[k=1]", "aidc[m=2]"}},
    {"preset", "deepxplore"},
    {"units", Json::array({"layer=hidden,units=0"})},
    {"view", Json::array({"layer=hidden,directions=directions.npz,name=seen"})},
    {"layer", Json::array({"hidden"})},
    {"count-layer", {"hidden", "logits", "seen"}},
    {"neurons", "auto"},
    {"share", 0.75},
    {"cap", 3},
    {"profile", "net.profile"},
    {"method", "alpha2-beta1"},
    {"task", "classes"},
    {"absolute", true},
    {"normalised", true},
    {"min-k", 2},
    {"max-k", 4},
    {"drop-zeros", true},
    {"round", 2},
    {"reduction", "max"},
    {"by-class", true},
    {"context", "night"},
    {"shard", "1/1"},
    {"state", "night.cov"},
    {"journal-every", 5},
    {"append", true},
    {"top", 3},
    {"records", 2},
    {"extend-with", "noise"},
    {"made-dir", "attacked"},
    {"expect-accuracy", 0.9},
    {"tolerance", 0.05},
    {"tolerance-above", 0.2},
    {"fail-under", {"tknc=0.1", "kmnc[layer=hidden]=1%"}},
    {"no-worse-than", "base.json"},
    {"worse-by", 0.25},
    {"compare", {"tknc", "kmnc[layer=*]"}},
    {"any-baseline", true},
    {"json", "result.json"},
    {"format", "markdown"},
    {"verbose", true},
    {"html", "result.html"},
    {"junit", "result.xml"},
    {"sarif", "result.sarif"},
    {"markdown", "result.md"},
    {"csv", "tables"},
    {"quiet", true},
    {"force", true},
    {"strict", true},
    {"seed", 3},
    {"threads", 1},
    {"batch", 16},
    {"device", "cpu"},
    {"engine", "lanes"},
    {"memory", 2},
};

std::string as_typed(const std::set<std::string>& except = {}) {
  std::string typed;
  for (const auto& [name, value] : flags) {
    if (except.contains(name)) continue;
    for (const Json& one : value.is_array() ? value : Json::array({value})) {
      typed += " --" + name;
      if (!one.is_boolean()) typed += " '" + (one.is_string() ? one.get<std::string>() : one.dump()) + "'";
    }
  }
  return typed;
}

// JSON values are also TOML values.
std::string as_toml() {
  std::string toml = "[cover]\n";
  for (const auto& [name, value] : flags) toml += name + " = " + value.dump() + "\n";
  return toml;
}

TEST_F(Configuration, EveryFlagOfCoverMeansTheSameInTheFile) {
  const std::string help = assay("cover --help-all").out;
  const std::regex flag("\n  (?:-[a-z],)?--([a-z-]+)");
  std::set<std::string> declared;
  for (std::sregex_iterator it(help.begin(), help.end(), flag), end; it != end; ++it)
    declared.insert((*it)[1]);
  // A plug-in is a file that has to be compiled; tests of plug-ins load one from assay.toml, which cannot
  // trust itself. --carry-over is
  // for profiles of other networks, --elements for results with mutants, --fix for sizes that are left open,
  // --items for networks that decide about many items, --pairs for records with characteristics,
  // --straight-through for networks with steps.
  for (const char* elsewhere : {"carry-over", "config", "elements", "fix", "help", "help-all", "items",
                                "pairs", "plugin", "straight-through", "trust", "watch"})
    declared.erase(elsewhere);
  ASSERT_FALSE(declared.empty()) << help;
  for (const std::string& name : declared)
    EXPECT_TRUE(flags.contains(name)) << "--" << name << " is new: give it a value in `flags`";
  for (const auto& [name, value] : flags)
    EXPECT_TRUE(declared.contains(name)) << "cover has no flag --" << name;

  write_npz(folder / "directions.npz", {{"d", Array::of<float>({1, 2}, std::vector<float>{1, -1})}});
  const auto clear = [&] {
    for (const char* file : {"net.profile", "night.cov", "result.json"})
      std::filesystem::remove(folder / file);
  };
  // The test set is part of the training set, and --strict makes that warning an exit code.
  const Outcome base = assay("cover" + as_typed({"no-worse-than", "worse-by", "compare", "any-baseline"}));
  ASSERT_EQ(base.code, 9) << base.out << base.err;
  std::filesystem::rename(folder / "result.json", folder / "base.json");
  clear();
  const Outcome typed = assay("cover" + as_typed());
  ASSERT_EQ(typed.code, 9) << typed.out << typed.err;
  Json by_flags = json("result.json");
  clear();
  write_file(folder / "assay.toml", as_toml());
  const Outcome read = assay("cover");
  ASSERT_EQ(read.code, 9) << read.out << read.err;
  Json by_file = json("result.json");
  // Preset and m are recorded as the criteria that they stand for.
  for (const std::string& name : declared) {
    const bool recorded =
        by_file["provenance"]["options"].get<std::string>().find("--" + name) != std::string::npos;
    EXPECT_EQ(recorded, name != "preset" && name != "neurons") << name;
  }
  for (const char* changing : {"finished", "seconds"}) {
    by_flags["provenance"].erase(changing);
    by_file["provenance"].erase(changing);
  }
  EXPECT_TRUE(by_file == by_flags) << by_file["provenance"].dump(1) << by_flags["provenance"].dump(1);
}

}  // namespace
}  // namespace assay
