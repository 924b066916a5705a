#include "assay/workbench/query/planned_members.h"

#include <assay/error.h>

namespace assay::workbench {

Collector::Collector(Database& database)
    : find_unit_(database,
                 "SELECT layer, gate, layer_index, unit, m.rowid FROM (SELECT * FROM units UNION ALL SELECT "
                 "* FROM gate_units) u JOIN models m ON m.mid = u.mid WHERE u.mid = ?1 AND uid = ?2"),
      find_hypothesis_(database, "SELECT rowid FROM hypotheses WHERE h = ?1") {}

const Collector::UnitKey& Collector::unit(const std::string& model, const std::string& uid) {
  const auto known = units_.find({model, uid});
  if (known != units_.end()) return known->second;
  find_unit_.bind({model, uid});
  if (!find_unit_.step())
    fail(Fault::usage,
         "query: model '{}' has no unit '{}'; take units from the relations units or gate_units", model, uid);
  const PlannedUnit found{
      model, uid, find_unit_.text(0), find_unit_.text(1), find_unit_.integer(2), find_unit_.integer(3)};
  const UnitKey key{find_unit_.integer(4), found.layer_index, found.gate, found.unit};
  planned_.emplace(key, found);
  return units_.emplace(std::pair{model, uid}, key).first->second;
}

const Collector::HypothesisKey& Collector::hypothesis(const std::string& h) {
  const auto known = hypotheses_.find(h);
  if (known != hypotheses_.end()) return known->second;
  find_hypothesis_.bind({h});
  if (!find_hypothesis_.step())
    fail(Fault::usage, "query: no hypothesis is called '{}'; take them from the relation hypotheses", h);
  return hypotheses_.emplace(h, HypothesisKey{find_hypothesis_.integer(0), h}).first->second;
}

std::map<Collector::UnitKey, std::size_t> Collector::number_units(Plan& plan) const {
  std::map<UnitKey, std::size_t> positions;
  for (const auto& [key, unit] : planned_) {
    positions.emplace(key, plan.units.size());
    plan.units.push_back(unit);
  }
  return positions;
}

std::map<Collector::HypothesisKey, std::size_t> Collector::number_hypotheses(Plan& plan) const {
  std::map<HypothesisKey, std::size_t> positions;
  for (const auto& [h, key] : hypotheses_) positions.emplace(key, 0);
  for (auto& [key, position] : positions) {
    position = plan.hypotheses.size();
    plan.hypotheses.push_back(key.second);
  }
  return positions;
}

}  // namespace assay::workbench
