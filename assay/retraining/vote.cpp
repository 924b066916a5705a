#include <assay/retraining.h>

#include <algorithm>
#include <map>

#include <assay/dataset.h>
#include <assay/error.h>
#include <assay/evaluate.h>

namespace assay::retraining {

Vote majority_vote(const std::vector<std::vector<std::int64_t>>& ballots) {
  if (ballots.size() < 3)
    fail(Fault::usage, "a majority needs at least three networks, {} are given", ballots.size());
  Vote vote;
  for (std::size_t record = 0; record < ballots.front().size(); ++record) {
    std::map<std::int64_t, std::size_t> count;
    for (const auto& ballot : ballots) ++count[ballot.at(record)];
    const auto most = std::ranges::max_element(count, {}, [](const auto& entry) { return entry.second; });
    if (2 * most->second > ballots.size()) {
      vote.records.push_back(record);
      vote.labels.push_back(most->first);
    } else {
      ++vote.dropped;
    }
  }
  return vote;
}

Vote majority_vote(std::span<const Session> networks, const DatasetPtr& dataset, std::size_t batch,
                   Progress& progress) {
  std::vector<std::vector<std::int64_t>> ballots;
  for (const Session& network : networks) {
    ballots.push_back(evaluate(network, dataset, {.batch = batch, .stage = "voting"}, progress).predictions);
    if (ballots.back().size() != dataset->size())
      fail(Fault::mismatch, "{}: only classifiers can vote", network.graph().name());
  }
  return majority_vote(ballots);
}

}  // namespace assay::retraining
