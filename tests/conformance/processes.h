#pragma once

#include <functional>

#include "cases.h"

namespace assay::conformance {

// The result of `run` in a process of its own, which may use 20 seconds of processor time and 4 GiB of
// memory. Whatever ends the process or leaves `run` as an exception is Outcome::broken. REQUIRES that this
// process has one thread.
Result in_own_process(const std::function<Result()>& run);

}  // namespace assay::conformance
