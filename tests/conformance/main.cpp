// test_conformance DATA LISTS [--all] [ENGINE...]: runs every case below the folder DATA. Fails when a case
// gives a wrong answer or ends in anything but an Error; when one is refused that the file LISTS/refused.txt
// does not list; and when one passes that it lists, since the list only shrinks. LISTS/disputed.txt holds
// cases whose expected output contradicts the text of the standard; they must run. --all prints what becomes
// of each case. Engines are the fast ones together and the reference, unless others are named; exit code 77
// says that the module of `torch` is not there.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "assay/engine/torch/backend.h"
#include "cases.h"
#include "processes.h"

namespace assay::conformance {
namespace {

constexpr std::string_view names[] = {"passed", "WRONG", "refused", "BROKEN"};

// "CASE: reason" a line; lines that begin with # explain.
std::map<std::string, std::string> read_list(const std::filesystem::path& file) {
  std::map<std::string, std::string> list;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t colon = line.find(": ");
    const bool reasoned = colon != std::string::npos && colon + 2 < line.size();
    list[line.substr(0, colon)] = reasoned ? line.substr(colon + 2) : "";
  }
  return list;
}

struct Totals {
  int all = 0, passed = 0, refused = 0, disputed = 0;
};

int run(const char* data, const std::filesystem::path& lists, const std::vector<std::string>& engines,
        bool verbose) {
  const auto refused = read_list(lists / "refused.txt"), disputed = read_list(lists / "disputed.txt");
  int failures = 0;
  const auto complain = [&](const std::string& text) {
    ++failures;
    fmt::print("FAILED {}\n", text);
  };
  for (const auto* list : {&refused, &disputed}) {
    for (const auto& [name, reason] : *list) {
      if (reason.empty()) complain(fmt::format("{} is listed without a reason", name));
    }
  }
  std::map<std::string, Totals> suites;
  for (const Case& test : find_cases(data)) {
    const Result result = in_own_process([&] { return run_case(test, engines); });
    const bool listed = refused.contains(test.name);
    if (verbose) fmt::print("{} {}: {}\n", names[static_cast<int>(result.outcome)], test.name, result.text);
    Totals& totals = suites[test.name.substr(0, test.name.find('/'))];
    ++totals.all;
    totals.passed += result.outcome == Outcome::passed ? 1 : 0;
    totals.refused += result.outcome == Outcome::refused ? 1 : 0;
    if (disputed.contains(test.name) &&
        (result.outcome == Outcome::wrong || result.outcome == Outcome::passed)) {
      totals.disputed += result.outcome == Outcome::wrong ? 1 : 0;
      continue;
    }
    if (result.outcome == Outcome::passed && listed)
      complain(fmt::format("{} passes now: take it off the list", test.name));
    if (result.outcome == Outcome::refused && !listed)
      complain(fmt::format("{} is refused: {}", test.name, result.text));
    if (result.outcome == Outcome::wrong || result.outcome == Outcome::broken) {
      complain(fmt::format("{} is {}: {}", test.name, names[static_cast<int>(result.outcome)], result.text));
    }
    std::fflush(stdout);
  }
  if (suites.empty()) complain(fmt::format("{} has no cases", data));
  for (const auto& [suite, totals] : suites) {
    fmt::print("{}: {} of {} cases pass, {} are refused, {} differ where the data are disputed\n", suite,
               totals.passed, totals.all, totals.refused, totals.disputed);
  }
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace assay::conformance

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: test_conformance DATA LISTS [--all] [ENGINE...]\n", stderr);
    return 2;
  }
  std::vector<std::string> engines(argv + 3, argv + argc);
  const bool verbose = std::erase(engines, "--all") > 0;
  if (std::ranges::count(engines, "torch") > 0) {
    if (!assay::has_torch_module()) {
      std::puts("skipped: libassay_torch.so is neither here nor named by ASSAY_TORCH_MODULE");
      return 77;
    }
    assay::torch_backend("cpu");  // loaded once, not by the process of every case
  }
  if (engines.empty()) engines = {"auto", "reference"};
  return assay::conformance::run(argv[1], argv[2], engines, verbose);
}
