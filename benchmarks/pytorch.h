#pragma once

// PyTorch as a user of it would have it: scripts beside this file, run in a process of their own by the
// Python that ASSAY_PEERS names (side_by_side.sh sets it; default: /usr/bin/python3).

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

namespace assay::bench {

// The numbers that a script prints. Throws std::runtime_error naming the command where it prints others or
// fails.
inline std::vector<double> pytorch(const std::string& script, const std::string& arguments,
                                   std::size_t threads, std::size_t numbers) {
  const std::string here(__FILE__);
  const char* const peers = std::getenv("ASSAY_PEERS");
  const std::string command =
      fmt::format("OMP_NUM_THREADS={} '{}' {}/{} {}", threads, peers != nullptr ? peers : "/usr/bin/python3",
                  here.substr(0, here.rfind('/')), script, arguments);
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot start python3");
  std::vector<double> found;
  for (double number = 0; std::fscanf(pipe, "%lf", &number) == 1;) found.push_back(number);
  if (pclose(pipe) != 0 || found.size() != numbers) throw std::runtime_error("PyTorch failed: " + command);
  return found;
}

}  // namespace assay::bench
