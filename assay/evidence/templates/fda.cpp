#include "assay/evidence/templates/entries.h"

namespace assay::evidence {

Template fda_template() {
  return {
      "fda",
      "FDA, AI-enabled device software functions",
      "Lifecycle management and marketing submission recommendations (FDA, draft guidance of January 2025).",
      {{"VI", "device description: inputs, outputs, intended users", {}},
       {"VIII",
        "data management: source, size and characteristics of development data",
        {.parts = {"training data card"}}},
       {"VIII",
        "data management: source, size and characteristics of test data",
        {.parts = {"test data card"}}},
       {"VIII", "independence of test data from development data", {.figures = {"leaked-records"}}},
       {"VIII", "reference standard: how truth was determined", {}},
       {"VIII",
        "representativeness of the intended population",
        {.tables = {"distribution", "domain"}, .figures = {"domain-shares", "domain-coverage", "shift"}}},
       {"IX", "model description: architecture, parameters", {.parts = {"network card"}}},
       {"IX", "model development: training, tuning, calibration", {.steps = {"train"}}},
       {"X",
        "performance validation with confidence intervals",
        {.steps = {"evaluate"}, .parts = {"intervals"}}},
       {"X", "subgroup analyses", {.tables = {"by_characteristic"}}},
       {"X", "repeatability and reproducibility", {.figures = {"seed-deviation", "seed-disagreement"}}},
       {"X", "uncertainty of outputs", {.figures = {"calibration-error", "brier-score"}}},
       {"X", "pre-specified acceptance criteria", {.parts = {"requirements"}}},
       {"X", "human factors and usability validation", {}},
       {"XI", "performance monitoring after deployment", {.steps = {"monitor"}}},
       {"XII",
        "cybersecurity: manipulated inputs and model evasion",
        {.steps = {"attack", "robust", "bounds"}}},
       {"XIII", "public submission summary: performance and limits", {.parts = {"limits", "not done"}}},
       {"PCCP", "impact assessment of a modification", {.parts = {"change impact"}}}}};
}

}  // namespace assay::evidence
