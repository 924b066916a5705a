#pragma once

// Whether records change each other's results: by a scale taken from a whole batch, by a softmax or a mean
// over it, or because the supposed batch axis is another axis.

#include <optional>
#include <string>

#include <assay/session.h>

namespace assay::inline engine {

struct RecordInfluence {
  std::string value;             // of the graph: an output, or the decision value
  std::size_t record = 0;        // the one that changes most, position among those compared
  double change = 0, scale = 0;  // the greatest, and the greatest magnitude of the value
  std::string cause;             // as far as the network tells
};

// Compares the first two records in two ways. Each together with the other and together with a copy of
// itself: the same sums in the same order. And each together with its copy and alone, up to rounding, unless
// an operator enlarges rounding to steps. Nothing if they agree, if there is one record, or if the network
// draws random numbers or does not run. Only what the operators themselves do not keep apart is run where
// that settles it (values_that_may_mix): masks and positions most often. `given`: bound records.
std::optional<RecordInfluence> find_record_influence(const Session& session, const Tensors& given);

// The same of sample records.
std::optional<RecordInfluence> find_record_influence(const Session& session);

}  // namespace assay::inline engine
