#include "apps/assay/retraining_tables.h"

#include <fmt/format.h>

#include <cmath>

namespace assay::app {
namespace {

using Kind = Column::Kind;

Cell optional(const std::optional<double>& value) { return value ? Cell(*value) : Cell(); }

// In units for people. Differences of equal scores are nothing, not a rounding error.
Cell difference_cell(const std::optional<double>& value, double unit) {
  constexpr double finest = 1e-10;
  return value ? Cell(std::round(unit * *value / finest) * finest) : Cell();
}

Column score_column(const Retraining& retraining, std::string id, std::string title) {
  return retraining.higher_is_better ? Column{std::move(id), std::move(title), Kind::percent} : Column{std::move(id), std::move(title), Kind::number, 5};
}

}  // namespace

Table retraining_table(const RetrainingPlan& plan, const Retraining& retraining, const std::vector<ConditionScore>& scores) {
  const auto column = [&](const char* id, const char* title) { return score_column(retraining, id, title); };
  Table table{"retraining", retraining.higher_is_better ? "Accuracy" : "Mean squared error",
              {{"set", "evaluated on"}, {"condition", "additions"}, {"repeats", "repeats", Kind::count}, column("mean", "mean"),
               column("deviation", "standard deviation"), column("low", "from"), column("high", "to (95 %)")},
              {}, false};
  for (std::size_t s = 0; s < plan.sets.size(); ++s) {
    table.rows.push_back({plan.sets[s].name, "before", Cell(), retraining.before[s], Cell(), Cell(), Cell()});
    for (const ConditionScore& row : scores) {
      if (row.set != plan.sets[s].name) continue;
      table.rows.push_back({row.set, row.condition, static_cast<std::int64_t>(row.score.count), row.score.mean, optional(row.score.deviation),
                            optional(row.score.low), optional(row.score.high)});
    }
  }
  return table;
}

Table difference_table(const Retraining& retraining, const std::vector<ConditionScore>& scores, const std::string& control, const std::string& reference) {
  const double unit = retraining.higher_is_better ? 100 : 1;
  const int decimals = retraining.higher_is_better ? 2 : 5;
  Table table{"differences", retraining.higher_is_better ? "Differences by repeat, in percentage points" : "Differences by repeat",
              {{"set", "evaluated on"}, {"condition", "additions"}, {"to", "compared with"}, {"mean", "mean", Kind::number, decimals},
               {"low", "from", Kind::number, decimals}, {"high", "to (95 %)", Kind::number, decimals}, {"finding", "finding"}},
              {}, false};
  for (const ConditionScore& row : scores) {
    for (const auto& [other, difference] : {std::pair(control, row.to_control), std::pair(reference, row.to_reference)}) {
      if (!difference) continue;
      const bool sure = difference->low && (*difference->low > 0 || *difference->high < 0);
      const bool better = (difference->mean > 0) == retraining.higher_is_better;
      table.rows.push_back({row.set, row.condition, other, difference_cell(difference->mean, unit), difference_cell(difference->low, unit), difference_cell(difference->high, unit),
                            !sure ? "not told apart" : better ? "better" : "worse"});
    }
  }
  return table;
}

Table run_table(const RetrainingPlan& plan, const Retraining& retraining) {
  Table table{"runs", "Runs", {{"repeat", "repeat", Kind::count}, {"condition", "additions"}, {"set", "evaluated on"}, score_column(retraining, "score", "score")}, {}, true};
  for (const RetrainingRun& run : retraining.runs) {
    for (std::size_t s = 0; s < plan.sets.size(); ++s) {
      table.rows.push_back({static_cast<std::int64_t>(run.repeat + 1), run.condition, plan.sets[s].name, run.scores[s]});
    }
  }
  return table;
}

std::vector<Measurement> measurements_of(const Retraining& retraining, const std::vector<ConditionScore>& scores) {
  std::vector<Measurement> measurements;
  for (const ConditionScore& row : scores) {
    Measurement m;
    m.criterion = fmt::format("retrained[condition={},set={}]", row.condition, row.set);
    m.value = row.score.mean;
    m.higher_is_better = retraining.higher_is_better;
    measurements.push_back(std::move(m));
  }
  return measurements;
}

}  // namespace assay::app
