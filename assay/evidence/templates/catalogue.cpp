#include "assay/evidence/templates/entries.h"

namespace assay::evidence {

Catalogue<Template>& templates() {
  static Catalogue<Template> all(
      {"template", "docs/evidence.md explains them"},
      {eu_ai_act_template(), iso_8800_template(), iso_26262_template(), sotif_template(), easa_template(),
       aspice_template(), fda_template(), amlas_template(), nist_template()});
  return all;
}

}  // namespace assay::evidence
