#pragma once

// Where class 1 begins, for networks with one score a record. The score is shifted: what then decides,
// explains, attacks and trains is the network whose last layer has another bias.

#include <string>

#include <assay/adapt.h>
#include <assay/session.h>

namespace assay::inline engine {

struct Threshold {
  double value = 0.5;     // class 1 is above it: of its probability, the sigmoid of a score that is none
  bool of_score = false;  // ... or of the network's own number, whichever it is
  std::string describe() const;  // "the probability 0.3"
};

// The network that says 1 where the one of the session is above the threshold, with a notice that says so;
// `form` then also undoes that. Throws Error{usage} for networks without exactly one score a record and for a
// threshold that no score reaches, Error{unsupported} for probabilities that are not those of one score.
Graph with_threshold(const Session& session, const Threshold& threshold, FileForm& form);

}  // namespace assay::inline engine
