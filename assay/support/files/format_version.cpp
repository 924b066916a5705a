#include "assay/support/files/format_version.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace assay::inline support {

std::string other_format(const nlohmann::json& found, int known) {
  if (found == known) return "";
  if (!found.is_number_integer()) return "it does not name the version of its format; make it anew";
  const bool newer = found > known;
  return fmt::format(
      "its format has version {}, this program reads {}; {}", found.dump(), known,
      newer ? "use a newer Assay, or make it anew" : "make it anew, or use the Assay that wrote it");
}

}  // namespace assay::inline support
