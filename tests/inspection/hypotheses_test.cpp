// Every kind of hypothesis with values worked out by hand, and what it says of files that do not fit.

#include <gmock/gmock.h>

#include <cmath>

#include <assay/error.h>
#include <assay/extend/hypothesis.h>
#include <assay/model.h>
#include "assay/data/files/image.h"
#include "assay/data/files/numpy.h"
#include "assay/inspection/units/behaviour_cache.h"
#include "assay/inspection/units/polygons.h"
#include "assay/support/files/file.h"
#include "tests/inspection/annotated.h"
#include "tests/inspection/folder.h"

namespace assay::inspection {
namespace {

using test::Annotated;
using test::shown;
using testing::AllOf;
using testing::HasSubstr;

// What an annotator of this spec says of texts.
class Said {
 public:
  Said(const std::string& spec, std::vector<std::string> records) : texts_(std::move(records)) {
    try {
      annotator_ = texts_.make(annotator_choice(spec));
      behaviours_ = texts_.all(*annotator_);
    } catch (const Error& error) {
      error_ = error.what();
    }
  }
  std::string operator()(const std::string& name, std::size_t record = 0) const {
    return error_.empty() ? shown(*annotator_, behaviours_, name, record) : error_;
  }
  const std::string& error() const { return error_; }
  const Annotator& annotator() const { return *annotator_; }
  const Behaviours& behaviours() const { return behaviours_; }

