// Names that act: of layers, records, classes, files and everything else that somebody else has named. They
// are shown, and do nothing: not on a terminal, in a log of a CI server, in a spreadsheet, in a page.

#include <assay/dataset.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "assay/data/files/image.h"
#include "assay/support/text/visible.h"
#include "tests/hardness/commands.h"
#include "tests/program/program.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// Clears a screen, names a window, turns the direction of writing, is markup, a formula, a path out of the
// folder, a command to a CI server, and no valid UTF-8.
const std::string clearing = "\x1b[2J\x1b]0;owned\x07\xE2\x80\xAE", markup = "<img src=x onerror=owned>",
                  pictures = "pictures \x1b]0;owned\x07\xE2\x80\xAE" + markup;

// Texts for people, of whatever kind: nothing acts in them, and no line is a command.
void expect_shown_plainly(const std::string& text, const std::string& where, std::string_view kept = "\n") {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(std::string_view(text).substr(i));
    ASSERT_NE(length, 0U) << where << ": no UTF-8 at " << i << " of " << text;
    const std::string c = text.substr(i, length);
    const bool control = length == 1 && (static_cast<unsigned char>(c[0]) < 0x20 || c[0] == 0x7f);
    ASSERT_FALSE(control && kept.find(c) == std::string_view::npos) << where << ": " << visible(text, "\n");
    ASSERT_TRUE(c != "\xE2\x80\xAE" && c != "\xC2\x9B") << where << ": " << visible(text, "\n");
    i += length;
  }
  for (std::size_t begin = 0; begin < text.size() && kept == "\n";) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::size_t first = std::min(text.find_first_not_of(" \"'>-", begin), end);
    ASSERT_FALSE(text.substr(first, end - first).starts_with("::error")) << where << ": " << text;
    begin = end + 1;
  }
}

// But for lines of Markdown that stand for themselves.
void expect_no_markup(std::string text, const std::string& where) {
  for (std::size_t at = text.find("\n    "); where.ends_with(".md") && at != std::string::npos;
       at = text.find("\n    ", at + 1))
    text.erase(at, text.find('\n', at + 1) - at);
  EXPECT_EQ(text.find("<img src=x"), std::string::npos) << where;
  EXPECT_EQ(text.find("<script>owned"), std::string::npos) << where;
}

// The fields of a comma-separated table, as spreadsheets split them.
std::vector<std::string> fields_of(const std::string& table) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (const char c : table) {
    if (c == '"')
      quoted = !quoted;
    else if (!quoted && (c == ',' || c == '\n' || c == '\r'))
      fields.emplace_back();
    else
      fields.back() += c;
  }
  return fields;
}

void expect_no_formula(const std::string& table, const std::string& where) {
  for (const std::string& field : fields_of(table)) {
    if (field.empty() || std::string("=+-@").find(field[0]) == std::string::npos) continue;
    char* end = nullptr;
    static_cast<void>(std::strtod(field.c_str(), &end));
    EXPECT_EQ(*end, '\0') << where << ": " << field;
  }
}

void expect_harmless(const fs::path& file) {
  const std::string kind = file.extension().string(), name = file.string();
  const bool json = kind == ".json" || kind == ".sarif", table = kind == ".csv",
             page = kind == ".html" || kind == ".md" || kind == ".xml";
  if (!json && !table && !page && kind != ".txt") return;
  const std::string text = read_file(file);
  if (json) {
    EXPECT_TRUE(Json::accept(text)) << name;
  } else {
    expect_shown_plainly(text, name, table ? "\r\n" : "\n");
  }
  if (page) expect_no_markup(text, name);
  if (table) expect_no_formula(text, name);
}

// Options with a file or folder as their value, of a command's help.
std::vector<std::string> flags_of_places(const std::string& help) {
  std::vector<std::string> flags;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string flag, type;
    if (!line.starts_with("  ") || !(words >> flag >> type)) continue;
    flag = flag.substr(flag.find(',') + 1);
    const bool place = type.starts_with("FILE") || type.starts_with("FOLDER");
    if (flag.starts_with("--") && place) flags.push_back(flag);
  }
  return flags;
}

