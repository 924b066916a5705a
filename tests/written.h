#pragma once

// Arrays in the messages of tests.

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include <assay/array_math.h>

namespace assay {

// "float32 [2, 3]: 1 2 3 4 5 6", of the first elements where there are many.
inline std::string written(const Array& array) {
  if (!array.defined()) return "undefined";
  std::string text = to_string(array.dtype()) + " " + to_string(array.shape()) + ":";
  const Array numbers = array.detach().to(DType::float64).contiguous();
  constexpr std::int64_t most = 100;
  for (std::int64_t i = 0; i < std::min(most, numbers.count()); ++i)
    text += fmt::format(" {:.6g}", numbers.as<double>()[static_cast<std::size_t>(i)]);
  return numbers.count() > most ? text + " ..." : text;
}

}  // namespace assay
