#include "assay/support/machine.h"

#include <sys/utsname.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>

namespace assay::inline support {

std::string utc_now() {
  const std::time_t time = std::chrono::system_clock::to_time_t(
      std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()));
  std::tm parts{};
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", ::gmtime_r(&time, &parts));
  return text;
}

std::string processor_name() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("model name")) return line.substr(std::min(line.find(": ") + 2, line.size()));
  }
  return "not known";
}

std::string operating_system() {
  utsname kernel{};
  if (::uname(&kernel) != 0) return "not known";
  const std::string system = std::string(kernel.sysname) + " " + kernel.release + ", " + kernel.machine;
  std::ifstream in("/etc/os-release");
  constexpr std::string_view key = "PRETTY_NAME=";
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    std::erase(line, '"');
    return line.substr(key.size()) + ", " + system;
  }
  return system;
}

}  // namespace assay::inline support
