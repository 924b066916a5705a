#pragma once

// --fail-under, --no-worse-than: conditions on what a command measured (docs/gates.md).

#include <span>
#include <string>
#include <vector>

#include <assay/gate.h>
#include "apps/assay/command.h"

namespace assay::app {

class GateOptions {
 public:
  void declare(CLI::App& app);
  // Throws Error{usage} for a gate that cannot be read, or on a criterion that is not among those that will
  // be `measured` (no names: any); to be called before long work.
  void check(const std::vector<std::string>& measured = {}) const;
  // Evaluates the gates and puts them into the document; the program's exit code follows from them.
  void apply(report::Document& document, std::span<const report::Measurement> measurements) const;

 private:
  std::vector<std::string> fail_under_;
  std::string baseline_;
};

}  // namespace assay::app
