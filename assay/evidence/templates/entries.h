#pragma once

#include "assay/evidence/templates/template.h"

namespace assay::evidence {

Template amlas_template();
Template aspice_template();
Template easa_template();
Template eu_ai_act_template();
Template fda_template();
Template iso_26262_template();
Template iso_8800_template();
Template nist_template();
Template sotif_template();

}  // namespace assay::evidence
