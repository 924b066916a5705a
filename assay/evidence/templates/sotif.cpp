#include "assay/evidence/templates/entries.h"

namespace assay::evidence {

Template sotif_template() {
  return {"iso-21448",
          "ISO 21448 (SOTIF)",
          "Safety of the intended functionality (ISO 21448:2022).",
          {{"7",
            "functional insufficiencies and triggering conditions",
            {.steps = {"attack", "explore", "robust"}, .tables = {"confusions"}}},
           {"9",
            "verification and validation strategy: requirements and what decides them",
            {.parts = {"requirements"}}},
           {"10", "known scenarios: performance by condition", {.tables = {"by_characteristic", "contexts"}}},
           {"10", "known scenarios: what tests do not exercise", {.steps = {"cover", "mutate"}}},
           {"11", "unknown scenarios: search for new failures", {.steps = {"explore", "attack"}}},
           {"11",
            "residual risk: bound on the probability of failure",
            {.steps = {"reliability"}, .figures = {"failure-probability"}}},
           {"12", "release: decision of the responsible persons", {.parts = {"approvals"}}},
           {"13", "operation: monitoring of the field", {.steps = {"monitor"}}}}};
}

}  // namespace assay::evidence
