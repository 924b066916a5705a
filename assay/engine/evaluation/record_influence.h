#pragma once

// Whether records change each other's results: under a scale taken from a whole batch, a softmax or a mean
// over it, or where what is taken for the axis of records is none.

#include <optional>
#include <string>

#include <assay/session.h>

namespace assay {

struct RecordInfluence {
  std::string value;             // of the graph: an output, or the decision value
  std::size_t record = 0;        // the one that changes most, position among those compared
  std::size_t compared = 0;      // records
  double change = 0, scale = 0;  // the greatest, and the greatest magnitude of the value
  std::string cause;             // as far as the network tells
};

// Compares each of the first three records together with the others with the same record together with copies
// of itself, in batches of one size, so that the same sums are taken in the same order, and with the record
// alone, up to rounding, where no operator enlarges that to steps. Nothing where they agree, where there is
// one record, and where the network draws random numbers or does not run. Nothing is run where the operators
// themselves keep records apart (records_stay_apart). `given`: bound records.
std::optional<RecordInfluence> find_record_influence(const Session& session, const Tensors& given);

// The same of sample records.
std::optional<RecordInfluence> find_record_influence(const Session& session);

}  // namespace assay
