#pragma once

// Starting points of a fuzz target. With ASSAY_FUZZ_SEEDS=FOLDER in the environment a target writes them
// there and leaves; scripts/fuzz.sh does so before each run.

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "assay/support/files/file.h"

namespace assay::fuzz {

inline void write_seeds_if_asked(const std::vector<std::string>& seeds) {
  const char* folder = std::getenv("ASSAY_FUZZ_SEEDS");
  if (folder == nullptr) return;
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    write_file(std::filesystem::path(folder) / ("seed_" + std::to_string(i)), seeds[i]);
  }
  std::exit(0);
}

}  // namespace assay::fuzz
