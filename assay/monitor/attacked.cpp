// What a monitor says of records that attacks and corruptions change.

#include <assay/attack.h>
#include <assay/evaluate.h>
#include <assay/monitor.h>
#include "assay/attack/attempt.h"
#include "assay/attack/preparation.h"
#include "assay/monitor/score_graph.h"

namespace assay::monitor {

std::vector<double> scores_of_attacked(const Session& session, const Session& monitor,
                                       const DatasetPtr& dataset, const std::string& spec, std::size_t batch,
                                       std::uint64_t seed, Progress& progress) {
  const Spec parsed = parse_spec("attack", spec);
  const auto attack = attack::make_attack(parsed);
  const attack::Preparation preparation(session, *dataset, {.seed = seed});
  const ValueId score = *monitor.graph().find_value(score_name);
  std::vector<double> found;
  walk(session, dataset, {.batch = batch == 0 ? attack::attack_batch(session) : batch, .stage = spec},
       progress, [&](const Batch& read, const Tensors&) {
         const array::Recording unrecorded(false);
         const attack::AttackProblem all = preparation.problem(read);
         const std::vector<std::int64_t> rows = preparation.attackable(read, all, /*right=*/true);
         if (rows.empty()) return;
         const auto [chosen, points] =
             attack::attempt(*attack, parsed.name, preparation.network(), all, rows);
         const Batch changed = preparation.read_back(read, rows, chosen, points, /*levels=*/false);
         const Array values = monitor.run(monitor.bind(changed), std::span(&score, 1))
                                  .at(score)
                                  .to(DType::float64)
                                  .contiguous();
         found.insert(found.end(), values.as<double>().begin(), values.as<double>().end());
       });
  return found;
}

}  // namespace assay::monitor