 private:
  Annotated texts_;
  std::shared_ptr<const Annotator> annotator_;
  Behaviours behaviours_;
  std::string error_;
};

TEST(Regex, MarksMatchesFromTheLeft) {
  const Said of("regex[pattern=[0-9]+b?,name=number]", {"a12b3", "xx", "b1"});
  EXPECT_EQ(of("number", 0), "01111");
  EXPECT_EQ(of("number", 1), "00...");
  EXPECT_EQ(of("number", 2), "01...");
  EXPECT_EQ(Said("regex[pattern=aa]", {"aaaaa"})("aa"), "11110");
  EXPECT_EQ(Said("regex[pattern=x*]", {"axxa"})("x*"), "0110");
  EXPECT_EQ(Said("regex[pattern=A,case=ignore]", {"aBA"})("A"), "101");
}

TEST(Regex, TakesLinearTimeForHostilePatterns) {
  const std::string text(20000, 'a');
  EXPECT_EQ(Said("regex[pattern=(a*)*$b]", {text})("(a*)*$b"), std::string(20000, '0'));
  EXPECT_EQ(Said("regex[pattern=(a|aa)+c,name=r]", {std::string(2000, 'a')})("r"), std::string(2000, '0'));
  EXPECT_THAT(Said("regex[pattern=((a{1000}){1000}){1000}]", {"a"}).error(),
              HasSubstr("not a regular expression"));
}

TEST(Regex, ReadsNamesAndPatternsFromAFile) {
  const test::TemporaryFolder folder;
  const Said of(folder.file("sql.regex", "string\t'[^']*'\n\nlist\ta, *b\n"), {"'x' a, b"});
  EXPECT_EQ(of("string"), "11100000");
  EXPECT_EQ(of("list"), "00001111");
  EXPECT_THAT(Said(folder.file("bad.regex", "one\n"), {"a"}).error(), HasSubstr("bad.regex, line 1"));
  EXPECT_THAT(Said(folder.file("worse.regex", "one\ta\ntwo\t(\n"), {"a"}).error(),
              HasSubstr("worse.regex, line 2"));
  EXPECT_THAT(Said(folder.file("empty.regex", ""), {"a"}).error(), HasSubstr("no pattern"));
  EXPECT_THAT(Said(folder.file("bytes.regex", "one\t\xff\n"), {"a"}).error(), HasSubstr("not UTF-8"));
  EXPECT_THAT(Said("regex", {"a"}).error(), HasSubstr("needs a pattern"));
}

TEST(Keywords, MarksEachWordAndAny) {
  const Said of("keywords[words=OR+ORDER]", {"OR ORDERS ORDER", "xOR_OR,OR"});
  EXPECT_EQ(of("keywords:OR", 0), "110000000000000");
  EXPECT_EQ(of("keywords:ORDER", 0), "000000000011111");
  EXPECT_EQ(of("keywords", 0), "110000000011111");
  EXPECT_EQ(of("keywords:OR", 1), "000000011......");
  EXPECT_EQ(Said("keywords[words=or,whole=no,case=ignore,name=k]", {"ORDOR"})("k:or"), "11011");
  const test::TemporaryFolder folder;
  EXPECT_EQ(Said("keywords[file=" + folder.file("words", "a\n b \n\n") + "]", {"a b"})("keywords"), "101");
  EXPECT_THAT(Said("keywords", {"a"}).error(), HasSubstr("needs words"));
}

TEST(Keywords, TakesASymbolForAWord) {
  const Annotated texts({"   "});
  const auto annotator = texts.make("keywords[words=SELECT]");
  const Batch batch = texts.dataset()->read(std::vector<std::size_t>{0});
  const std::vector<RecordText> words{{"SELECTnameSELECTED", {0, 6, 10, 18}}};
  EXPECT_EQ(shown(*annotator, annotator->annotate({*texts.dataset(), batch, words}), "keywords"), "100");
}

TEST(Counter, CountsPositionsDelimitersAndBrackets) {
  const Said of("counter[of=position+since+depth,delimiter=space]", {"a b(c(d)) )e", "ab"});
  EXPECT_EQ(of("position"), "0123456789##");
  EXPECT_EQ(of("since"), ".01234567012");
  EXPECT_EQ(of("depth"), "000112221000");
  EXPECT_EQ(of("position", 1), "01..........");
  EXPECT_THAT(Said("counter[of=since]", {"a"}).error(), HasSubstr("needs a delimiter"));
  EXPECT_THAT(Said("counter[of=moon]", {"a"}).error(), HasSubstr("not 'moon'"));
}

TEST(Machine, GivesStatesAfterEachSymbol) {
  const test::TemporaryFolder folder;
  const std::string quotes = folder.file("quotes.fsm",
                                         "# strings\noutside '\"' -> inside\noutside * -> outside\ninside "
                                         "'\"' -> outside\ninside [a-z] | '!' -> inside\n");
  const Said of(quotes, {"a\"b!\"c", "\"B\""});
  EXPECT_EQ(of("state"), "011100");
  EXPECT_EQ(of("state:inside"), "011100");
  EXPECT_EQ(of("state:outside"), "100011");
  EXPECT_EQ(of("state", 1), "1.....");
  EXPECT_EQ(of.annotator().hypotheses()[0].classes, (std::vector<std::string>{"outside", "inside"}));
  EXPECT_THAT(of.annotator().notices(), testing::ElementsAre(HasSubstr("1 of 2 records")));
  EXPECT_THAT(Said(folder.file("a.fsm", "a 'x' b\n"), {"a"}).error(),
              HasSubstr("a.fsm, line 1: there is no ->"));
  EXPECT_THAT(Said(folder.file("b.fsm", "\na -> b\n"), {"a"}).error(),
              HasSubstr("b.fsm, line 2: there is no input"));
  EXPECT_THAT(Said(folder.file("c.fsm", "a 'xy' -> b\n"), {"a"}).error(), HasSubstr("one symbol"));
  EXPECT_THAT(Said(folder.file("d.fsm", "a [x -> b\n"), {"a"}).error(), HasSubstr("line 1"));
  EXPECT_THAT(Said(folder.file("e.fsm", "# nothing\n"), {"a"}).error(), HasSubstr("no transition"));
}

TEST(Columns, FindsNumbersAndClasses) {
  const test::TemporaryFolder folder;
  const std::string csv = folder.file("x.csv", "id,age,colour\n1,2.5,red\n0,,green\n2,4,red\n");
  const Said of("column[file=" + csv + ",column=age+colour,id=id]", {"a", "b", "c"});
  EXPECT_EQ(of.behaviours().positions, Shape{});
  EXPECT_EQ(of("age", 0), ".");
  EXPECT_EQ(of("age", 2), "4");
  EXPECT_EQ(of("colour", 0), "0");
  EXPECT_EQ(of("colour:red", 1), "1");
  EXPECT_EQ(of("colour:green", 1), "0");
  EXPECT_EQ(Said("column[file=" + csv + ",column=age]", {"a", "b", "c"})("age", 1), ".");
  EXPECT_EQ(Said("column[file=" + csv + ",column=id,kind=categorical]", {"a"})("id:1"), "1");
  EXPECT_THAT(Said("column[file=" + csv + ",column=age]", {"a", "b", "c", "d"}).error(),
              HasSubstr("record '3'"));
  EXPECT_THAT(Said("column[file=" + csv + ",column=ago]", {"a"}).error(), HasSubstr("ago"));
  EXPECT_THAT(Said("column[file=" + csv + ",column=colour,kind=numeric]", {"a"}).error(),
              HasSubstr("not numbers"));
  EXPECT_THAT(Said("column[file=" + csv + ",column=age,id=colour]", {"a"}).error(), HasSubstr("two rows"));
  EXPECT_THAT(Said("column[column=a]", {"a"}).error(), HasSubstr("needs a file"));
}

TEST(ArrayValues, TellsKindsFromValues) {
  const test::TemporaryFolder folder;
  const std::string file = (folder.path() / "x.npz").string();
  write_npz(file, {{"bits", Array::of<std::int64_t>({2, 3}, std::vector<std::int64_t>{0, 1, 1, 0, 0, 1})},
                   {"codes", Array::of<std::int64_t>({2}, std::vector<std::int64_t>{2, 0})},
                   {"maps", Array::of<float>({2, 1, 2}, std::vector<float>{1.5F, -1, NAN, 2})}});
  const auto of = [&](const std::string& options) {
    return Said("array[file=" + file + "," + options + "]", {"abc", "de"});
  };
  EXPECT_EQ(of("array=bits")("bits", 0), "011");
  EXPECT_EQ(of("array=bits").annotator().hypotheses()[0].kind, BehaviourKind::binary);
  EXPECT_EQ(of("array=codes")("codes:2", 0), "1");
  EXPECT_EQ(of("array=codes,ignore=2")("codes", 0), ".");
  EXPECT_EQ(of("array=maps").behaviours().positions, (Shape{1, 2}));
  EXPECT_EQ(of("array=maps,name=m")("m", 1), ".2");
  EXPECT_THAT(of("array=none").error(), HasSubstr("it has bits, codes, maps"));
  EXPECT_THAT(of("array=maps,kind=binary").error(), HasSubstr("0 or 1"));
  EXPECT_THAT(Said("array[file=" + file + ",array=codes]", {"a", "b", "c"}).error(), HasSubstr("record '2'"));
}

TEST(Conll, GivesTagsWordByWord) {
  const test::TemporaryFolder folder;
  const std::string file = folder.file(
      "x.conll", "-DOCSTART- -X- O\n\nAnna NNP B-PER\nSmith NNP I-PER\nsings VBZ O\n\nBonn NNP B-LOC\n");
  const Said of("conll[file=" + file + "]", {"ASs", "B"});
  EXPECT_EQ(of("tag:PER", 0), "110");
  EXPECT_EQ(of("tag", 0), "221");
  EXPECT_EQ(of("tag:LOC", 1), "1..");
  const Said parts("conll[file=" + file + ",column=2,name=pos]", {"ASs", "B"});
  EXPECT_EQ(parts("pos:VBZ", 0), "001");
  EXPECT_THAT(Said(file, {"ASsx", "B"}).error(),
              AllOf(HasSubstr("record '0'"), HasSubstr("4 symbols"), HasSubstr("3 words")));
  EXPECT_THAT(Said(file, {"AS", "B"}).error(), HasSubstr("record '0'"));
  EXPECT_THAT(Said(file, {"ASs", "B", "c"}).error(), HasSubstr("record '2'"));
  EXPECT_THAT(Said("conll[file=" + file + ",column=4]", {"a"}).error(), HasSubstr("x.conll, line 3"));
  EXPECT_THAT(Said("conll[file=" + file + ",column=x]", {"a"}).error(), HasSubstr("neither a number"));
  const std::string universal =
      folder.file("x.conllu", "# text = zum\n1-2\tzum\t_\n1\tzu\tADP\n2\tdem\tDET\n\n");
  EXPECT_EQ(Said("conll[file=" + universal + ",column=3]", {"ab"})("tag:DET"), "01");
}

TEST(Polygons, AreFilledByTheEvenOddRule) {
  std::vector<std::uint8_t> mask(16);
  fill_polygon({{0, 0}, {4, 0}, {0, 4}}, 4, 4, mask);  // centres with x + y < 4
  EXPECT_EQ(mask, (std::vector<std::uint8_t>{1, 1, 1, 0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}));
  std::vector<std::uint8_t> twice(4);
  fill_polygon({{0, 0}, {2, 0}, {2, 2}, {0, 2}, {0, 0}, {2, 0}, {2, 2}, {0, 2}}, 2, 2, twice);
  EXPECT_EQ(twice, (std::vector<std::uint8_t>(4, 0)));
  std::vector<std::uint8_t> far(4);
  fill_polygon({{-9, -9}, {1e9, -9}, {1e9, 1}, {-9, 1}}, 2, 2, far);
  EXPECT_EQ(far, (std::vector<std::uint8_t>{1, 1, 0, 0}));
}

TEST(Mask, ReadsIndexPicturesByNameAndNumber) {
  const test::TemporaryFolder folder;
  for (int i = 0; i < 2; ++i) {
    Image image = make_image(2, 1, 1);
    image.pixels = {static_cast<std::uint8_t>(i), 255};
    write_png(folder.path() / fmt::format("m{}.png", i), image);
  }
  const Said of("mask[folder=" + folder.path().string() + ",classes=sky+road,ignore=255]", {"a", "b"});
  EXPECT_EQ(of.behaviours().positions, (Shape{1, 2}));
  EXPECT_EQ(of("mask", 1), "1.");
  EXPECT_EQ(of("mask:road", 1), "1.");
  EXPECT_EQ(of("mask:road", 0), "0.");
  EXPECT_THAT(Said("mask[folder=" + folder.path().string() + ",classes=sky+road]", {"a"}).error(),
              HasSubstr("code 255"));
  EXPECT_THAT(
      Said("mask[folder=" + folder.path().string() + ",classes=a+b,ignore=255]", {"a", "b", "c"}).error(),
      HasSubstr("record '2'"));
  Image large = make_image(3, 1, 1);
  write_png(folder.path() / "m1.png", large);
  EXPECT_THAT(
      Said("mask[folder=" + folder.path().string() + ",classes=sky+road,ignore=255]", {"a", "b"}).error(),
      HasSubstr("record '1'"));
  write_png(folder.path() / "m0.png", make_image(2, 2, 3));
  EXPECT_THAT(Said("mask[folder=" + folder.path().string() + ",classes=sky]", {"a"}).error(),
              HasSubstr("colours"));
  folder.file("m0.png", "no picture");
  EXPECT_THAT(Said("mask[folder=" + folder.path().string() + ",classes=sky]", {"a"}).error(),
              HasSubstr("m0.png"));
}

// Two entries of the palette have one colour; what counts is the index.
TEST(Mask, TakesIndicesIntoPalettes) {
  const std::string bytes(
      "\x89\x50\x4e\x47\x0d\x0a\x1a\x0a\x00\x00\x00\x0d\x49\x48\x44\x52\x00\x00\x00\x03\x00\x00\x00\x01"
      "\x08\x03\x00\x00\x00\x2c\x3e\xe4\x86\x00\x00\x00\x09\x50\x4c\x54\x45\x0a\x14\x1e\x0a\x14\x1e\xc8"
      "\x00\x00\xc2\xdc\x4e\x6c\x00\x00\x00\x0c\x49\x44\x41\x54\x78\x9c\x63\x60\x62\x60\x04\x00\x00\x0b"
      "\x00\x04\x54\x95\xce\x8c\x00\x00\x00\x00\x49\x45\x4e\x44\xae\x42\x60\x82",
      90);
  const test::TemporaryFolder folder;
  folder.file("0.png", bytes);
  const Said of("mask[folder=" + folder.path().string() + ",classes=a+b+c]", {"x"});
  EXPECT_EQ(of("mask"), "201");
}

TEST(Mask, ReadsArrays) {
  const test::TemporaryFolder folder;
  const std::string file = (folder.path() / "x.npz").string();
  write_npz(file, {{"m", Array::of<std::int64_t>({1, 2, 2}, std::vector<std::int64_t>{0, 1, 1, 0})}});
  EXPECT_EQ(Said("mask[file=" + file + ",classes=a+b,name=scene]", {"x"})("scene:b"), "0110");
}

const char* const coco = R"({"images": [{"id": 7, "file_name": "a/0.jpg", "width": 3, "height": 2},
    {"id": 8, "file_name": "1.jpg", "width": 3, "height": 2}],
  "categories": [{"id": 1, "name": "wheel", "supercategory": "part"}, {"id": 4, "name": "car"}],
  "annotations": [{"image_id": 7, "category_id": 1, "segmentation": [[0, 0, 2, 0, 2, 1, 0, 1]]},
    {"image_id": 7, "category_id": 1, "segmentation": [[2, 1, 3, 1, 3, 2, 2, 2]]},
    {"image_id": 7, "category_id": 4, "segmentation": {"size": [2, 3], "counts": [1, 3, 2]}}]})";

