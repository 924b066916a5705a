#include "assay/coverage/possible.h"

#include <algorithm>
#include <optional>

#include <assay/error.h>
#include "assay/data/views.h"
#include "assay/support/ranks/ranks.h"

namespace assay::coverage {
namespace {

// A tenth of the records, so that little is done twice.
DatasetPtr some_of(const DatasetPtr& data) {
  constexpr std::size_t least_records = 64, most_records = 300;  // criteria want 32 that differ (scc)
  const std::size_t count =
      std::min(data->size(), std::clamp(data->size() / 10, least_records, most_records));
  std::vector<std::size_t> records(count);
  for (std::size_t i = 0; i < count; ++i) records[i] = i * data->size() / count;
  return selected(data, records);
}

struct Obstacle {
  Fault fault = Fault::usage;
  Message why;
};

// Why it does not work; nothing where it does. Faults of files are not an answer.
template <typename Attempt>
std::optional<Obstacle> obstacle(const Attempt& attempt) {
  try {
    attempt();
  } catch (const Error& error) {
    const Fault fault = error.fault();
    if (fault != Fault::usage && fault != Fault::mismatch && fault != Fault::unsupported &&
        fault != Fault::data && fault != Fault::resources)
      throw;
    return Obstacle{fault, error.message()};
  }
  return {};
}

// `all`: of the training records. What is the matter with some of them says nothing about all.
template <typename Attempt>
PossibleCriteria divided(const std::vector<Spec>& criteria, bool all, const Attempt& attempt) {
  PossibleCriteria result;
  const std::optional<Obstacle> together = obstacle([&] { attempt(criteria); });
  if (!together) {
    result.possible = criteria;
    return result;
  }
  for (const Spec& spec : criteria) {
    std::optional<Obstacle> found = obstacle([&] { attempt({spec}); });
    if (!found || (found->fault == Fault::data && !all))
      result.possible.push_back(spec);
    else
      result.impossible.emplace_back(spec, std::move(found->why));
  }
  // Memory that none of them has, or that only all together lack, is not for one of them to give.
  if (together->fault == Fault::resources && (result.possible.empty() || result.impossible.empty()))
    throw Error(Fault::resources, together->why);
  return result;
}

}  // namespace

PossibleCriteria possible_criteria(const Session& session, const DatasetPtr& training,
                                   const std::vector<Spec>& criteria, LearnOptions options) {
  const DatasetPtr some = some_of(training);
  return divided(criteria, false, [&](const std::vector<Spec>& wanted) {
    Ranks alone;  // a few records are not worth sharing
    const RanksScope scope(alone);
    options.criteria = choices_of<CriterionInfo>(wanted);
    auto profile = std::make_shared<const Profile>(learn_profile(session, some, options, silence()).profile);
    CoverageState state(std::move(profile), options.criteria, false);
    MeasureOptions measuring;
    measuring.batch = options.batch;
    measuring.items = options.items;
    measure(session, state, some, measuring, silence());
    for (std::size_t c = 0; c < wanted.size(); ++c) state.result(c);
  });
}

PossibleCriteria possible_criteria(const std::shared_ptr<const Profile>& profile,
                                   const std::vector<Spec>& criteria) {
  return divided(criteria, true, [&](const std::vector<Spec>& wanted) {
    CoverageState(profile, choices_of<CriterionInfo>(wanted), false);
  });
}

}  // namespace assay::coverage
