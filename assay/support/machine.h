#pragma once

// The machine and time of a run.

#include <string>

namespace assay::inline support {

// "2026-01-02T03:04:05Z".
std::string utc_now();

// The system's name of it; "not known" if there is none.
std::string processor_name();

// "Debian GNU/Linux 12 (bookworm), Linux 6.1.0-13-amd64, x86_64".
std::string operating_system();

}  // namespace assay::inline support
