#include "assay/text/metaspace.h"

namespace assay::text {

Metaspace::Metaspace(const Settings& settings)
    : letter(settings.character("replacement")), split(settings.flag("split", true)) {
  const std::string scheme = settings.text("prepend_scheme", "always");
  if (scheme == "first")
    prepend = Prepend::first;
  else if (scheme == "never")
    prepend = Prepend::never;
  else if (scheme != "always")
    settings.refuse("'prepend_scheme' is '{}'; there are first, never and always", scheme);
  if (settings.flag("add_prefix_space", true) || prepend == Prepend::never) return;
  if (settings.has("prepend_scheme"))
    settings.refuse("'add_prefix_space' and 'prepend_scheme' contradict each other");
  prepend = Prepend::never;
}

}  // namespace assay::text
