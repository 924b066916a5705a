#include "apps/assay/version.h"

#include <fmt/format.h>

#include <assay/extend/question.h>

namespace assay::app {
std::string version_text() {
  std::string text;
  for (const auto& [name, version] : component_versions()) {
    text += text.empty() ? fmt::format("{} {} (commit {})", name, version, commit())
                         : fmt::format("\n{} {}", name, version);
  }
  return text;
}

}  // namespace assay::app