TEST(Mask, ReadsPolygonsAndRunLengths) {
  const test::TemporaryFolder folder;
  const std::string file = folder.file("x.json", coco);
  const Said of("mask[file=" + file + "]", {"a", "b"});
  EXPECT_EQ(of("mask:part/wheel", 0), "110001");
  EXPECT_EQ(of("mask:car", 0), "010110");  // down the columns: 0 1 1 1 0 0
  EXPECT_EQ(of("mask:car", 1), "000000");
  EXPECT_EQ(Said("mask[file=" + file + ",unlabelled=dont-care]", {"a", "b"})("mask:part/wheel", 1), "......");
  EXPECT_THAT(Said("mask[file=" + folder.file("bad.json", "{\"images\": 3}") + "]", {"a"}).error(),
              HasSubstr("bad.json"));
  EXPECT_THAT(Said("mask[file=" + folder.file("worse.json", "[[[[") + "]", {"a"}).error(),
              HasSubstr("worse.json"));
  EXPECT_THAT(Said("mask", {"a"}).error(), HasSubstr("needs a folder"));
}

TEST(Program, GivesWhatItsLinesSay) {
  // Commas separate options, so programs that need them are files.
  const test::TemporaryFolder folder;
  const std::string script = folder.file("tagger",
                                         "#!/bin/sh\nwhile read -r line; do case $line in *b*) echo '[1, 0, "
                                         "null]';; *) echo '[0, 0, 0]';; esac; done\n");
  const Said lines("program[command=sh " + script + ",kind=binary,name=b]", {"abc", "de"});
  EXPECT_EQ(lines("b", 0), "10.");
  EXPECT_EQ(lines("b", 1), "000");
  const Said lengths("program[command=awk '{print length}',input=text]", {"abc", "de"});
  EXPECT_EQ(lengths.behaviours().positions, Shape{});
  EXPECT_EQ(lengths("program", 0), "5");  // with its quotes
  EXPECT_EQ(lengths("program", 1), "4");
}

