#pragma once

// --fail-under, --no-worse-than: conditions on what a command measured (docs/gates.md).

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/frame/command.h"
#include "assay/report/conditions.h"

namespace assay::frame {

// What these do is told in assay/report/conditions.h.
class GateOptions {
 public:
  void declare(Flags& flags);
  void check(const std::vector<std::string>& measured = {}) const;
  void check(std::span<const report::Measurement> measured) const { report::check(conditions_, measured); }
  // Where there are no figures that a gate could be on but the number of warnings. Throws Error{usage}.
  void check_no_figures(std::string_view why) const;
  void check_baseline(const std::string& model_hash, const std::string& data_hash) const {
    report::check_baseline(conditions_, model_hash, data_hash);
  }
  void check_baseline_records(const std::string& records_hash, bool by_data_set) const {
    report::check_baseline_records(conditions_, records_hash, by_data_set);
  }
  void check_baseline_profile(const std::string& training_hash, const std::string& settings) const {
    report::check_baseline_profile(conditions_, training_hash, settings);
  }
  void apply(report::Document& document, std::span<const report::Measurement> measurements) const {
    report::apply(conditions_, document, measurements);
  }

 private:
  report::Conditions conditions_;
};

}  // namespace assay::frame
