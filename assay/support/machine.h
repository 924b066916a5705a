#pragma once

// The machine and time of a run.

#include <string>

namespace assay {

// "2026-01-02T03:04:05Z".
std::string utc_now();

// The system's name of it; "not known" if there is none.
std::string processor_name();

}  // namespace assay