TEST(Program, NamesCrashWrongLengthAndHang) {
  const std::vector<std::string> records{"abc", "de"};
  EXPECT_THAT(Said("program[command=echo 1; echo oops >&2; exit 3]", records).error(),
              AllOf(HasSubstr("record '1'"), HasSubstr("exit code 3"), HasSubstr("oops")));
  EXPECT_THAT(Said("program[command=kill -9 $$]", records).error(),
              AllOf(HasSubstr("record '0'"), HasSubstr("signal 9")));
  EXPECT_THAT(Said("program[command=cat >/dev/null; echo [1];]", records).error(),
              AllOf(HasSubstr("record '0'"), HasSubstr("1 values for 3 symbols")));
  EXPECT_THAT(Said("program[command=cat >/dev/null; echo 1]", records).error(),
              AllOf(HasSubstr("record '1'"), HasSubstr("without an answer")));
  EXPECT_THAT(Said("program[command=cat >/dev/null; echo 1; echo 2; echo 3]", records).error(),
              HasSubstr("more lines"));
  EXPECT_THAT(Said("program[command=echo yes]", records).error(), HasSubstr("not a number"));
  EXPECT_THAT(Said("program[command=echo 1; sleep 1000,timeout=0.05]", records).error(),
              AllOf(HasSubstr("record '1'"), HasSubstr("does nothing")));
  EXPECT_THAT(Said("program[command=exec >&- 2>&-; sleep 1000,timeout=0.05]", records).error(),
              HasSubstr("does nothing"));
  EXPECT_THAT(Said("program[command=/no/such/program]", records).error(), HasSubstr("exit code 127"));
  EXPECT_THAT(Said("program", records).error(), HasSubstr("needs a command"));
  // More than pipes hold, never read.
  EXPECT_THAT(Said("program[command=exec <&-; echo 1]", {std::string(300000, 'x')}).error(),
              testing::IsEmpty());
}

