#pragma once

#include <string>

namespace assay::app {

// A message of the library, which names concepts, with the flags that stand for them in this program: "use a
// smaller learning rate" as "use a smaller --learning-rate".
std::string with_flags(std::string message);

}  // namespace assay::app
