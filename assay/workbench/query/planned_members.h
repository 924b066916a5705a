#pragma once

// Numbers the units and hypotheses of an INSPECT query as they are met, then in their order.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "assay/workbench/query/plan.h"

namespace assay::workbench {

class Collector {
 public:
  using UnitKey = std::tuple<std::int64_t, std::int64_t, std::string, std::int64_t>;  // in Plan's order
  using HypothesisKey = std::pair<std::int64_t, std::string>;

  explicit Collector(Database& database);

  // Throw Error{usage} for units and hypotheses that the database does not have.
  const UnitKey& unit(const std::string& model, const std::string& uid);
  const HypothesisKey& hypothesis(const std::string& h);

  // Positions in `plan`, which is given all that was met.
  std::map<UnitKey, std::size_t> number_units(Plan& plan) const;
  std::map<HypothesisKey, std::size_t> number_hypotheses(Plan& plan) const;

 private:
  Statement find_unit_, find_hypothesis_;
  std::map<std::pair<std::string, std::string>, UnitKey> units_;
  std::map<UnitKey, PlannedUnit> planned_;
  std::map<std::string, HypothesisKey> hypotheses_;
};

// What is inspected together.
struct Members {
  Cell label;
  std::set<Collector::UnitKey> units;
  std::set<Collector::HypothesisKey> hypotheses;
  std::set<std::pair<Collector::UnitKey, Collector::HypothesisKey>> pairs;
};

}  // namespace assay::workbench
