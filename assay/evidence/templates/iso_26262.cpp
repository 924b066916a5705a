#include "assay/evidence/templates/entries.h"

namespace assay::evidence {

Template iso_26262_template() {
  return {
      "iso-26262-tool",
      "ISO 26262-8, clause 11",
      "Confidence in the use of software tools: this program as the tool (ISO 26262-8:2018).",
      {{"11.4.4.1 a)", "identification and version of the tool", {.parts = {"environment"}}},
       {"11.4.4.1 b)", "configuration of the tool", {.parts = {"commands"}}},
       {"11.4.4.1 c)", "use cases of the tool: the steps of this study", {.parts = {"commands"}}},
       {"11.4.4.1 d)", "environment in which the tool ran", {.parts = {"environment", "machine"}}},
       {"11.4.4.1 e)", "maximum ASIL of the requirements that the tool could violate", {}},
       {"11.4.4.1 f)", "methods by which the tool is qualified", {}},
       {"11.4.4.2", "correct use: description, known malfunctions and their workarounds", {}},
       {"11.4.5", "evaluation by analysis: impact, detection of errors, confidence level", {}},
       {"11.4.7", "increased confidence from use", {}},
       {"11.4.8", "evaluation of the tool's development process", {}},
       {"11.4.9", "validation of the tool by a suite with known results", {.steps = {"selftest"}}},
       {"11.4.9", "reaction to anomalous conditions: warnings that were looked for", {.parts = {"warnings"}}},
       {"11.4.10", "confirmation review of the qualification", {.parts = {"approvals", "signature"}}}}};
}

}  // namespace assay::evidence