class Names : public Program {
 protected:
  // Of the files of a folder, those that the program has made.
  void expect_all_harmless(const fs::path& inputs) const {
    for (auto entry = fs::recursive_directory_iterator(folder); entry != fs::recursive_directory_iterator();
         ++entry) {
      if (entry->path() == inputs) {
        entry.disable_recursion_pending();
        continue;
      }
      expect_shown_plainly(entry->path().filename().string(), "the name of a file", "");
      if (entry->is_regular_file()) expect_harmless(entry->path());
    }
    for (const fs::path& above : {folder.parent_path(), folder.parent_path().parent_path()}) {
      for (const auto& entry : fs::directory_iterator(above))
        EXPECT_EQ(entry.path().filename().string().find("escaped"), std::string::npos) << entry.path();
    }
  }

  void expect_told_plainly(const Outcome& outcome, const std::string& command) const {
    expect_shown_plainly(outcome.out, command);
    expect_shown_plainly(outcome.err, command);
    EXPECT_LT(outcome.code, 70) << command << outcome.err;
  }

  // The network and the records of Program, by other names.
  void write_named_network() const {
    GraphBuilder build("..<script>owned</script>\xE2\x80\xAE");
    std::vector<float> weights;
    for (int i = 0; i < 16; ++i) {
      const float right = i % 4 >= 2 ? 1.0F : -1.0F;
      weights.insert(weights.end(), {-right, right});
    }
    const ValueId in = build.input("=input\xE2\x80\xAE", DType::float32, {-1, 1, 4, 4});
    const ValueId flat = build.add("Flatten", "../../escaped" + markup, {in});
    const ValueId hidden =
        build.add("Gemm", hidden_name, {flat, build.constant("=w,1", Array::of<float>({16, 2}, weights))});
    const ValueId active = build.add("Relu", "@active\xC2\x9B" + std::string("31m"), {hidden});
    build.output(
        build.add("Gemm", "-logits|`*_::error",
                  {active, build.constant("\xEF\xBC\x9D"
                                          "w2",
                                          Array::of<float>({2, 2}, std::vector<float>{1, 0, 0, 1}))}));
    write_onnx(build.build(), folder / "net.onnx");
  }

  void write_named_pictures() const {
    const std::string classes[] = {"=1+1,\"x\";" + clearing + markup, "@SUM(1)\n::error::owned"};
    for (int i = 0; i < 200; ++i) {
      Rng rng(5, {static_cast<std::uint64_t>(i)});
      const bool right = i % 2 == 1;
      Image image = make_image(4, 4, 1);
      for (int p = 0; p < 16; ++p) {
        const bool bright = (p % 4 >= 2) == right;
        image.pixels[static_cast<std::size_t>(p)] =
            static_cast<std::uint8_t>(bright ? 128 + rng.below(128) : rng.below(100));
      }
      const fs::path place = folder / pictures / classes[right != (i % 10 == 0) ? 1 : 0];
      fs::create_directories(place);
      std::ofstream(place / (fmt::format("-{:03}+3\xC2\x9B", i * 37 % 200) + "31m\xff\n.png"))
          << encode_png(image);
    }
  }

  static inline const std::string hidden_name =
      "+hidden\xE2\x80\xAE</script>" + markup + "<script>owned</script>";
};

class NamesInCommands : public Names, public ::testing::WithParamInterface<CommandRun> {};

