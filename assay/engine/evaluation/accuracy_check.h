#pragma once

// The likely cause of an unexpected accuracy: another preparation of the records, or another numbering of the
// classes.

#include <optional>
#include <string>
#include <vector>

#include <assay/evaluate.h>

namespace assay::inline engine {

struct LikelyCause {
  std::string remedy = {};
  bool of_labels = false;    // the classes are numbered otherwise
  double now = 0, then = 0;  // accuracies on the sample, as it is and after the remedy
  std::size_t records = 0;   // of the sample
};

// Of a sample of at most `most` records: the usual mistakes are tried, and the one is named that at least
// halves the distance to the expected accuracy. If a greatest accuracy was declared, the accuracy has to lie
// between the bounds, within the uncertainty of the sample.
std::optional<LikelyCause> likely_cause(const Session& session, const Dataset& dataset,
                                        const AccuracyBounds& bounds, std::size_t most);

// Of inputs from 0 to 255: whether the network does as well on a sample divided by 255, as a network for
// inputs from 0 to 1 does. `now` and `then` are accuracies, or without labels 1 and the share of unchanged
// decisions.
std::optional<LikelyCause> divided_by_255(const Session& session, const Dataset& dataset, std::size_t most);

// The class of the network for each class of the labels that agrees on the most records;
// counts[label][predicted]. O(classes^3).
std::vector<std::size_t> best_renumbering(const std::vector<std::vector<double>>& counts);

}  // namespace assay::inline engine
