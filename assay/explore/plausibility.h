#pragma once

// Whether findings resemble the training data of the network.

#include <string>
#include <vector>

#include <assay/dataset.h>
#include <assay/profile.h>
#include <assay/progress.h>
#include <assay/session.h>

namespace assay::explore {

struct Plausibility {
  std::string measure, layer;  // "dsa" or "lsa"; of which activations
  double bound = 0;            // `share` of the seeds are at most so surprising
  double share = 0.99;
  std::size_t seeds = 0;          // of which the surprise was taken
  std::vector<double> surprise;   // per finding; NaN where it is not defined
  std::vector<bool> implausible;  // per finding: beyond the bound, or of a class without training records
  std::size_t implausible_count() const;
};

// Surprise (Kim et al., ICSE 2019) of every record of `findings` against the training traces of the profile,
// compared with that of up to `most` seeds, spread evenly. `batch`: 0: chosen by the engine. Throws
// Error{mismatch} when the profile has no traces.
Plausibility judge_plausibility(const Session& session, const coverage::Profile& profile,
                                const std::string& measure, DatasetPtr seeds, DatasetPtr findings,
                                double share, std::size_t most, std::size_t batch, Progress& progress);

}  // namespace assay::explore