TEST_P(NamesInCommands, ActOnNothing) {
  const CommandRun& run = GetParam();
  if (run.slow) GTEST_SKIP() << "takes neither network nor data";
  fs::remove_all(folder);
  fs::create_directories(folder);
  write_named_network();
  write_named_pictures();
  for (const std::string& command : run.prepare) {
    const Outcome outcome = assay(command);
    expect_told_plainly(outcome, command);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }
  std::string command = run.name + " " + run.arguments + one_thread(run.name);
  for (const auto& [flag, file] :
       {std::pair("json", "r.json"), std::pair("csv", "tables"), std::pair("html", "all.html"),
        std::pair("markdown", "r.md"), std::pair("junit", "r.xml"), std::pair("sarif", "r.sarif"),
        std::pair("elements", "e.json")}) {
    const bool refused = (run.name == "report" && flag == std::string("html")) ||  // it has --out
                         (run.name != "mutate" && flag == std::string("elements"));
    if (!refused && command.find(std::string("--") + flag + " ") == std::string::npos)
      command += std::string(" --") + flag + " " + file;
  }
  const Outcome outcome = assay(command);
  expect_told_plainly(outcome, command);
  // A manifest cannot hold names that are no UTF-8: their files are not those that it lists.
  ASSERT_EQ(outcome.code, run.name == "verify" ? 2 : 0) << outcome.out << outcome.err;
  expect_all_harmless(folder / pictures);
  if (run.name == "model") {
    EXPECT_NE(Json::parse(read_file(folder / "r.json")).dump().find(Json(hidden_name).dump()),
              std::string::npos)
        << "exact in JSON";
  }
}

INSTANTIATE_TEST_SUITE_P(Commands, NamesInCommands, ::testing::ValuesIn(command_runs(pictures)),
                         [](const auto& run) { return run.param.name + run.param.variant; });

// What readers refuse is said as plainly.
TEST_F(Names, OfANetworkThatIsRefused) {
  const std::string network = read_file(folder / "net.onnx"),
                    acting[] = {"\x1b[2J", "\xE2\x80\xAE", "\n::e", "\xff<b>"};
  std::size_t turn = 0;
  for (const std::string name : {"input", "Flatten", "flatten", "Gemm", "hidden", "Relu", "logits", "w1"}) {
    const std::string& by = acting[turn++ % std::size(acting)];
    std::string other = network;
    for (std::size_t at = other.find(name); at != std::string::npos; at = other.find(name, at + 1))
      other.replace(at, std::min(name.size(), by.size()), by.substr(0, name.size()));
    write_file(folder / "other.onnx", other);
    expect_told_plainly(assay("model other.onnx"), name);
  }
}

// Ids are lines of files that are read again.
TEST_F(Names, OfRecordsAreOneLineEach) {
  write_named_pictures();
  ASSERT_EQ(
      assay("select --model net.onnx --test '" + pictures + "' --by entropy --size 9 --out ids.txt").code, 0);
  const std::string ids = read_file(folder / "ids.txt");
  expect_shown_plainly(ids, "ids");
  EXPECT_EQ(std::ranges::count(ids, '\n'), 9);
  const Outcome found = assay("polluted --data '" + pictures + "' --findings '" + pictures +
                              "[:20]' --window-size 3 --truth ids.txt --json r.json");
  EXPECT_EQ(found.code, 0) << found.err;
  EXPECT_EQ(Json::parse(read_file(folder / "r.json"))["facts"]["polluted"], 9);
}

