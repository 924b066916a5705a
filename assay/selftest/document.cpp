// The result document of a self-test.

#include <algorithm>
#include <map>
#include <utility>

#include "assay/selftest/run.h"
#include "assay/support/text/text.h"

namespace assay::selftest {
namespace {

using report::Column;
using report::count_cell;

// The family of a function with a star: "attack:*" of "attack:pgd".
std::string family_of(const std::string& function) {
  return function.substr(0, function.find(':') + 1) + "*";
}

report::Gate gate_of(const Finding& finding) {
  report::Gate gate;
  gate.text = finding.question->name + ": " + finding.check->name;
  gate.criterion = finding.question->command;
  gate.threshold = "1";
  if (finding.passed) gate.value = 1;  // the reason alone tells why one has failed
  gate.passed = finding.passed;
  gate.reason = finding.reason;
  return gate;
}

report::Table table_of_functions(const std::vector<Finding>& findings) {
  report::Table table{"functions",
                      "Checks by command and page of the documentation",
                      {{"command", "command"},
                       {"page", "page"},
                       {"checks", "checks", Column::Kind::count},
                       {"passed", "passed", Column::Kind::count}},
                      {}};
  std::map<std::pair<std::string, std::string>, std::pair<std::size_t, std::size_t>> counts;
  for (const Finding& finding : findings) {
    auto& [checks, passed] = counts[{finding.question->command, finding.question->page}];
    ++checks;
    passed += finding.passed ? 1 : 0;
  }
  for (const auto& [key, count] : counts)
    table.rows.push_back({key.first, key.second, count_cell(count.first), count_cell(count.second)});
  return table;
}

report::Table table_of_checks(const std::vector<Finding>& findings) {
  report::Table table{"checks",
                      "All checks",
                      {{"question", "question"},
                       {"check", "check"},
                       {"page", "page"},
                       {"expected", "expected", Column::Kind::number, 6},
                       {"found", "found", Column::Kind::number, 6},
                       {"tolerance", "tolerance", Column::Kind::number, 9},
                       {"source", "computed by"},
                       {"passed", "passed"}},
                      {},
                      true};
  for (const Finding& finding : findings) {
    const Check& check = *finding.check;
    table.rows.push_back({finding.question->name, check.name, finding.question->page, check.expected,
                          finding.found, check.tolerance, check.source, finding.passed});
  }
  return table;
}

report::Table table_of_functions_traced(const std::vector<Traced>& functions) {
  report::Table table{"traceability",
                      "Functions and their checks",
                      {{"function", "function"},
                       {"checks", "checks", Column::Kind::count},
                       {"not_covered", "not covered, because"}},
                      {},
                      true};
  for (const Traced& one : functions)
    table.rows.push_back({one.function, count_cell(one.checks),
                          one.checks == 0 && one.why_not.empty() ? "nothing says why" : one.why_not});
  return table;
}

void add_facts(const Suite& suite, std::size_t checks, std::size_t passed,
               const std::vector<Traced>& functions, report::Document& document) {
  const auto covered = std::ranges::count_if(functions, [](const Traced& one) { return one.checks > 0; });
  std::vector<std::string> programs;
  for (const auto& [name, version] : suite.programs) programs.push_back(name + " " + version);
  document.facts = {
      {"questions", "questions", count_cell(suite.cases.size()), Column::Kind::count},
      {"checks", "checks", count_cell(checks), Column::Kind::count},
      {"passed", "passed", count_cell(passed), Column::Kind::count},
      {"functions", "functions", count_cell(functions.size()), Column::Kind::count},
      {"functions_checked", "functions with checks", static_cast<std::int64_t>(covered), Column::Kind::count},
      {"computed_by", "expected values by", joined(programs)}};
}

}  // namespace

std::vector<Traced> traced(const Suite& suite, const std::vector<std::string>& functions) {
  std::map<std::string, std::size_t> checks;
  for (const Case& question : suite.cases) {
    for (const Check& check : question.checks) {
      for (const std::string& function : check.functions) ++checks[function];
    }
  }
  std::vector<Traced> all;
  for (const std::string& function : functions) {
    Traced one{function, checks[function], ""};
    const auto why = suite.not_covered.find(function);
    const auto others = suite.not_covered.find(family_of(function));
    if (one.checks == 0 && why != suite.not_covered.end())
      one.why_not = why->second;
    else if (one.checks == 0 && others != suite.not_covered.end())
      one.why_not = others->second;
    all.push_back(std::move(one));
  }
  return all;
}

report::Document document_of(const Suite& suite, const std::vector<Finding>& findings,
                             const std::vector<Traced>& functions) {
  report::Document document;
  std::size_t passed = 0;
  for (const Finding& finding : findings) {
    document.gates.push_back(gate_of(finding));
    passed += finding.passed ? 1 : 0;
  }
  document.headline =
      passed == findings.size()
          ? fmt::format("all {} checks passed: this installation computes what other programs do", passed)
          : fmt::format("{} of {} checks failed: do not rely on this installation", findings.size() - passed,
                        findings.size());
  add_facts(suite, findings.size(), passed, functions, document);
  document.tables = {table_of_functions(findings), table_of_checks(findings),
                     table_of_functions_traced(functions)};
  document.definitions = {
      {"check",
       "a figure of an answer differs from the value that another program computed by at most the tolerance; "
       "texts are equal; a refusal has the expected words",
       "docs/qualification.md"}};
  return document;
}

}  // namespace assay::selftest
