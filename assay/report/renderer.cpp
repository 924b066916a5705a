#include <assay/report.h>

namespace assay::report {
Catalogue<Renderer>& renderers() {
  static Catalogue<Renderer> all(
      {"renderer"},
      {{"html", ".html", "result as a page that opens in any browser",
        [](const Document& document) { return to_html(document); }},
       {"junit", ".xml", "gates as JUnit XML for CI servers", to_junit},
       {"sarif", ".sarif", "failed gates as SARIF 2.1.0 for code scanning", to_sarif},
       {"markdown", ".md", "result as Markdown for a pull request comment", to_markdown},
       {"csv", ".csv", "all tables as CSV", [](const Document& document) { return to_csv(document); }},
       {"elements", ".json", "mutants as mutation-testing-elements JSON for its viewers", to_elements}});
  return all;
}

}  // namespace assay::report
