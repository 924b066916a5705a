#include "assay/evidence/templates/entries.h"

namespace assay::evidence {
namespace {

const char *const scoping = "Safety assurance scoping", *const safety = "Safety requirements assurance",
                  *const data = "Data management assurance", *const learning = "Model learning assurance",
                  *const verification = "Model verification assurance",
                  *const deployment = "Model deployment assurance";

}  // namespace

Template amlas_template() {
  return {
      "amlas",
      "AMLAS",
      "Assurance of machine learning for use in autonomous systems (Hawkins et al., University of York, "
      "2021), as an argument in GSN.",
      {{"[A]", "system safety requirements", {}, scoping},
       {"[B]",
        "description of the operating environment",
        {.figures = {"domain-coverage", "domain-outside"}},
        scoping},
       {"[D]", "description of the ML component", {.parts = {"network card"}}, scoping},
       {"[E]", "safety requirements allocated to the ML component", {.parts = {"requirements"}}, scoping},
       {"[H]", "ML safety requirements: performance and robustness", {.parts = {"requirements"}}, safety},
       {"[J]", "validation of the ML safety requirements", {.parts = {"approvals"}}, safety},
       {"[L]", "data requirements", {}, data},
       {"[N]", "development data", {.parts = {"training data card"}}, data},
       {"[P]", "verification data", {.parts = {"test data card"}}, data},
       {"[Q]", "data generation log", {}, data},
       {"[S]",
        "validation of the data: relevance, completeness, balance, accuracy",
        {.tables = {"domain", "distribution"},
         .figures = {"domain-coverage", "domain-shares", "leaked-records"}},
        data},
       {"[U]", "model development log", {.steps = {"train"}}, learning},
       {"[V]", "ML model", {.parts = {"network hash"}}, learning},
       {"[X]", "internal test results", {.steps = {"train", "retrain"}}, learning},
       {"[Z]", "verification results by tests", {.steps = {"evaluate"}}, verification},
       {"[Z]", "verification results: robustness", {.steps = {"attack", "robust", "bounds"}}, verification},
       {"[Z]", "sufficiency of the verification data", {.steps = {"cover", "mutate"}}, verification},
       {"[AA]", "verification log", {.parts = {"commands"}}, verification},
       {"[DD]",
        "erroneous behaviour log: inputs and outputs that are monitored",
        {.steps = {"monitor"}},
        deployment},
       {"[EE]", "operational scenarios", {}, deployment},
       {"[FF]", "integration test results", {}, deployment}}};
}

}  // namespace assay::evidence
