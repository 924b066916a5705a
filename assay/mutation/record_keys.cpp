#include "assay/mutation/record_keys.h"

#include "assay/data/content.h"

namespace assay::mutation {

RecordKey RecordKeys::next(const Batch& batch, std::size_t row) {
  const Hash128 content = content_of(batch, row);
  return {content, seen_[content]++};
}

}  // namespace assay::mutation