TEST(Program, ChangesItsVersionWithItsFile) {
  const test::TemporaryFolder folder;
  const Annotated texts({"a"});
  const std::string script = folder.file("tagger", "one");
  const std::string before = texts.make("program[command=" + script + "]")->version();
  EXPECT_EQ(texts.make("program[command=" + script + "]")->version(), before);
  EXPECT_NE(texts.make("program[command=" + script + ",version=2]")->version(), before);
  folder.file("tagger", "two");
  EXPECT_NE(texts.make("program[command=" + script + "]")->version(), before);
}

// Specs of every kind that two records of three symbols go with.
std::map<std::string, std::vector<std::string>> specs_of_all(const test::TemporaryFolder& folder) {
  const std::string array = (folder.path() / "a.npz").string();
  write_npz(array, {{"a", Array::of<float>({3, 3}, std::vector<float>(9, 0.25F))}});
  return {{"grammar", {"grammar[file=" + folder.file("g.grammar", "s ::= 'a' s | [b-z]*") + "]"}},
          {"regex", {"regex[pattern=a+]"}},
          {"keywords", {"keywords[words=a+bc]"}},
          {"fsm", {"fsm[file=" + folder.file("m.fsm", "a 'a' -> b\na * -> a\nb * -> a\n") + "]"}},
          {"counter", {"counter[of=position+since+depth,delimiter=a]"}},
          {"column", {"column[file=" + folder.file("c.csv", "x,y\n1,a\n2,b\n3,\n") + ",column=x+y]"}},
          {"array", {"array[file=" + array + "]"}},
          {"conll", {"conll[file=" + folder.file("s.conll", "a X\nb Y\nc X\n\nd Y\ne X\n\na X\n") + "]"}},
          {"mask", {"mask[file=" + folder.file("coco.json", coco) + ",unlabelled=dont-care]"}},
          {"program", {"program[command=awk '{print (length > 4)}']"}}};
}

