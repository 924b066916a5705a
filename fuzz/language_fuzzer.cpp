// What people write as a language: queries with INSPECT, and grammars of hypotheses with texts that may be
// theirs. The first byte chooses; a zero byte ends the grammar. Anything but an Error is a defect, and so is
// a parse that does not lie in its text.

#include <cstdint>
#include <cstdlib>
#include <iostream>

#include <assay/error.h>
#include "assay/inspection/symbols/earley.h"
#include "assay/inspection/symbols/text.h"
#include "assay/workbench/query/inspect_clause.h"
#include "seeds.h"

namespace {

using namespace assay;

std::vector<std::string> seeds() {
  const auto grammar = [](const std::string& rules, const std::string& text) {
    return "g" + rules + std::string(1, '\0') + text;
  };
  return {
      "qSELECT M.epoch, S.uid INSPECT U.uid AND H.h USING corr[top=3] OVER D.seq AS S FROM models M, units "
      "U, "
      "hypotheses H, inputs D WHERE M.mid = U.mid AND H.name = 'a' GROUP BY M.epoch HAVING S.unit_score > "
      "0.8",
      "qWITH t AS (SELECT 1) SELECT * FROM (SELECT S.uid INSPECT U.uid AND H.h OVER D.seq AS S FROM units U "
      "LEFT "
      "JOIN hypotheses H ON H.h = \"x\" ORDER BY 1) -- end",
      grammar("query ::= \"SELECT \" columns \" FROM \" name (\" WHERE \" test)? \";\" /* a comment */\n"
              "columns ::= name (\",\" name)*\nname ::= [a-z_]+\ntest ::= name [<=>] [^']+ | <word> #x41",
              "SELECT a,b FROM c WHERE a=2;"),
      grammar("s ::= s s | \"a\" | \"\"", "aaaa"), grammar("s ::= \"(\" s \")\" s | ", "(()())((")};
}

void require(bool holds, const char* what) {
  if (holds) return;
  std::cerr << what << "\n";
  std::abort();
}

void read_query(const std::string& text) {
  const workbench::SqlText sql(text);
  const auto found = workbench::first_inspect(sql);
  if (!found) return;
  require(found->whole.first <= found->keyword && found->keyword < found->whole.last,
          "INSPECT is in its SELECT");
  for (const workbench::TokenRange range : found->conditions) {
    for (const workbench::TokenRange part : workbench::conjuncts(sql, range))
      require(part.first >= range.first && part.last <= range.last, "a condition is in its own");
  }
}

void read_grammar(const std::string& rules, const std::string& bytes) {
  const inspection::Grammar grammar = inspection::parse_grammar(rules, "fuzz.ebnf");
  const inspection::Characters characters = inspection::characters_of(bytes);
  const std::size_t size = characters.codes.size();
  if (size == 0) return;
  const inspection::EarleyParser parser(grammar, 20'000);
  const inspection::GrammarText text{characters.codes, std::vector<std::string_view>(size),
                                     std::vector<std::size_t>(size)};
  using Match = inspection::EarleyParser::Match;
  for (const Match match : {Match::whole, Match::fragment, Match::substrings}) {
    const auto outcome = parser.parse(text, match);
    if (!outcome.parse) continue;
    for (const inspection::ParseNode& node : outcome.parse->nodes) {
      require(node.nonterminal < grammar.nonterminals.size() &&
                  !grammar.nonterminals[node.nonterminal].name.empty(),
              "a node has a name of the grammar");
      require(node.begin <= node.end && node.end <= size, "a node lies in the text");
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  fuzz::write_seeds_if_asked(seeds());
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    if (data[0] == 'q') {
      read_query(text);
    } else {
      const std::size_t end = std::min(text.find('\0'), text.size());
      read_grammar(text.substr(0, end), end < text.size() ? text.substr(end + 1) : "");
    }
  } catch (const Error&) {
  }
  return 0;
}
