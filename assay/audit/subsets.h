#pragma once

// Subsets of the records, drawn by each sampler in each size.

#include <cstdint>
#include <string>
#include <vector>

#include <assay/audit.h>

namespace assay::audit {

// Subsets that are compared with one another: of one kind and size.
struct Stratum {
  std::string sampler;
  std::size_t size = 0;
  std::vector<std::vector<std::uint32_t>> subsets;  // records, ascending
};

// Every subset comes from a separate stream, so that more of them leave the first ones as they are. REQUIRES
// sizes of 1 to the number of records. Throws Error{usage} for samplers that the pool cannot be drawn from.
std::vector<Stratum> draw_strata(const Pool& pool, const AuditOptions& options);

}  // namespace assay::audit
