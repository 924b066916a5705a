#include "assay/inspection/symbols/grammar.h"

#include <gmock/gmock.h>

#include <assay/error.h>
#include <assay/extend/hypothesis.h>
#include "tests/inspection/annotated.h"
#include "tests/inspection/folder.h"

namespace assay::inspection {
namespace {

using test::Annotated;
using test::shown;

std::string refusal_of(const std::string& text) {
  try {
    parse_grammar(text, "g");
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ReadGrammar, NamesLineAndColumnOfWhatIsWrong) {
  EXPECT_THAT(refusal_of(""), testing::StartsWith("g:1:1: there is no rule"));
  EXPECT_THAT(refusal_of("a ::= b"), testing::StartsWith("g:1:7: 'b' is not defined"));
  EXPECT_THAT(refusal_of("query ::= 'x'\n\nb ::= quary"),
              testing::HasSubstr("g:3:7: 'quary' is not defined; did you mean 'query'?"));
  EXPECT_THAT(refusal_of("a ::= 'x'\n  a ::= 'y'"), testing::StartsWith("g:2:3: 'a' is defined twice"));
  EXPECT_THAT(refusal_of("a ::= 'x"), testing::StartsWith("g:1:7: this text has no end"));
  EXPECT_THAT(refusal_of("a ::= [x"), testing::StartsWith("g:1:7: this class has no end"));
  EXPECT_THAT(refusal_of("a ::= [z-a]"), testing::StartsWith("g:1:7: a range"));
  EXPECT_THAT(refusal_of("a ::= ('x'"), testing::StartsWith("g:1:7: this bracket"));
  EXPECT_THAT(refusal_of("a ::= 'x')"), testing::StartsWith("g:1:10: ')'"));
  EXPECT_THAT(refusal_of("a ::= #xFFFFFFF"), testing::StartsWith("g:1:7: a character"));
  EXPECT_THAT(refusal_of("a ::= <x"), testing::StartsWith("g:1:7: this symbol"));
  EXPECT_THAT(refusal_of("a ::= /* "), testing::StartsWith("g:1:7: this comment"));
  EXPECT_THAT(refusal_of("a = 'x'"), testing::StartsWith("g:1:3: 'a' is followed by ::="));
  EXPECT_THAT(refusal_of("a ::= 'x' | a 'y'\nb ::= b 'x'"), testing::StartsWith("g:2:1: 'b' never ends"));
  EXPECT_THAT(refusal_of("a ::= '\xff'"), testing::HasSubstr("not UTF-8"));
  EXPECT_THAT(refusal_of("a ::= " + std::string(5000, '(')), testing::HasSubstr("nested more than"));
  std::string huge = "a ::= '";
  huge.append(100'000, 'x').append("'");
  EXPECT_THAT(refusal_of(huge), testing::HasSubstr("more than 50000 symbols"));
}

TEST(ReadGrammar, FindsWhatCanBeEmptyAndWhatContainsItself) {
  const Grammar grammar = parse_grammar("s ::= '(' s ')' s | ''\nn ::= [0-9]+ t?\nt ::= n", "g", "n");
  EXPECT_TRUE(grammar.nonterminals[0].nullable);
  EXPECT_TRUE(grammar.nonterminals[0].recursive);
  EXPECT_FALSE(grammar.nonterminals[0].reachable);
  EXPECT_FALSE(grammar.nonterminals[grammar.start].nullable);
  EXPECT_TRUE(grammar.nonterminals[grammar.start].recursive);
}

// What a grammar says of texts, hypothesis by hypothesis.
struct Parsed {
  std::shared_ptr<const Annotator> annotator;
  Behaviours behaviours;
  std::string operator()(const std::string& name, std::size_t record = 0) const {
    return shown(*annotator, behaviours, name, record);
  }
};
Parsed parsed(const std::string& grammar, const std::vector<std::string>& records,
              const std::string& options = "") {
  const test::TemporaryFolder folder;
  const Annotated texts(records);
  const auto annotator = texts.make("grammar[file=" + folder.file("g.grammar", grammar) + options + "]");
  return {annotator, texts.all(*annotator)};
}

const char* const brackets = "s ::= ('(' s ')')*";

TEST(Grammar, GivesTimeSignalAndDepth) {
  const Parsed of = parsed(brackets, {"(()())()"}, ",match=whole");
  EXPECT_EQ(of("s:time"), "11111111");
  // Spans of s: all of it, 1 to 5 inside of the first pair; those without symbols cover nothing.
  EXPECT_EQ(of("s:signal"), "11001001");
  EXPECT_EQ(of("s:depth"), "12222111");
}

TEST(Grammar, LeavesOutWhatDoesNotParseAndSaysSo) {
  const Parsed of = parsed("a ::= 'x' a | 'y'", {"xxy", "xyx", "zzz"}, ",match=whole");
  EXPECT_EQ(of("a:time", 0), "111");
  EXPECT_EQ(of("a:depth", 0), "123");
  EXPECT_EQ(of("a:time", 1), "...");
  EXPECT_THAT(of.annotator->notices(),
              testing::ElementsAre(testing::HasSubstr("2 of 3 records do not parse")));
}

// A probe, another query and a table of behaviours ask the same annotator again.
TEST(Grammar, CountsARecordOnceHoweverOftenItIsAsked) {
  const test::TemporaryFolder folder;
  const Annotated texts({"y", "z", "x"});
  const auto annotator =
      texts.make("grammar[file=" + folder.file("g.grammar", "a ::= 'y'") + ",match=whole]");
  texts.some(*annotator, {1});
  EXPECT_THAT(annotator->notices(), testing::ElementsAre(testing::HasSubstr("1 of 1 records do not parse")));
  texts.all(*annotator);
  texts.some(*annotator, {2, 0});
  EXPECT_THAT(annotator->notices(), testing::ElementsAre(testing::HasSubstr("2 of 3 records do not parse")));
}

TEST(Grammar, TakesTheSimplestParseAndSaysThatThereAreOthers) {
  // As a word it is one node, letter by letter more; the first alternative of equals.
  const Parsed of = parsed("t ::= word | letters\nword ::= 'ab'\nletters ::= letter+\nletter ::= [a-z]",
                           {"ab", "ba"}, ",match=whole");
  EXPECT_EQ(of("word:time", 0), "11");
  EXPECT_EQ(of("letter:time", 0), "00");
  EXPECT_EQ(of("letters:time", 1), "11");
  EXPECT_THAT(of.annotator->notices(),
              testing::ElementsAre(testing::HasSubstr("1 of 2 records have several parses")));
  const Parsed equal = parsed("t ::= b | a\na ::= 'x'\nb ::= 'x'", {"x"});
  EXPECT_EQ(equal("b:time"), "1");
  EXPECT_EQ(equal("a:time"), "0");
  // The last part as long as possible.
  const Parsed split = parsed("t ::= a b\na ::= 'x'*\nb ::= 'x'*", {"xxx"}, ",match=whole");
  EXPECT_EQ(split("b:time"), "111");
  EXPECT_EQ(split("a:time"), "000");
}

TEST(Grammar, TakesLeftRecursionCyclesAndEmptyRules) {
  const Parsed sum = parsed("e ::= e '+' t | t\nt ::= [0-9] | '(' e ')'", {"1+(2+3)"}, ",match=whole");
  EXPECT_EQ(sum("e:depth"), "2113221");
  EXPECT_EQ(sum("t:depth"), "1012121");
  const Parsed cycle = parsed("a ::= b | 'x'\nb ::= a", {"x"}, ",match=whole");
  EXPECT_EQ(cycle("a:time"), "1");
  EXPECT_EQ(cycle("b:time"), "0");
  EXPECT_THAT(cycle.annotator->notices(), testing::Contains(testing::HasSubstr("several parses")));
  const Parsed empty = parsed("s ::= (a? b?)*\na ::= 'x'?\nb ::= 'y'*", {"xyyx"}, ",match=whole");
  EXPECT_EQ(empty("a:time"), "1001");
  EXPECT_EQ(empty("b:time"), "0110");
}

const char* const queries = R"(script ::= (query #xA)+
query ::= "SELECT " columns (" WHERE " test)? ";" | "DELETE" where ";"
where ::= " WHERE " test
columns ::= name (", " name)*
test ::= name " = " number
name ::= [a-z]+
number ::= [0-9]+
)";

TEST(Grammar, ParsesWhatWasCutOutOfALongerText) {
  const Parsed of = parsed(queries, {"CT ab WHERE x = 12;\nSEL", "RE cd = 1", "e = 34;\nDEL", "SELECT a;\n",
                                     "SELECT ab,", "zz = zz"});
  EXPECT_EQ(of("name:time", 0).substr(0, 22), "0001100000001000000000");
  EXPECT_EQ(of("number:time", 0).substr(0, 22), "0000000000000000110000");
  EXPECT_EQ(of("query:time", 0), "11111111111111111110111");
  EXPECT_EQ(of("query:signal", 0), "00000000000000000010100");
  EXPECT_EQ(of("script:time", 0), "11111111111111111111111");
  // The test is around the name of the second record for certain, and so is a query; which, cannot be told.
  EXPECT_EQ(of("test:time", 1).substr(0, 9), "000111111");
  EXPECT_EQ(of("script:time", 1).substr(0, 9), "111111111");
  EXPECT_EQ(of("query:time", 1).substr(0, 9), "111111111");
  EXPECT_EQ(of("test:signal", 1).substr(0, 9), "000100000");
  EXPECT_EQ(of("columns:time", 1).substr(0, 9), "000000000");
  // Nor can it be told whether the clause of the third one is one of a DELETE.
  EXPECT_EQ(of("test:time", 2).substr(0, 6), "111111");
  EXPECT_EQ(of("test:signal", 2).substr(0, 6), "000001");
  EXPECT_EQ(of("query:time", 2).substr(0, 11), "11111110111");
  EXPECT_EQ(of("script:signal", 3).substr(0, 10), "1000000001");
  EXPECT_EQ(of("columns:time", 4).substr(0, 10), "0000000111");
  EXPECT_EQ(of("name:signal", 4).substr(0, 10), "0000000110");
  EXPECT_EQ(of("name:time", 5), ".......................");
}

TEST(Grammar, DoesNotPretendToKnowWhatWasCutOff) {
  const Parsed of = parsed("s ::= a | b\na ::= '<' n '>'\nb ::= '[' n ']' s?\nn ::= [0-9]+", {"123"});
  EXPECT_EQ(of("s:time"), "111");
  EXPECT_EQ(of("a:time"), "...");
  EXPECT_EQ(of("b:time"), "...");
  EXPECT_EQ(of("n:time"), "111");
}

TEST(Grammar, DoesNotChooseBetweenReadingsThatOnlyTheCutPartTells) {
  const char* const source =
      "s ::= (a | b)+\na ::= '<' n '>' w?\nb ::= '[' n '>' w? | 'q'\nn ::= [0-9]+\nw ::= '!'+\n";
  const Parsed of = parsed(source, {"12>!!q", "2>!", "<2>!q", "!!"});
  EXPECT_EQ(of("n:time", 0), "110000");
  EXPECT_EQ(of("w:time", 0), "000110");
  EXPECT_EQ(of("a:time", 0), ".....0");
  EXPECT_EQ(of("b:time", 0), ".....1");
  EXPECT_EQ(of("b:signal", 0), "0000.1");
  EXPECT_EQ(of("s:time", 0), "111111");
  EXPECT_EQ(of("a:time", 1), "......");
  EXPECT_EQ(of("a:time", 2), "11110.");
  EXPECT_EQ(of("b:time", 2), "00001.");
  EXPECT_EQ(of("w:time", 3), "11....");
  EXPECT_EQ(of("a:time", 3), "......");
  EXPECT_EQ(of("s:time", 3), "11....");
}

TEST(Grammar, FindsTextsInOthers) {
  const Parsed of =
      parsed("date ::= year '-' [0-9]+\nyear ::= [0-9]+", {"on 12-3, 4-56 or 7-"}, ",match=substrings");
  EXPECT_EQ(of("date:time"), "0001111001111000000");
  EXPECT_EQ(of("date:signal"), "0001001001001000000");
  EXPECT_EQ(of("year:time"), "0001100001000000000");
}

TEST(Grammar, TakesPaddingAndSymbolsOfSeveralCharacters) {
  const test::TemporaryFolder folder;
  const Annotated texts({"    "});
  const auto annotator =
      texts.make("grammar[file=" +
                 folder.file("g.grammar", "s ::= verb noun+\nverb ::= <go>\nnoun ::= 'h\xc3\xb6me' | <up>") +
                 ",match=whole]");
  const Batch batch = texts.dataset()->read(std::vector<std::size_t>{0});
  const std::vector<RecordText> records{{"goh\xc3\xb6meup", {0, 2, 5, 7, 9}}};
  EXPECT_EQ(shown(*annotator, annotator->annotate({*texts.dataset(), batch, records}), "noun:signal"),
            "0111");
  // A token is a whole symbol.
  const std::vector<RecordText> split{{"goup", {0, 1, 2, 4, 4}}};
  EXPECT_EQ(shown(*annotator, annotator->annotate({*texts.dataset(), batch, split}), "noun:time"), "....");
  const std::vector<RecordText> padded{{"goup", {0, 2, 4, 4, 4}}};
  EXPECT_EQ(shown(*annotator, annotator->annotate({*texts.dataset(), batch, padded}), "noun:time"), "01..");
}

TEST(Grammar, BoundsWhatOneRecordTakes) {
  const Parsed of = parsed("s ::= s s | 'a'", {std::string(60, 'a')}, ",match=whole,items=500");
  EXPECT_EQ(of("s:time"), std::string(60, '.'));
  EXPECT_THAT(of.annotator->notices(), testing::ElementsAre(testing::HasSubstr("more than 500 chart items")));
}

TEST(Grammar, BringsChosenNonTerminalsUnderOtherNames) {
  const Parsed of = parsed("s ::= a+\na ::= 'x'\nunused ::= 'y'", {"xx"}, ",of=a+unused,name=g.");
  ASSERT_EQ(of.annotator->hypotheses().size(), 2U);
  EXPECT_EQ(of("g.a:signal"), "11");
  EXPECT_THAT(of.annotator->notices(), testing::ElementsAre(testing::HasSubstr("does not lead to 'unused'")));
  EXPECT_THROW(parsed("s ::= 'a'", {"a"}, ",of=t"), Error);
  EXPECT_THROW(parsed("s ::= 'a'", {"a"}, ",start=t"), Error);
  EXPECT_THROW(parsed("s ::= 'a'", {"a"}, ",match=sideways"), Error);
}

TEST(Grammar, NeedsAFileAndText) {
  const Annotated texts({"a"});
  EXPECT_THROW(texts.make("grammar"), Error);
  EXPECT_THROW(texts.make("missing.grammar"), Error);
  const test::TemporaryFolder folder;
  const auto annotator = texts.make(annotator_choice(folder.file("x.grammar", "s ::= 'a'")));
  const Batch batch = texts.dataset()->read(std::vector<std::size_t>{0});
  EXPECT_THROW(annotator->annotate({*texts.dataset(), batch, {}}), Error);
}

}  // namespace
}  // namespace assay::inspection
