#include <assay/extend/catalogue.h>

#include "assay/support/text/text.h"

namespace assay::inline support {

void fail_unknown(const CatalogueWords& words, std::string_view name, const std::vector<std::string>& names) {
  fail(Fault::usage, "no {} is named '{}'{}; there {} {}{}", words.one, name, did_you_mean(name, names),
       names.size() == 1 ? "is" : "are", joined(names),
       words.explained.empty() ? "" : " (" + words.explained + ")");
}

}  // namespace assay::inline support
