#pragma once

// What a run happened on, and when.

#include <string>

namespace assay {

// "2026-01-02T03:04:05Z".
std::string utc_now();

// What the system calls it; "not known" where it does not say.
std::string processor_name();

}  // namespace assay
