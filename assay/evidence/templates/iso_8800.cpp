#include "assay/evidence/templates/entries.h"

namespace assay::evidence {

Template iso_8800_template() {
  return {
      "iso-pas-8800",
      "ISO/PAS 8800",
      "Road vehicles: safety and artificial intelligence (ISO/PAS 8800:2024).",
      {{"7", "AI safety management: responsibilities and decisions", {.parts = {"approvals"}}},
       {"8", "assurance argument and its evidence", {.parts = {"requirements", "argument"}}},
       {"8", "limits of the evidence", {.parts = {"limits", "not done"}}},
       {"9",
        "AI safety requirements, each with what verifies it",
        {.parts = {"requirements", "traceability"}}},
       {"9", "safety-related properties: robustness", {.steps = {"attack", "robust", "bounds"}}},
       {"9", "safety-related properties: generalisation", {.steps = {"reliability"}}},
       {"9",
        "safety-related properties: confidence of outputs",
        {.figures = {"calibration-error", "brier-score"}}},
       {"10", "development measures: training and its options", {.steps = {"train"}}},
       {"10", "architecture of the model", {.parts = {"network card"}}},
       {"11", "data sets: specification and properties", {.parts = {"training data card", "test data card"}}},
       {"11",
        "data sets against the operational domain: completeness and representativeness",
        {.tables = {"domain", "distribution", "domain_combinations"},
         .figures = {"domain-coverage", "domain-shares"}}},
       {"11",
        "independence of test data from training data",
        {.steps = {"cover", "reliability"}, .figures = {"leaked-records"}}},
       {"12", "verification of the model by tests", {.steps = {"evaluate"}}},
       {"12",
        "sufficiency of the tests: structural coverage and seeded faults",
        {.steps = {"cover", "mutate"}}},
       {"12", "validation by operational conditions", {.tables = {"by_characteristic"}}},
       {"13",
        "safety analysis: functional insufficiencies and their causes",
        {.steps = {"explore", "importance", "inspect"}}},
       {"14", "measures during operation: monitoring", {.steps = {"monitor"}}},
       {"15", "confidence in frameworks and tools", {.steps = {"selftest"}, .parts = {"environment"}}}}};
}

}  // namespace assay::evidence