// Files that are not there, or are something else, by every flag that names one.
TEST_F(Names, OfFilesInMessages) {
  const std::string name = clearing + "\n::error::owned" + markup;
  write_file(folder / (name + ".npz"), "nothing");
  write_file(folder / (name + ".onnx"), "nothing");
  write_file(folder / (name + ".json"), "{}");
  write_file(folder / (name + ".toml"), "model = [\n");
  const std::string there = "'" + name, missing = "'missing" + name;
  for (const std::string& file : {there, missing}) {
    for (const std::string& command : std::vector<std::string>{
             "model " + file + ".onnx'",
             "data " + file + ".npz'",
             "data " + file + "'",
             "data images-idx3-ubyte,labels=" + file + "'",
             "data images-idx3-ubyte," + file + "=1'",
             "evaluate --model net.onnx --data images-idx3-ubyte --config " + file + ".toml'",
             "evaluate --model net.onnx --data images-idx3-ubyte --json " + file + "/r.json'",
             "report " + file + ".json'",
             "report " + file + ".npz'",
             "open " + file + ".json'",
             "open " + file + "'",
             "verify " + file + "'",
             "combine " + file + ".json'",
             "inspect --db " + file + ".json' 'SELECT 1'",
             "inspect --db a.db --add " + file + ".json' 'SELECT 1'",
             "inspect --sql-file " + file + "'",
             "inspect --model net.onnx --data images-idx3-ubyte --hypotheses " + file + "'",
             "criteria --plugin " + file + "'",
             file + "'",
             "data '--" + file.substr(1) + "'",
             "cover --model net.onnx --train images-idx3-ubyte --test images-idx3-ubyte --criterion " + file +
                 "'",
             "cover --model net.onnx --train images-idx3-ubyte --test images-idx3-ubyte --criterion nc "
             "--layer " +
                 file + "'",
             "cover --model net.onnx --train images-idx3-ubyte --test images-idx3-ubyte --criterion nc "
             "--context " +
                 file + "' --state s.cov --by-class",
             "mutate --model net.onnx --test images-idx3-ubyte --mutant " + file + "'",
             "attack net.onnx images-idx3-ubyte --attack " + file + "'",
             "evaluate --model net.onnx --data images-idx3-ubyte --fail-under " + file + "=1'"}) {
      expect_told_plainly(assay(command), command);
    }
  }
}

// Keys, tables and values of a configuration file.
TEST_F(Names, InAConfigurationFile) {
  const std::string name = "\\u001b[2J\\u202E\\n::error::owned" + markup;
  for (const std::string& text :
       {"\"" + name + "\" = 1\n", "[\"" + name + "\"]\na = 1\n", "[data]\n\"" + name + "\" = true\n",
        "memory = \"" + name + "\"\n", "engine = \"" + name + "\"\n", "[data]\ndata = \"" + name + "\"\n",
        std::string("a = \x1b[2J\n"), "# " + clearing + "\nquiet = \"" + name + "\"\n"}) {
    write_file(folder / "assay.toml", text);
    const Outcome outcome = assay("data images-idx3-ubyte");
    expect_told_plainly(outcome, text);
  }
}

// A study that somebody else has written: its titles, steps, requirements and what it leaves open.
TEST_F(Names, InAnEvidencePack) {
  const std::string name = "\\u001b[2J\\u202E\\n::error::owned" + markup + "<script>owned</script>",
                    study = "model = \"net.onnx\"\n[evidence]\ntitle = \"=" + name +
                            "\"\ntrain = \"images-idx3-ubyte[:100]\"\ntest = \"images-idx3-ubyte[100:]\"\n"
                            "not-done = [\"@" +
                            name + "\"]\n[[evidence.step]]\ncommand = \"evaluate\"\n";
  write_file(folder / "study.toml",
             study + "[[evidence.step]]\ncommand = \"cover\"\ncriterion = \"nc\"\ncontext = \"" + name +
                 "\"\n[[evidence.requirement]]\nid = \"+" + name + "\"\ntext = \"" + name +
                 "\"\ngates = [\"accuracy=0.3\"]\n");
  const Outcome made = assay(
      "evidence --config study.toml --out pack --json r.json --csv tables --junit r.xml --markdown r.md");
  expect_told_plainly(made, "evidence");
  ASSERT_EQ(made.code, 0) << made.err;
  expect_told_plainly(assay("verify pack --rerun all --csv verified"), "verify");
  expect_all_harmless(folder / "pack" / "study.toml");
  for (const std::string& other :
       {"[[evidence.step]]\nname = \"../../escaped" + name + "\"\ncommand = \"evaluate\"\n",
        "[[evidence.step]]\nname = \"a\"\ncommand = \"" + name + "\"\n",
        "[[evidence.step]]\nname = \"a\"\nresult = \"" + name + "\"\n",
        "[[evidence.requirement]]\nid = \"" + name + "\"\ntext = \"\"\ngates = [\"" + name + "\"]\n",
        "[[evidence.requirement]]\nid = \"" + name + "\"\ntext = \"\"\ngates = [\"accuracy=1\"]\nstep = \"" +
            name + "\"\n"}) {
    write_file(folder / "study.toml", study + other);
    const Outcome refused = assay("evidence --config study.toml --out other");
    expect_told_plainly(refused, other);
    EXPECT_NE(refused.code, 0) << other;
  }
}

