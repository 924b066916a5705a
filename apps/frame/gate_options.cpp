#include "apps/frame/gate_options.h"

#include "apps/frame/wording.h"

namespace assay::frame {

void GateOptions::declare(Flags& flags) {
  flags
      .add_list("--fail-under GATE,...", conditions_.gates,
                "end with exit code 2 unless this figure is reached, such as 'idc[m=6]=0.35', "
                "'kmnc[layer=*]=60%' or 'warnings<=0'; may be repeated")
      ->group("Gates");
  flags.naming(Concept::document)
      .add("--no-worse-than FILE.json", conditions_.baseline,
           "end with exit code 2 if any figure is worse than in an earlier --json result")
      ->group("Gates");
  flags
      .add("--worse-by FLOAT", conditions_.ratchet.tolerance,
           "how much worse than the earlier result a figure may be")
      ->group("Gates");
  flags
      .add_list(
          "--compare NAME,...", conditions_.ratchet.only,
          "compare only these figures with the earlier result, such as 'kmnc[layer=*]'; may be repeated")
      ->group("Gates");
  flags
      .add("--any-baseline", conditions_.any_baseline,
           "also compare with a result of another network or other data")
      ->group("Gates");
}

const report::Conditions& GateOptions::conditions() const {
  const report::Ratchet& ratchet = conditions_.ratchet;
  if (conditions_.baseline.empty() &&
      (ratchet.tolerance != "0" || !ratchet.only.empty() || conditions_.any_baseline))
    refuse(
        "--worse-by, --compare and --any-baseline are about an earlier result; name it with --no-worse-than "
        "FILE.json");
  return conditions_;
}

}  // namespace assay::frame
