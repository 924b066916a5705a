// A result of one's own as a page that opens in any browser, with a gate that a build can fail on.
#include <assay/gate.h>
#include <assay/report.h>

#include <fstream>
#include <iostream>

int main() {
  using namespace assay;
  const std::vector<report::Measurement> measured{
      {.criterion = "lines", .covered = "3", .coverable = "4", .value = 0.75}};
  report::Document document{.command = "night shift", .headline = "Three of four lines are covered"};
  document.facts.push_back({"records", "records", report::count_cell(120), report::Column::Kind::count});
  document.tables.push_back(report::criteria_table(measured));
  document.gates.push_back(report::evaluate(report::parse_gate("lines=70%"), measured));
  std::ofstream("report.html") << report::to_html(document);
  report::print(document, std::cout, {});
  std::cout << (report::any_failed(document) ? "failed\n" : "passed\n");
}
