#pragma once

// --fail-under, --no-worse-than: conditions on what a command measured (docs/gates.md).

#include "apps/frame/command.h"
#include "assay/report/conditions.h"

namespace assay::frame {

class GateOptions {
 public:
  void declare(Flags& flags);
  // Throws Error{usage} for flags about an earlier result where none is named.
  const report::Conditions& conditions() const;

 private:
  report::Conditions conditions_;
};

}  // namespace assay::frame