TEST(EveryHypothesis, IsPureAndKeepsToItsKind) {
  const test::TemporaryFolder folder;
  const auto specs = specs_of_all(folder);
  const Annotated texts({"abc", "de", "a"});
  for (const AnnotatorInfo& info : annotators()) {
    EXPECT_FALSE(info.summary.empty() || info.definition.empty() || info.limits.empty() || info.paper.empty())
        << info.name;
    if (info.name == "label" || info.name == "items" || info.name == "units")
      continue;  // records with labels, another network
    ASSERT_TRUE(specs.contains(info.name)) << info.name;
    for (const std::string& spec : specs.at(info.name)) {
      SCOPED_TRACE(spec);
      const auto annotator = texts.make(annotator_choice(spec));
      const auto again = texts.make(annotator_choice(spec));
      EXPECT_FALSE(annotator->version().empty());
      EXPECT_EQ(annotator->version(), again->version());
      std::vector<std::size_t> records{0, 1, 2};
      if (info.name == "mask") records = {0, 1};
      const Behaviours whole = texts.some(*annotator, records);
      texts.with(records, [&](const RecordBlock& block) { check_behaviours(*annotator, block, whole); });
      const std::size_t width = whole.values.size() / records.size();
      for (const std::size_t record : records) {
        const Behaviours one = texts.some(*again, {record});
        EXPECT_EQ(one.positions, whole.positions);
        ASSERT_EQ(one.values.size(), width);
        for (std::size_t i = 0; i < width; ++i) {
          const float a = one.values[i], b = whole.values[record * width + i];
          EXPECT_TRUE(a == b || (std::isnan(a) && std::isnan(b))) << record << " " << i;
        }
      }
    }
  }
}

TEST(EveryHypothesis, NamesTheFileThatIsNotThere) {
  const Annotated texts({"a"});
  for (const AnnotatorInfo& info : annotators()) {
    for (const SpecOption& option : info.options) {
      if (option.name != "file") continue;
      const std::string spec = info.name + "[file=/no/such/file" +
                               (info.name == "column" ? ",column=a"
                                : info.name == "mask" ? ",classes=a"
                                                      : "") +
                               "]";
      try {
        texts.make(spec);
        ADD_FAILURE() << spec;
      } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("/no/such/file"));
      }
    }
  }
}

}  // namespace
}  // namespace assay::inspection