// A pack that somebody else has made runs nothing but what measures, and writes nowhere.
TEST_F(Names, OfStepsAndFlagsInAPackOfOthers) {
  ASSERT_EQ(
      assay("evidence --model net.onnx --train images-idx3-ubyte --test images-idx3-ubyte --out pack --quiet")
          .code,
      0);
  const Json pack = Json::parse(read_file(folder / "pack" / "manifest.json"));
  const auto verified = [&](const Json& step) {
    Json other = pack;
    other["steps"] = Json::array({step});
    write_file(folder / "pack" / "manifest.json", other.dump());
    const Outcome outcome = assay("verify pack --rerun all --from .");
    expect_told_plainly(outcome, step.dump());
    return outcome;
  };
  const std::string file = "results/evaluate.json";
  const Json evaluate = {"evaluate", "--model=net.onnx", "--data=images-idx3-ubyte"};
  EXPECT_EQ(
      verified({{"name", "evaluate"}, {"file", file}, {"command", evaluate}}).out.find("GATE FAILED: step"),
      std::string::npos);
  EXPECT_NE(verified({{"name", "../escaped"}, {"file", file}, {"command", evaluate}}).code, 0);
  EXPECT_NE(verified({{"name", "a"}, {"file", "../escaped"}, {"command", evaluate}}).code, 0);
  // Whatever option of theirs takes a file or folder is an input, or refused.
  const std::set<std::string> inputs{"--domain", "--model", "--profile", "--no-worse-than"};
  for (const char* command : {"model", "data", "evaluate", "importance", "cover", "mutate", "select"}) {
    Json typed = {command, "--model=net.onnx"};
    for (const std::string& flag : flags_of_places(assay(std::string(command) + " --help-all").out)) {
      if (!inputs.contains(flag)) typed.push_back(flag + "=escaped");
    }
    const Outcome outcome = verified({{"name", "a"}, {"file", file}, {"command", typed}});
    EXPECT_EQ(outcome.code, 5) << command;
    for (std::size_t i = 2; i < typed.size(); ++i) {
      const std::string flag = typed[i].get<std::string>();
      EXPECT_NE(outcome.err.find(flag.substr(0, flag.find('=')) + ","), std::string::npos)
          << command << " " << flag << ": " << outcome.err;
    }
  }
  EXPECT_NE(verified({{"name", "a"}, {"file", file}, {"command", {"mutate", "--trainer=touch escaped"}}})
                .out.find("is not run again"),
            std::string::npos);
  EXPECT_EQ(
      verified({{"name", "a"}, {"file", file}, {"command", {"cover", "--train=d", "--profile=escaped"}}})
          .code,
      5);
  expect_all_harmless(folder / "pack" / "manifest.json");
}

