#include "assay/report/renderer.h"

#include "assay/report/html.h"

#include <array>

namespace assay {
namespace {

constexpr std::array<Renderer, 6> catalogue = {{
    {"html", ".html", "result as a page that opens in any browser", to_html},
    {"junit", ".xml", "gates as JUnit XML for CI servers", to_junit},
    {"sarif", ".sarif", "failed gates as SARIF 2.1.0 for code scanning", to_sarif},
    {"markdown", ".md", "result as Markdown for a pull request comment", to_markdown},
    {"csv", ".csv", "all tables as CSV", to_csv},
    {"elements", ".json", "mutants as mutation-testing-elements JSON for its viewers", to_elements},
}};

}  // namespace

std::span<const Renderer> renderers() { return catalogue; }

}  // namespace assay
