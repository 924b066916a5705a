#include "assay/evidence/templates/entries.h"

namespace assay::evidence {

Template easa_template() {
  return {
      "easa",
      "EASA Concept Paper, level 1 and 2 machine learning",
      "Guidance for level 1 and 2 machine learning applications (EASA Concept Paper, issue 02, 2024).",
      {{"DM-01",
        "parameters of the operational design domain",
        {.figures = {"domain-coverage", "domain-outside"}}},
       {"DM-02", "data quality requirements", {.parts = {"training data card"}}},
       {"DM-04", "annotated data are right", {}},
       {"DM-06",
        "data in training, validation and test sets, independent of each other",
        {.figures = {"leaked-records"}, .parts = {"training data card", "test data card"}}},
       {"DM-07",
        "verification of the data: completeness and representativeness",
        {.tables = {"domain", "distribution"}, .figures = {"domain-coverage", "domain-shares", "shift"}}},
       {"LM-01", "description of the architecture", {.parts = {"network card"}}},
       {"LM-02", "requirements of the learning process", {.parts = {"requirements"}}},
       {"LM-04",
        "quantifiable generalisation bounds",
        {.steps = {"reliability"}, .figures = {"failure-probability"}}},
       {"LM-05", "results of the training", {.steps = {"train"}}},
       {"LM-06", "optimisations of the model that may change its behaviour", {.steps = {"diff"}}},
       {"LM-07",
        "bias-variance trade-off over training seeds",
        {.figures = {"seed-deviation", "seed-accuracy"}}},
       {"LM-09", "performance on the test set", {.steps = {"evaluate"}}},
       {"LM-10",
        "requirements-based verification of the trained model",
        {.parts = {"requirements", "traceability"}}},
       {"LM-11",
        "stability of the learning algorithm",
        {.figures = {"seed-deviation", "seed-disagreement", "seed-accuracy"}}},
       {"LM-12",
        "stability of the trained model over the operational domain",
        {.steps = {"robust", "bounds"}, .tables = {"by_characteristic"}}},
       {"LM-13", "robustness in adverse conditions", {.steps = {"attack", "robust"}}},
       {"LM-14", "generalisation bounds verified with the test set", {.figures = {"failure-probability"}}},
       {"LM-16", "verification is complete: what was not done", {.parts = {"not done", "approvals"}}},
       {"EXP-04",
        "degree of reliability of outputs: calibration",
        {.figures = {"calibration-error", "brier-score"}}},
       {"EXP-05", "monitoring of inputs against the operational domain", {.steps = {"monitor"}}},
       {"EXP-06", "explanation of outputs", {.steps = {"importance", "inspect"}}},
       {"CM-01",
        "configuration management: identified network, data and tools",
        {.parts = {"network hash", "environment", "bill of materials"}}}}};
}

}  // namespace assay::evidence
