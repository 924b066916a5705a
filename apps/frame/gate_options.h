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
  // Throws Error{usage} for flags about an earlier result where none is named.
  const report::Conditions& conditions() const;
  void check(const std::vector<std::string>& measured = {}) const;
  void check_baseline(const std::string& model_hash, const std::string& data_hash) const {
    report::check_baseline(conditions_, model_hash, data_hash);
  }
  void check_baseline_records(const std::string& records_hash, bool by_data_set) const {
    report::check_baseline_records(conditions_, records_hash, by_data_set);
  }
  void apply(report::Document& document, std::span<const report::Measurement> measurements) const {
    report::apply(conditions_, document, measurements);
  }

 private:
  report::Conditions conditions_;
};

}  // namespace assay::frame
