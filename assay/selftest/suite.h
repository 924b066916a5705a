#pragma once

// Checks whose expected values other programs computed: files, questions, and the figures that the answers
// must hold (docs/qualification.md). scripts/selftest/make_suite.py makes suite.json, which is part of the
// program.

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <assay/report.h>

namespace assay::selftest {

// Where a result document has a figure.
struct Position {
  std::string table;                                     // empty: a fact
  std::vector<std::pair<std::string, std::string>> row;  // values of columns that select the row
  std::string column;  // of the table, or the fact; empty: how many rows there are
};

struct Check {
  std::string name;
  std::vector<std::string> functions;  // what it tests: "command:cover", "criterion:nc"
  Position position;
  report::Cell expected;  // text, number or truth value
  double tolerance = 0;   // greatest difference of numbers
  std::string source;     // the program that computed it
};

// One question to the program. "$/" in values is the folder with the suite's files.
struct Case {
  std::string name, page, command;
  std::vector<std::pair<std::string, std::vector<std::string>>> flags;
  bool refused = false;  // it must end with an error, whose message has the expected texts in it
  std::vector<Check> checks;
};

struct Suite {
  std::vector<std::pair<std::string, std::string>> programs;  // that computed expected values, with versions
  std::map<std::string, std::string> files;                   // name to bytes
  std::vector<Case> cases;
  std::map<std::string, std::string>
      not_covered;  // functions without checks, and why; "attack:*": the others
};

// Throws Error{data} for a text that is not a suite; `name` for the message.
Suite read_suite(std::string_view json, const std::string& name);

// The text of the suite that the program has.
std::string_view built_in_suite();

}  // namespace assay::selftest
