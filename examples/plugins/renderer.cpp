// A custom form of results: headline and facts as lines of a text file (--facts FILE).
#include <assay/extend/plugin.h>
#include <assay/report.h>

namespace {

using namespace assay::report;

std::string facts(const Document& document) {
  std::string text = document.headline + "\n";
  for (const Fact& fact : document.facts)
    text += fact.title + ": " + shown(fact.value, fact.kind, fact.decimals) + "\n";
  return text;
}

void enter() { renderers().add({"facts", ".txt", "headline and facts as plain text", facts}); }

}  // namespace

ASSAY_PLUGIN("facts", enter)
