#pragma once

// Beginnings of shell scripts in which the program has the room and the time of a small machine.

#include <fmt/format.h>

#include <string>

namespace assay {

#if defined(__SANITIZE_ADDRESS__)
// The sanitizer maps more than there is, and takes its time.
inline std::string little_memory(int) { return ""; }
inline constexpr const char* little_time = "";
#else
// An address space of so many GiB, of which the libraries alone take two.
inline std::string little_memory(int gibibytes) {
  return fmt::format("ulimit -v {}; ", gibibytes * (1 << 20));
}
inline constexpr const char* little_time = "ulimit -t 60; ";  // of the processor, not by the clock
#endif

}  // namespace assay
