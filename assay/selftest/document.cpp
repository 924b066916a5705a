// The result document of a self-test.

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "assay/report/table_of.h"
#include "assay/selftest/run.h"
#include "assay/support/text/text.h"

namespace assay::selftest {
namespace {

using report::detailed, report::table_of;

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
  struct Counts {
    std::string command, page;
    std::size_t checks = 0, passed = 0;
  };
  std::map<std::pair<std::string, std::string>, Counts> counts;
  for (const Finding& finding : findings) {
    const auto& [command, page] = std::tie(finding.question->command, finding.question->page);
    Counts& of = counts.try_emplace({command, page}, Counts{command, page}).first->second;
    ++of.checks;
    of.passed += finding.passed ? 1 : 0;
  }
  return table_of("functions", "Checks by command and page of the documentation", std::views::values(counts),
                  {{"command", &Counts::command},
                   {"page", &Counts::page},
                   {"checks", &Counts::checks},
                   {"passed", &Counts::passed}});
}

report::Table table_of_checks(const std::vector<Finding>& findings) {
  using report::Column;
  return detailed(table_of("checks", "All checks", findings,
                           {{"question", [](auto& finding) { return finding.question->name; }},
                            {"check", [](auto& finding) { return finding.check->name; }},
                            {"page", [](auto& finding) { return finding.question->page; }},
                            {"expected", 6, [](auto& finding) { return finding.check->expected; }},
                            {"found", 6, &Finding::found},
                            {"tolerance", 9, [](auto& finding) { return finding.check->tolerance; }},
                            {"source", "computed by", [](auto& finding) { return finding.check->source; }},
                            {"passed", &Finding::passed}}));
}

report::Table table_of_functions_traced(const std::vector<Traced>& functions) {
  const auto why_not = [](const Traced& one) {
    return one.checks == 0 && one.why_not.empty() ? "nothing says why" : one.why_not;
  };
  return detailed(table_of("traceability", "Functions and their checks", functions,
                           {{"function", &Traced::function},
                            {"checks", &Traced::checks},
                            {"not_covered", "not covered, because", why_not}}));
}

void add_facts(const Suite& suite, std::size_t checks, std::size_t passed,
               const std::vector<Traced>& functions, report::Document& document) {
  const auto count = [](const char* id, const char* title, auto number) {
    return report::Fact{id, title, report::cell_of(number), report::Column::Kind::count};
  };
  const auto covered = std::ranges::count_if(functions, [](const Traced& one) { return one.checks > 0; });
  std::vector<std::string> programs;
  for (const auto& [name, version] : suite.programs) programs.push_back(name + " " + version);
  document.facts = {count("questions", "questions", suite.cases.size()),
                    count("checks", "checks", checks),
                    count("passed", "passed", passed),
                    count("functions", "functions", functions.size()),
                    count("functions_checked", "functions with checks", covered),
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
