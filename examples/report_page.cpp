// A result as a page that opens in any browser, with a gate that a build can fail on.
#include <assay/results.h>
#include <assay/training.h>

#include <fstream>
#include <iostream>

int main() {
  using namespace assay;
  const Session session(training::initialise(training::architectures().find("lenet5").build(), "keras", 1));
  const std::vector<coverage::CriterionChoice> criteria{"nbc", "kmnc[sections=10]"};
  const auto learned =
      coverage::learn_profile(session, open_dataset("digits:100"), {.criteria = criteria}, silence());
  coverage::CoverageState state(std::make_shared<coverage::Profile>(learned.profile), criteria, false);
  coverage::measure(session, state, open_dataset("digits:50,seed=2"), {}, silence());
  report::Document document = results::document_of(state, "lenet5 on digits");
  document.gates.push_back(report::evaluate(report::parse_gate("kmnc=1%"), results::measurements_of(state)));
  std::ofstream("report.html") << report::to_html(document);
  report::print(document, std::cout, {});
  std::cout << (report::any_failed(document) ? "failed\n" : "passed\n");
}
