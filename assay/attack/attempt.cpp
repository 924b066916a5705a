#include "assay/attack/attempt.h"

#include <assay/array_math.h>
#include <fmt/format.h>

#include <algorithm>

#include "assay/attack/given_tensor.h"
#include "assay/engine/elements.h"

namespace assay::attack {
namespace {

// The result of any attack, within the valid range.
Array in_range(const Array& points) {
  Array result = points.to(DType::float32).clone();
  for (std::int64_t i = 0; i < result.count(); ++i) {
    float& unit = result.elements<float>()[i];
    unit = std::clamp(unit, 0.0F, 1.0F);
  }
  return result;
}

// A record for which the attack gives numbers that are none stays as it is: it ends no other's search.
Array with_numbers(const Array& points, const AttackProblem& problem) {
  if (!points.defined() || points.shape() != problem.inputs.shape() || !has_nan(points)) return points;
  const Array broken = points.flatten(1).isnan().any(1);
  for (const std::int64_t row : numbers(positions(broken))) problem.end(row, "the attack gives a NaN");
  return array::where(per_record(broken, points), problem.inputs, points);
}

}  // namespace

Attempt attempt(const Attack& attack, const std::string& name, const AttackedNetwork& network,
                const AttackProblem& all, const std::vector<std::int64_t>& rows) {
  const Array chosen = array::tensor(rows);
  Attempt made{.problem = all.at(chosen), .points = {}};
  // A separate problem: if the attack writes into it, the records stay as they are.
  const Array found = with_numbers(attack.perturb(network, all.at(chosen)), made.problem);
  made.points = in_range(given_tensor(fmt::format("attack {}: perturb()", name), found, made.problem.inputs));
  return made;
}

std::string_view ending_of(const AttackLog& log, std::size_t place) {
  return log.backward[place] > 0 && log.sloping[place] == 0 ? no_gradient : log.ending[place];
}

std::size_t attack_batch(const Session& session) {
  // What is noted, shown and shared among ranks at a time. A long attack loses what was done on a batch when
  // it is killed, which is worth more than the quarter of the time that larger ones would spare cw and jsma,
  // whose searches end at different times.
  constexpr std::size_t large_batch = 128;
  return std::min(large_batch, session.preferred_batch(/*keeps_values=*/true));
}

}  // namespace assay::attack