// A result document of others, in which every key and every text acts.
TEST_F(Names, InAResultOfOthers) {
  ASSERT_EQ(assay("cover --model net.onnx --train images-idx3-ubyte --test images-idx3-ubyte --criterion "
                  "kmnc --quiet "
                  "--fail-under kmnc=0 --json r.json")
                .code,
            0);
  const std::string name = "=" + clearing + "\n::error::owned" + markup;
  const auto renamed = [&](Json document, const std::string& part) {
    Json& value = document[Json::json_pointer(part)];
    if (value.is_string()) {
      value = name;
    } else if (value.is_object()) {
      Json other = Json::object();
      for (auto& [key, item] : value.items()) other[key + name] = item;
      value = other;
    } else if (value.is_array()) {
      value.push_back(name);
    }
    return document;
  };
  const Json document = Json::parse(read_file(folder / "r.json"));
  std::vector<std::string> parts;
  const Json flat = document.flatten();
  for (const auto& [key, value] : flat.items()) {
    for (std::string part = key; !part.empty(); part.resize(part.rfind('/'))) {
      if (std::ranges::find(parts, part) == parts.end() && part.find("/rows/1") == std::string::npos)
        parts.push_back(part);
    }
  }
  // All texts at once, then parts that make another result, or one that is refused.
  Json all = document;
  for (const std::string& part : parts) {
    if (all[Json::json_pointer(part)].is_string() && !part.ends_with("/kind") && part != "/schema")
      all = renamed(all, part);
  }
  std::vector<Json> documents{all};
  for (const std::string& part :
       {std::string("/facts"), std::string("/provenance"), std::string("/tables"), std::string("/notices"),
        std::string("/schema"), std::string("/command"), std::string("/gates/0/criterion")})
    documents.push_back(renamed(document, part));
  Json both = renamed(renamed(document, "/facts"), "/fact_columns");
  documents.push_back(both);
  documents.push_back(renamed(both, "/tables"));
  for (const Json& other : documents) {
    write_file(folder / "other.json", other.dump());
    for (const char* command :
         {"report other.json --out page.html --csv tables --markdown r.md --json report.json",
          "inspect --db o.db --add other.json --csv answer --markdown a.md --junit a.xml --html a.html "
          "\"SELECT * FROM document_tables\"",
          "evaluate --model net.onnx --data images-idx3-ubyte --no-worse-than other.json"})
      expect_told_plainly(assay(command), command + other.dump().substr(0, 200));
    expect_all_harmless(folder / "other.json");
    fs::remove(folder / "o.db");
  }
}

// Columns, tables and texts of a question in SQL.
TEST_F(Names, InAnswersOfQuestions) {
  const std::string
      name = "=" + clearing + "\n::error::owned" + markup,
      given =
          "inspect --model net.onnx --data images-idx3-ubyte --hypotheses label --db s.db --csv answer "
          "--markdown a.md --junit a.xml --html a.html --json a.json --sarif a.sarif ";
  int answered = 0;
  for (const std::string& query :
       {"SELECT 1 AS \"" + name + "\", '" + name + "' AS b",
        "CREATE TABLE \"" + name + "\" AS SELECT 1 AS a; SELECT * FROM \"" + name + "\"",
        "SELECT * FROM \"no" + name + "\"", "SELEKT " + name,
        "SELECT S.uid AS \"" + name + "\" INSPECT U.uid AND H.h USING \"" + name +
            "\" OVER D.seq AS S FROM units U, hypotheses H, "
            "inputs D",
        "SELECT S.uid AS \"" + name +
            "\", S.unit_score INSPECT U.uid AND H.h USING corr OVER D.seq AS S FROM units U, "
            "hypotheses H, inputs D"}) {
    write_file(folder / "query.sql", query);
    const Outcome outcome = assay(given + "--sql-file query.sql");
    expect_told_plainly(outcome, query);
    answered += outcome.code == 0;
    expect_all_harmless(folder / "query.sql");
  }
  EXPECT_EQ(answered, 3);
  // A hypothesis by a pattern, and one of a database of others.
  expect_told_plainly(assay("inspect --model net.onnx --data images-idx3-ubyte --hypotheses 'regex[pattern=" +
                            clearing + "]'"),
                      "regex");
}

}  // namespace
}  // namespace assay
