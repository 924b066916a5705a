#include "assay/engine/evaluation/output_rows.h"

#include <vector>

#include <assay/error.h>
#include "assay/engine/elements.h"

namespace assay::inline engine {

Array rows_of_output(const Session& session, ValueId output, const Array& value, std::int64_t records) {
  const Session::RecordAxis axis = session.record_axis(output);
  if (axis.axis < 0)
    fail(Fault::unsupported, "output '{}' does not hold its records along an axis",
         session.graph().value(output).name);
  const Array rows = in_memory(axis.axis == 0 ? value : value.movedim(axis.axis, 0), DType::float32);
  if (axis.rows == 1) return rows;
  std::vector<std::int64_t> shape = rows.shape();
  shape[0] = axis.rows;
  shape.insert(shape.begin(), records);
  return rows.reshape(shape);
}

}  // namespace assay::inline engine
