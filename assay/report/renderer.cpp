#include <assay/report.h>

#include <algorithm>

namespace assay::report {

bool Renderer::tells_of(const Document& document) const {
  return table.empty() || std::ranges::find(document.tables, table, &Table::id) != document.tables.end();
}

Catalogue<Renderer>& renderers() {
  static Catalogue<Renderer> all(
      {"renderer"},
      {{"html", ".html", "result as a page that opens in any browser",
        [](const Document& document) { return to_html(document); }},
       {"junit", ".xml", "gates as JUnit XML for CI servers", to_junit},
       {"sarif", ".sarif", "failed gates and warnings as SARIF 2.1.0 for code scanning", to_sarif},
       {"markdown", ".md", "result as Markdown for a pull request comment", to_markdown},
       {"csv", "", "tables as CSV, one a file", {}, to_csv_files},
       {"elements",
        ".json",
        "mutants as mutation-testing-elements JSON for its viewers",
        to_elements,
        {},
        "mutants"}});
  return all;
}

}  // namespace assay::report
