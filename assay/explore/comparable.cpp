#include "assay/explore/comparable.h"

#include <algorithm>
#include <cmath>

#include <assay/error.h>
#include <assay/extend/task.h>
#include "assay/engine/elements.h"

namespace assay::explore {

const std::vector<ExploredNetwork>& comparable(const std::vector<ExploredNetwork>& networks,
                                               const ExploreOptions& options) {
  if (networks.size() < 2)
    fail(Fault::usage,
         "differences need at least two networks; give another file, or mutants of the one ({})",
         About{"int8, say", "{mutant=int8}"});
  if (options.round == 0 || options.search.width == 0)
    fail(Fault::usage,
         "a round has at least one seed, and at least one search is under way at a time; the round "
         "is {}, the width {}",
         options.round, options.search.width);
  if (options.search.target && *options.search.target >= networks.size()) {
    fail(Fault::usage, "there is no network {}; they count from 0 to {}", *options.search.target,
         networks.size() - 1);
  }
  return networks;
}

void require_same_task(const ExploredNetwork& first, const ExploredNetwork& network, const Dataset& seeds,
                       const ExploreOptions& options) {
  const auto numbers = [](const ExploredNetwork& of) {
    return element_count(of.session->shape(of.session->logits()));
  };
  const auto classes = [&](const ExploredNetwork& of) { return std::max<std::int64_t>(2, numbers(of)); };
  const std::int64_t targets = seeds.target_width();
  const bool items = options.search.disagreement.task != nullptr;
  if (targets > 0 && !items && numbers(network) != targets)
    fail(Fault::mismatch, "network '{}' gives {} numbers a record, but the data have {} targets",
         network.name, numbers(network), targets);
  if ((targets == 0 || items) && classes(network) != classes(first))
    fail(Fault::mismatch,
         "network '{}' gives {} numbers a record, '{}' {}; only networks for the same task can be compared "
         "(networks of regression are with targets= of the data)",
         first.name, numbers(first), network.name, numbers(network));
}

void require_levels_of_whole_numbers(const Constraint& constraint, const attack::InputUnits& units,
                                     const Shape& record) {
  const Array whole = constraint.integers(element_count(record));
  if (!whole.defined() || !units.low.defined()) return;
  const std::vector<bool> is_whole = truths_of(whole);
  const std::vector<double> low = doubles_of(units.low), span = doubles_of(units.span);
  const auto fraction = [](double number) { return number != std::nearbyint(number); };
  bool between = false;
  for (std::size_t i = 0; i < is_whole.size(); ++i)
    between |= is_whole[i] && (fraction(low[i]) || fraction(255 / span[i]));
  if (between)
    fail(Fault::usage,
         "features that are whole numbers cannot be kept as 8-bit levels: the valid range does not divide "
         "255; "
         "store float32");
}

}  // namespace assay::explore
