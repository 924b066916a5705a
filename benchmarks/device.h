#pragma once

// Where a benchmark runs its networks: "--device NAME" anywhere among its arguments.

#include <ATen/ATen.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace assay::bench {

// Takes it out of the arguments; "cpu" where it is not among them.
inline std::string take_device(int& argc, char** argv) {
  char** const found =
      std::find_if(argv, argv + argc, [](const char* word) { return std::string_view(word) == "--device"; });
  if (argv + argc - found < 2) return "cpu";
  std::string name = found[1];
  std::copy(found + 2, argv + argc, found);
  argc -= 2;
  return name;
}

// A device computes while the program goes on: a time is taken when the last result is there.
inline void wait_for(const at::Tensor& result) {
  if (!result.device().is_cpu()) result.flatten().slice(0, 0, 1).cpu();
}

}  // namespace assay::bench
