#pragma once

// How far apart the answers of two networks are, as distributions.

#include <span>
#include <string>

#include <assay/mutation.h>

namespace assay::mutation {

// Between softmax(was) and softmax(now); of a single score between its sigmoid and the rest, or the score
// itself where it is a probability. In nats: Jensen-Shannon at most log 2, Kullback-Leibler from `was` to
// `now`. NaN where a score is not finite.
double divergence_of(Divergence::Kind kind, std::span<const float> was, std::span<const float> now,
                     bool is_probability);

// "js", "kl[floor=fp16]", "js[above=0.01]". Measures the noise floor unless a threshold is given. Throws
// Error{usage}.
Divergence divergence_from(const std::string& text, const Session& session, const DatasetPtr& dataset,
                           std::size_t batch, Progress& progress);

}  // namespace assay::mutation
