#pragma once

#include <cstdint>

namespace assay::inline engine {

// to[c * to_step + r] = from[r * from_step + c]: the matrix [rows][columns], whose rows lie `from_step`
// floats apart, with rows for columns.
void write_transposed(std::int64_t rows, std::int64_t columns, std::int64_t from_step, const float* from,
                      std::int64_t to_step, float* to);

}  // namespace assay::inline engine
