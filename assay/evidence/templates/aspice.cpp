#include "assay/evidence/templates/entries.h"

namespace assay::evidence {

Template aspice_template() {
  return {"aspice-mle4",
          "Automotive SPICE MLE.4",
          "Machine learning model testing (Automotive SPICE 4.0, process MLE.4).",
          {{"BP1",
            "test approach: characteristics, expected results, pass and fail criteria",
            {.parts = {"requirements", "commands"}}},
           {"BP1",
            "distribution and frequency of data characteristics in the tests",
            {.tables = {"distribution", "domain"}, .figures = {"domain-coverage", "domain-shares", "shift"}}},
           {"BP2",
            "test data set, apart from training and validation data",
            {.figures = {"leaked-records"}, .parts = {"test data card"}}},
           {"BP3", "trained model tested", {.steps = {"evaluate"}}},
           {"BP3", "figures by data characteristic", {.tables = {"by_characteristic"}}},
           {"BP3", "robustness of the trained model", {.steps = {"attack", "robust", "bounds"}}},
           {"BP4", "deployed model derived from the trained one", {.steps = {"diff"}}},
           {"BP5", "deployed model tested and held against the trained one", {.steps = {"diff"}}},
           {"BP6",
            "consistency and traceability from requirements to results and back",
            {.parts = {"requirements", "traceability"}}},
           {"BP7", "results summarised and communicated", {.parts = {"approvals"}}}}};
}

}  // namespace assay::evidence
