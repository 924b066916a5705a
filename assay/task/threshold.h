#pragma once

// Where class 1 begins, as a task says it.

#include <optional>
#include <string>

#include <assay/threshold.h>

namespace assay::task {

// What "binary[threshold=0.3]" requests of its network; nothing for other tasks, and without that option.
// Throws Error{usage} for options that do not fit.
std::optional<Threshold> threshold_of(const std::string& spec);

}  // namespace assay::task
