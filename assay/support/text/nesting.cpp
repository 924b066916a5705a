#include "assay/support/text/nesting.h"

#include <algorithm>

namespace assay::inline support {

int nesting_of_json(std::string_view text) {
  int depth = 0, most = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && quoted) ++i;
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '{' || c == '[') most = std::max(most, ++depth);
    if (c == '}' || c == ']') --depth;
  }
  return most;
}

}  // namespace assay::inline support
