#include "assay/evidence/templates/entries.h"

namespace assay::evidence {

Template nist_template() {
  return {"nist-ai-rmf",
          "NIST AI RMF, MEASURE 2",
          "Evaluation of trustworthy characteristics (NIST AI 100-1, function MEASURE, category 2).",
          {{"2.1",
            "test sets, metrics and tools are documented",
            {.parts = {"test data card", "commands", "environment"}}},
           {"2.3",
            "performance is measured under conditions like those of deployment",
            {.steps = {"evaluate"}, .tables = {"by_characteristic"}}},
           {"2.4", "functionality and behaviour are monitored in production", {.steps = {"monitor"}}},
           {"2.5",
            "validity and reliability, and the limits of generalisation",
            {.steps = {"reliability"}, .parts = {"limits"}}},
           {"2.6",
            "safety risks: robustness and residual risk",
            {.steps = {"attack", "robust", "bounds", "reliability"}}},
           {"2.7", "security and resilience", {.steps = {"attack", "robust", "bounds"}}},
           {"2.9", "the model is explained", {.steps = {"importance", "inspect"}}},
           {"2.10", "privacy risk", {}},
           {"2.11", "fairness and bias", {.tables = {"by_characteristic"}}},
           {"2.12", "environmental impact", {}},
           {"2.13", "effectiveness of the metrics themselves", {.steps = {"audit"}}}}};
}

}  // namespace assay::evidence
