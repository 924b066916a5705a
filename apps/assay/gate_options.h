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
  // be `measured` (no names: any), and for a baseline that cannot be read; to be called first of all.
  void check(const std::vector<std::string>& measured = {}) const;
  // Throws Error{usage} for a gate that no figure of such a run could pass, naming what there will be; to be
  // called as soon as criteria and layers are known, before long work.
  void check(std::span<const report::Measurement> measured) const;
  // Throws Error{mismatch} when the baseline is of another network or other data and --any-baseline is not
  // given. Empty hashes: not known.
  void check_baseline(const std::string& model_hash, const std::string& data_hash) const;
  // Evaluates the gates and puts them into the document; the program's exit code follows from them. The
  // number of the document's warnings is a figure, too: warnings<=0.
  void apply(report::Document& document, std::span<const report::Measurement> measurements) const;

 private:
  std::vector<std::string> fail_under_;
  std::string baseline_;
  report::Ratchet ratchet_;
  bool any_baseline_ = false;
};

}  // namespace assay::app
